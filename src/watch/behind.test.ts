import fc from 'fast-check'
import { expect, test } from 'vitest'
import { StreamOverflow } from '../base/stream.ts'
import { Turns } from '../base/turns.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import { endThoseBehind } from './behind.ts'
import { ObjectVersion } from './stored-object.ts'
import { ObjectEvent } from './watch-event.ts'
import { WatchSession } from './watch-session.ts'

const type = { group: '', version: 'v1', kind: 'ConfigMap', resource: 'configmaps' } as ResourceType
const eventOf = (sizeBytes: number, revision: number): ObjectEvent =>
  new ObjectEvent('ADDED', ObjectVersion.of(`a/${revision}`, revision, new Uint8Array(sizeBytes)).as(type))

const turns = new Turns()

function sessionOf(flow: string, events: readonly ObjectEvent[]): WatchSession {
  const session = new WatchSession({
    type,
    scope: { namespace: '', name: '' },
    bookmarks: false,
    after: 0,
    turns,
    limits: { events: 10_000, sizeBytes: 32 * 1024 * 1024 },
    signal: new AbortController().signal,
    flow,
    onQueued: () => {},
    onClose: () => {},
  })
  for (const event of events) session.tell(event, event.stored.revision)
  return session
}

test('watches that wait for the same events share them: none is ended', async () => {
  const events = Array.from({ length: 10 }, (_, i) => eventOf(100, i + 1))
  const sessions = Array.from({ length: 50 }, (_, i) => sessionOf(i % 2 ? 'ann' : 'bob', events))
  expect(await endThoseBehind(sessions, { totalBytes: 2000, flowBytes: 2000 }, turns)).toEqual([])
})

test('of a flow that has too much the watches that are furthest behind are ended, and told so', async () => {
  const behind = sessionOf('eve', [eventOf(900, 1), eventOf(900, 2)])
  const little = sessionOf('eve', [eventOf(100, 3)])
  const other = sessionOf('ann', [eventOf(900, 4)])
  expect(await endThoseBehind([behind, little, other], { totalBytes: 10_000, flowBytes: 2000 }, turns)).toEqual(['eve'])
  expect([behind.closed, little.closed, other.closed]).toEqual([true, false, false])
  await expect(behind[Symbol.asyncIterator]().next()).rejects.toEqual(new StreamOverflow(2))
})

test('of all flows the largest gives way, also where another has the watch that is furthest behind', async () => {
  const many = Array.from({ length: 4 }, (_, i) => sessionOf('eve', [eventOf(400, i + 1)]))
  const one = sessionOf('ann', [eventOf(700, 9)])
  expect(await endThoseBehind([one, ...many], { totalBytes: 3800, flowBytes: 3800 }, turns)).toEqual(['eve'])
  expect([one, ...many].map(({ closed }) => closed)).toEqual([false, false, false, false, true])
})

test('what a consumer has taken and not yet written counts as well', async () => {
  const session = sessionOf('eve', [eventOf(900, 1)])
  const events = session[Symbol.asyncIterator]()
  await events.next()
  expect(session.pendingBytes).toBe(900)
  expect(await endThoseBehind([session], { totalBytes: 1000, flowBytes: 1000 }, turns)).toEqual(['eve'])
  await expect(events.next()).rejects.toEqual(new StreamOverflow(1))
  expect(session.pendingBytes).toBe(0)
})

test('thousands that wait are looked at in slices, and who leaves meanwhile leaves room', async () => {
  let nowMs = 0
  let soon: (() => void)[] = []
  const slow = new Turns({ now: () => nowMs++, soon: (run) => soon.push(run) })
  const sessions = Array.from({ length: 20 }, (_, i) => sessionOf('eve', [eventOf(900, i + 1)]))
  const looking = endThoseBehind(sessions, { totalBytes: 100_000, flowBytes: 19 * 2 * 900 }, slow)
  sessions[10]?.close()
  let slices = 1
  for (; soon.length > 0; slices++) {
    const due = soon
    soon = []
    for (const run of due) run()
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(await looking).toEqual([])
  expect(slices).toBeGreaterThan(10)
})

test('whatever waits for whom, what is left is within both bounds, and who is within them alone is left', async () => {
  const limits = { totalBytes: 4000, flowBytes: 2000 }
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ flow: fc.constantFrom('a', 'b', 'c'), waits: fc.array(fc.nat(9), { maxLength: 5 }) })),
      async (given) => {
        const events = Array.from({ length: 10 }, (_, i) => eventOf(50 * (i + 1), i + 1))
        const sessions = given.map(({ flow, waits }) =>
          sessionOf(
            flow,
            [...new Set(waits)].map((i) => events[i] as ObjectEvent),
          ),
        )
        const before = sessions.map((session) => session.pending.flat())
        const ended = await endThoseBehind(sessions, limits, turns)
        expect(sessions.filter(({ closed }) => closed)).toHaveLength(ended.length)
        const kept = sessions.flatMap((session, i) =>
          session.closed ? [] : [{ flow: session.flow, events: before[i] }],
        )
        const sum = (of: readonly { events: readonly unknown[] | undefined }[]): number =>
          [...new Set(of.flatMap((each) => each.events ?? []))].reduce<number>(
            (bytes, event) => bytes + 2 * (event as ObjectEvent).stored.storedBytes.length,
            0,
          )
        expect(sum(kept)).toBeLessThanOrEqual(limits.totalBytes)
        for (const flow of ['a', 'b', 'c']) {
          expect(sum(kept.filter((each) => each.flow === flow))).toBeLessThanOrEqual(limits.flowBytes)
        }
        if (sessions.length > 0 && sum([{ events: before.flat() }]) <= limits.flowBytes) expect(ended).toEqual([])
      },
    ),
  )
})
