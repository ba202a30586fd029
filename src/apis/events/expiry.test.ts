import { describe, expect, test } from 'vitest'
import { FakeClock } from '../../base/fake-clock.ts'
import { type EventFeed, eventTtlMs, expiredEvents, type WrittenEvent } from './expiry.ts'

function world() {
  const clock = new FakeClock()
  const revisions = new Map<string, number>()
  let tell: (event: WrittenEvent) => void = () => {}
  const feed: EventFeed = {
    subscribe(written) {
      tell = written
      return () => {
        tell = () => {}
      }
    },
    revisionOf: ({ name }) => revisions.get(name),
  }
  const expired: string[] = []
  const stop = new AbortController()
  const running = expiredEvents(feed, clock).run(({ name }) => expired.push(name), stop.signal)
  return {
    clock,
    expired,
    write(name: string, revision: number) {
      revisions.set(name, revision)
      tell({ namespace: 'ns', name, revision, writtenAtMs: clock.now() })
    },
    remove: (name: string) => revisions.delete(name),
    async end() {
      stop.abort()
      await running
    },
  }
}

describe('events', () => {
  test('are forgotten an hour after they were written, not before', async () => {
    const w = world()
    w.write('a', 1)
    await w.clock.advance(eventTtlMs - 1)
    expect(w.expired).toEqual([])
    await w.clock.advance(1)
    expect(w.expired).toEqual(['a'])
    await w.end()
  })

  test('live on when they are written again', async () => {
    const w = world()
    w.write('a', 1)
    await w.clock.advance(eventTtlMs / 2)
    w.write('a', 2)
    await w.clock.advance(eventTtlMs / 2)
    expect(w.expired).toEqual([])
    await w.clock.advance(eventTtlMs / 2)
    expect(w.expired).toEqual(['a'])
    await w.end()
  })

  test('that are gone are not asked for', async () => {
    const w = world()
    w.write('a', 1)
    w.remove('a')
    w.write('b', 2)
    await w.clock.advance(eventTtlMs)
    expect(w.expired).toEqual(['b'])
    await w.end()
  })
})
