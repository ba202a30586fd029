import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { systemClock } from './clock.ts'

const day = 86_400_000

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test.each([1, 25, 60])('%i days are over when they are, and not before', (days) => {
  let runs = 0
  systemClock.after(days * day, () => {
    runs++
  })
  vi.advanceTimersByTime(days * day - 1)
  expect(runs).toBe(0)
  vi.advanceTimersByTime(1)
  expect(runs).toBe(1)
  vi.advanceTimersByTime(100 * day)
  expect(runs).toBe(1)
})

test('what is cancelled after a month of sixty days never runs', () => {
  let runs = 0
  const timer = systemClock.after(60 * day, () => {
    runs++
  })
  vi.advanceTimersByTime(30 * day)
  timer.cancel()
  vi.advanceTimersByTime(100 * day)
  expect(runs).toBe(0)
})
