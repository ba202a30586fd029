import { expect, it } from 'vitest'
import { FakeClock } from '../../base/fake-clock.ts'
import type { Client } from '../../client/client.ts'
import { namespaceReconciler } from './reconcile.ts'
import type { Namespace } from './types.ts'

const pods = { group: '', version: 'v1', resource: 'pods' }

it('failures with other words each time are told once in ten seconds: being told would try them again', async () => {
  const clock = new FakeClock(0)
  let tries = 0
  let writes = 0
  let namespace: Namespace = {
    metadata: { name: 'a', uid: 'u', deletionTimestamp: '2026-01-01T00:00:00Z' },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Terminating' },
  } as Namespace
  const client = {
    get: () => Promise.resolve(namespace),
    deleteCollection: () => Promise.reject(new Error(`request ${++tries} failed`)),
    update: (_: unknown, next: Namespace) => {
      writes++
      namespace = next
      return Promise.resolve(next)
    },
  } as unknown as Client
  const content = {
    of: () => [{ resource: pods, count: 1 }],
    remaining: () => ({ named: [], finalizers: new Map<string, number>() }),
    onChange: () => () => {},
    refresh: () => Promise.resolve(),
  }
  const reconciler = namespaceReconciler({ client, content, clock })
  const turn = () => reconciler.reconcile({ namespace: '', name: 'a' }, new AbortController().signal)
  const told = () =>
    namespace.status?.conditions?.find(({ type }) => type === 'NamespaceDeletionContentFailure')?.message

  for (let i = 0; i < 3; i++) await expect(turn()).rejects.toThrow(`request ${i + 1} failed`)
  expect([writes, told()]).toEqual([1, expect.stringContaining('request 1 failed')])

  await clock.advance(10_000)
  await expect(turn()).rejects.toThrow('request 4 failed')
  expect([writes, told()]).toEqual([2, expect.stringContaining('request 4 failed')])
})
