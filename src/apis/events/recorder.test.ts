/** How often a controller's events are written. */
import { expect, test } from 'vitest'
import { FakeClock } from '../../base/fake-clock.ts'
import type { Client } from '../../client/client.ts'
import { type EventRecord, EventRecorder } from './recorder.ts'

const failed: EventRecord = {
  object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n', uid: 'u' } },
  ...{ namespace: 'n', type: 'Warning', reason: 'Failed', message: 'it failed' },
}

function world() {
  const clock = new FakeClock()
  const writes: unknown[] = []
  let isGone = false
  const client = {
    create: async (_: unknown, event: { readonly metadata: { readonly name: string } }) => {
      writes.push('created')
      return event
    },
    patch: async (_: unknown, __: unknown, patch: { readonly count: number }) => {
      if (isGone) throw new Error('gone')
      writes.push(patch.count)
    },
  } as unknown as Client
  const log = { debug: () => {}, warn: () => {} } as never
  const ids = { uid: () => '0123456789abcdef0' } as never
  const recorder = new EventRecorder({ client, clock, ids, log, component: 'c' })
  const pass = (ms: number): Promise<void> => clock.advance(ms)
  return { recorder, writes, pass, go: () => (isGone = true) }
}

test('what happens a thousand times in a moment is written twice, with its whole count', async () => {
  const { recorder, writes, pass } = world()
  for (let i = 0; i < 1000; i++) await recorder.record(failed)
  expect(writes).toEqual(['created'])
  await pass(10_000)
  expect(writes).toEqual(['created', 1000])
  await pass(60_000)
  expect(writes).toEqual(['created', 1000])
})

test('what happens now and then is counted up at once', async () => {
  const { recorder, writes, pass } = world()
  for (let i = 0; i < 3; i++) {
    await recorder.record(failed)
    await pass(11_000)
  }
  expect(writes).toEqual(['created', 2, 3])
})

test('an event whose count could not be written is said anew', async () => {
  const { recorder, writes, pass, go } = world()
  await recorder.record(failed)
  await recorder.record(failed)
  go()
  await pass(10_000)
  expect(writes).toEqual(['created'])
  await recorder.record(failed)
  expect(writes).toEqual(['created', 'created'])
})

const messages = Array.from({ length: 40 }, (_, i) => `it failed in another way: ${i}`)

test('of what happens each time in other words, a burst is written, and then one in five minutes', async () => {
  const { recorder, writes, pass } = world()
  for (const message of messages) await recorder.record({ ...failed, message })
  expect(writes).toHaveLength(25)
  await pass(299_999)
  await recorder.record({ ...failed, message: 'later' })
  expect(writes).toHaveLength(25)
  await pass(1)
  for (const message of messages) await recorder.record({ ...failed, message: `${message} again` })
  expect(writes).toHaveLength(26)
})

test('what is told of one object does not keep others from being told of', async () => {
  const { recorder, writes } = world()
  for (const message of messages) await recorder.record({ ...failed, message, because: 'a' })
  await recorder.record({ ...failed, message: 'of b', because: 'b' })
  const object = { ...failed.object, metadata: { name: 'm', uid: 'v' } }
  await recorder.record({ ...failed, object })
  await recorder.record({ ...failed, namespace: 'm' })
  expect(writes).toHaveLength(28)
})

test('what may not be counted up now is counted up when it may, with its whole count', async () => {
  const { recorder, writes, pass } = world()
  for (const message of messages) await recorder.record({ ...failed, message })
  for (let i = 0; i < 7; i++) {
    await pass(20_000)
    await recorder.record({ ...failed, message: messages[0] as string })
  }
  expect(writes).toHaveLength(25)
  await pass(300_000)
  expect(writes.slice(25)).toEqual([8])
})

test('who is not told of any more is forgotten, with what was spent', async () => {
  const { recorder, writes } = world()
  for (const message of messages) await recorder.record({ ...failed, message })
  for (let i = 0; i < 4096; i++) await recorder.record({ ...failed, message: `${i}`, because: `${i}` })
  const before = writes.length
  for (const message of messages) await recorder.record({ ...failed, message: `${message} again` })
  expect(writes.length - before).toBe(25)
})
