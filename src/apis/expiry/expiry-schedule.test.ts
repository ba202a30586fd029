/** What namespaces cost that wait for their end: the timers that fire, and what is looked at. */
import { expect, test } from 'vitest'
import { FakeClock } from '../../base/fake-clock.ts'
import { formatTime } from '../../kube/time.ts'
import type { Namespace } from '../namespaces/types.ts'
import { ExpirySchedule } from './expiry-schedule.ts'

const count = 100_000
const minuteMs = 60_000
const dayMs = 1440 * minuteMs

/** Counts what it is asked. */
class CountedClock extends FakeClock {
  fired = 0
  asked = 0

  override now(): number {
    this.asked++
    return super.now()
  }

  override after(ms: number, run: () => void): ReturnType<FakeClock['after']> {
    return super.after(ms, () => {
      this.fired++
      run()
    })
  }
}

function* waiting(fromMs: number): Iterable<Namespace> {
  for (let i = 0; i < count; i++) {
    const annotations = { 'borough.dev/expires-at': formatTime(fromMs + 10 * dayMs + i * 1000) }
    yield { metadata: { name: `preview-${i}`, creationTimestamp: formatTime(fromMs), annotations } }
  }
}

test('100,000 that wait take one timer a minute, and none of them is looked at', async () => {
  const clock = new CountedClock()
  const began = clock.now()
  const schedule = new ExpirySchedule(
    { existing: () => waiting(began), subscribe: () => () => {}, find: () => undefined },
    clock,
  )
  const stop = new AbortController()
  const looked: string[] = []
  const running = schedule.run(({ name }) => looked.push(name), stop.signal)
  while (schedule.pending < count) await clock.advance(0)
  const { fired, asked } = clock
  await clock.advance(60 * minuteMs)
  expect(looked).toEqual([])
  expect(clock.fired - fired).toBeLessThanOrEqual(61)
  // A few looks at the clock for each of them, however many wait: 0.1 % of a core would be 60 ms a minute.
  expect(clock.asked - asked).toBeLessThanOrEqual(10 * 61)
  // And nothing is missed: the first warning is a day before its end, for it lives ten.
  await clock.advance(9 * dayMs - 60 * minuteMs + 1000)
  expect(looked[0]).toBe('preview-0')
  stop.abort()
  await running
})
