/** Epochs in the store, and recounts that their process has left. */
import { expect, test } from 'vitest'
import type { DecisionView } from '../../admission/admission.ts'
import { FakeClock } from '../../base/fake-clock.ts'
import { silentLog } from '../../base/log.ts'
import { loadCatalog } from '../../catalog/catalog.ts'
import { requiredType } from '../../kube/resource-type.ts'
import type { KubeObject } from '../../kube/types.ts'
import { StoredEpochs } from './stored-epochs.ts'

const like = requiredType(loadCatalog().types, { group: '', version: 'v1', resource: 'resourcequotas' })

class World {
  readonly clock = new FakeClock()
  stored: KubeObject | undefined
  /** Revisions that a write expected. */
  readonly committed: unknown[] = []
  readonly epochs = new StoredEpochs(
    {
      clock: this.clock,
      log: silentLog,
      records: {
        commit: ({ writes }: { writes: { expect: unknown }[] }) => {
          this.committed.push(...writes.map(({ expect: expected }) => expected))
          return { done: Promise.resolve({ ok: true, revision: 8 }) }
        },
      },
      stored: {
        find: () => this.stored && { revision: 7, as: () => ({ object: this.stored }) },
        followOne: () => () => {},
        applied: async () => {},
      },
    } as never,
    like,
  )
}

test.each<{ name: string; object: KubeObject | undefined; exists: boolean; recounting: boolean }>([
  { name: 'none', object: undefined, exists: false, recounting: false },
  { name: 'one that is settled', object: { metadata: { name: 'a' } }, exists: true, recounting: false },
  {
    name: 'one of a recount',
    object: { metadata: { name: 'a' }, recounting: true } as KubeObject,
    exists: true,
    recounting: true,
  },
])('of a namespace is seen: $name', ({ object, exists, recounting }) => {
  const view = { see: () => ({ key: 'k', expect: 7, object }) } as unknown as DecisionView
  expect(new World().epochs.see(view, 'a')).toEqual({ guard: { key: 'k', expect: 7 }, exists, recounting })
})

test.each<{ name: string; stored: KubeObject | undefined; committed: readonly number[] }>([
  { name: 'is ended', stored: { metadata: { name: 'a' }, recounting: true } as KubeObject, committed: [7] },
  { name: 'that is settled is left alone', stored: { metadata: { name: 'a' } }, committed: [] },
  { name: 'that has gone is left alone', stored: undefined, committed: [] },
])('who waits goes on after five seconds: a recount $name', async ({ stored, committed }) => {
  const world = new World()
  world.stored = stored
  let isReleased = false
  const released = world.epochs.released('a').then(() => (isReleased = true))
  await world.clock.advance(4999)
  expect(isReleased).toBe(false)
  await world.clock.advance(1)
  await released
  expect(world.committed).toEqual(committed)
})
