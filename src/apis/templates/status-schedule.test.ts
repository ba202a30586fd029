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

test('changes are gathered for a moment, and one template is summed up once a second at most', async () => {
  const clock = new FakeClock()
  const schedule = new StatusSchedule(clock, () => true)
  const told: [string, number][] = []
  const stop = new AbortController()
  // Nothing is there to be told yet.
  schedule.request('a')
  const running = schedule.run(({ name, namespace }) => told.push([namespace + name, clock.monotonic()]), stop.signal)
  const began = clock.monotonic()
  const since = () => told.splice(0).map(([name, ms]) => [name, ms - began])
  await clock.advance(100)
  schedule.request('a')
  schedule.request('b')
  await clock.advance(100)
  schedule.request('a')
  await clock.advance(99)
  expect(since()).toEqual([])
  await clock.advance(1)
  expect(since()).toEqual([
    ['a', 300],
    ['b', 300],
  ])
  // A second after it was told, not 200 ms after it was asked for; what was not told lately need not wait for that.
  schedule.request('a')
  schedule.request('c')
  await clock.advance(999)
  expect(since()).toEqual([['c', 500]])
  await clock.advance(1)
  expect(since()).toEqual([['a', 1300]])
  // Of another template that is made under its name.
  schedule.forget('a')
  schedule.request('a')
  await clock.advance(200)
  expect(since()).toEqual([['a', 1500]])
  schedule.request('c')
  stop.abort()
  await running
  await clock.advance(10_000)
  expect(told).toEqual([])
  schedule.request('c')
  await clock.advance(10_000)
  expect(told).toEqual([])
})
