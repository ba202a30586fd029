import { expect, test } from 'vitest'
import { FakeClock } from '../../base/fake-clock.ts'
import { StatusSchedule } from './status-schedule.ts'

test('no template is summed up, or let go, before all that exists is known', async () => {
  const clock = new FakeClock()
  let isComplete = false
  const schedule = new StatusSchedule(clock, () => isComplete)
  const told: string[] = []
  const stop = new AbortController()
  const running = schedule.run(({ name }) => told.push(name), stop.signal)
  schedule.request('early')
  await clock.advance(10_000)
  isComplete = true
  await clock.advance(10_000)
  expect(told).toEqual([])

  schedule.request('known')
  await clock.advance(10_000)
  expect(told).toEqual(['known'])

  // The next start finds another picture.
  schedule.request('late')
  isComplete = false
  await clock.advance(10_000)
  expect(told).toEqual(['known'])
  stop.abort()
  await running
})
