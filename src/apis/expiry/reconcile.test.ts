import { expect, test } from 'vitest'
import { FakeClock } from '../../base/fake-clock.ts'
import type { Client, DeleteOptions } from '../../client/client.ts'
import { conflict } from '../../kube/status-error.ts'
import { namespaceResource } from '../namespaces/types.ts'
import { ExpiryClock } from './expiry-clock.ts'
import { expiryController } from './reconcile.ts'
import { expiresAtAnnotation } from './types.ts'

/** The preconditions of deletions of a namespace whose time has come; all but the last come after another write. */
async function deletions(isJudgedByServer: boolean, times: number): Promise<DeleteOptions['preconditions'][]> {
  const clock = new FakeClock()
  const asked: DeleteOptions['preconditions'][] = []
  const client = {
    async delete(_type: unknown, _ref: unknown, { preconditions }: DeleteOptions) {
      asked.push(preconditions)
      if (asked.length < times) throw conflict(namespaceResource, 'team', 'modified')
    },
  } as unknown as Client
  const annotations = { [expiresAtAnnotation]: '2020-01-01T00:00:00Z' }
  const metadata = { name: 'team', uid: 'u', resourceVersion: '7', annotations }
  const { reconciler } = expiryController({
    client,
    clock,
    expiryClock: new ExpiryClock(clock),
    events: { recordSoon() {} },
    feed: { find: () => ({ metadata }) },
    schedule: {},
    isJudgedByServer,
  } as unknown as Parameters<typeof expiryController>[0])
  const { signal } = new AbortController()
  for (let i = 0; i < times; i++) await reconciler.reconcile({ namespace: '', name: 'team' }, signal)
  return asked
}

test('a server that judges deletions itself is told no version', async () => {
  expect(await deletions(true, 2)).toEqual([{ uid: 'u' }, { uid: 'u' }])
})

test('another one is told which was judged, until five others in a row were faster', async () => {
  const judged = { uid: 'u', resourceVersion: '7' }
  expect(await deletions(false, 6)).toEqual([judged, judged, judged, judged, judged, { uid: 'u' }])
})
