import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FakeClock } from '../base/fake-clock.ts'
import { WorkQueue } from './queue.ts'

describe('the work queue', () => {
  test('hands out a key added many times once', async () => {
    const queue = new WorkQueue<string>(new FakeClock())
    for (let i = 0; i < 10; i++) queue.add('a')
    expect(await queue.take()).toBe('a')
    expect(queue.size).toBe(0)
  })

  test('brings a key round again when it was added while being worked on', async () => {
    const queue = new WorkQueue<string>(new FakeClock())
    queue.add('a')
    await queue.take()
    queue.add('a')
    expect(queue.size).toBe(0)
    queue.done('a')
    expect(await queue.take()).toBe('a')
  })

  test('keeps the earlier of two deadlines', async () => {
    const clock = new FakeClock()
    const queue = new WorkQueue<string>(clock)
    queue.addAfter('a', 1000)
    queue.addAfter('a', 10)
    queue.addAfter('a', 500)
    await clock.advance(10)
    expect(queue.size).toBe(1)
    await queue.take()
    queue.done('a')
    await clock.advance(5000)
    expect(queue.size).toBe(0)
  })

  test('tells waiting takers when it closes', async () => {
    const queue = new WorkQueue<string>(new FakeClock())
    const taken = queue.take()
    queue.close()
    expect(await taken).toBeUndefined()
  })

  test('never has a key in two hands and loses no add', () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('add' as const), key: fc.integer({ min: 0, max: 3 }) }),
      fc.record({ do: fc.constant('take' as const), key: fc.constant(0) }),
      fc.record({ do: fc.constant('done' as const), key: fc.integer({ min: 0, max: 3 }) }),
    )
    return fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const queue = new WorkQueue<number>(new FakeClock())
        const inHand = new Set<number>()
        const owed = new Set<number>()
        const take = async (): Promise<void> => {
          const key = (await queue.take()) as number
          expect(inHand.has(key)).toBe(false)
          inHand.add(key)
          owed.delete(key)
        }
        for (const s of steps) {
          if (s.do === 'add') {
            queue.add(s.key)
            owed.add(s.key)
          } else if (s.do === 'take' && queue.size > 0) {
            await take()
          } else if (s.do === 'done' && inHand.delete(s.key)) {
            queue.done(s.key)
          }
        }
        for (const key of inHand) queue.done(key)
        inHand.clear()
        while (queue.size > 0) await take()
        expect(owed.size).toBe(0)
      }),
    )
  })
})
