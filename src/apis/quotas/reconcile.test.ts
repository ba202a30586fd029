/** What a client writes into the status of a quota, where what is enforced is shown. */
import { describe, expect, test } from 'vitest'
import type { Client } from '../../client/client.ts'
import { conflict, notFound } from '../../kube/status-error.ts'
import { quotaReconciler, showsWhatHolds } from './reconcile.ts'
import { quotaResource, type ResourceQuota } from './types.ts'

const key = { namespace: 'team', name: 'q' }
const { signal } = new AbortController()
const quota = (more: Partial<ResourceQuota>): ResourceQuota => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { ...key, resourceVersion: '7' },
  ...more,
})

/** What is written, of a quota that is read like this. */
async function written(read: () => ResourceQuota, write: () => void = () => {}): Promise<unknown[]> {
  const writes: unknown[] = []
  const client = {
    get: async () => read(),
    update: async (...given: unknown[]) => {
      writes.push(given)
      write()
    },
  } as unknown as Client
  expect(await quotaReconciler(client).reconcile(key, signal)).toBeUndefined()
  return writes
}

const fail = (error: Error) => (): never => {
  throw error
}

describe('a status', () => {
  test('that shows another limit is put back, and what it says of use stays', async () => {
    const read = quota({ spec: { hard: { pods: '1' } }, status: { hard: { pods: '9' }, used: { pods: '1' } } })
    const status = { hard: { pods: '1' }, used: { pods: '1' } }
    expect(await written(() => read)).toEqual([[quotaResource, { ...read, status }, { subresource: 'status', signal }]])
  })

  test('that shows limits of a quota without any is emptied', async () => {
    const read = quota({ status: { hard: { pods: '9' } } })
    expect(await written(() => read)).toMatchObject([[quotaResource, { status: { hard: {} } }, {}]])
  })

  test('that shows what holds is left as it is', async () => {
    expect(await written(() => quota({ spec: { hard: { pods: '1' } }, status: { hard: { pods: '1' } } }))).toEqual([])
  })

  test.each<[Partial<ResourceQuota>, boolean]>([
    [{}, true],
    [{ spec: {} }, true],
    [{ status: {} }, true],
    [{ spec: { hard: { pods: '1' } } }, false],
    [{ status: { hard: { pods: '1' } } }, false],
  ])('of %j shows what holds: %s', (more, isSo) => {
    expect(showsWhatHolds(quota(more))).toBe(isSo)
  })
})

test('a quota that is gone is nobody’s fault', async () => {
  expect(await written(fail(notFound(quotaResource, 'q')))).toEqual([])
})

test('nor is a change that came between: it brings the key back', async () => {
  const read = quota({ spec: { hard: { pods: '1' } } })
  expect(await written(() => read, fail(conflict(quotaResource, 'q', 'changed')))).toHaveLength(1)
})

test('any other failure is tried again', async () => {
  await expect(written(fail(new Error('the store is full')))).rejects.toThrow('the store is full')
})
