import { expect, test } from 'vitest'
import { RetryAfter } from './retry-after.ts'

test('Retry-After follows the refusals as upstream’s does', () => {
  const retryAfter = new RetryAfter()
  const steps = [
    { atSeconds: 0, refusals: 5, want: 1 },
    { atSeconds: 1, refusals: 11, want: 2 },
    { atSeconds: 2, refusals: 1, want: 2 },
    { atSeconds: 3, refusals: 11, want: 4 },
    { atSeconds: 4, refusals: 1, want: 4 },
    { atSeconds: 7, refusals: 1, want: 8 },
    { atSeconds: 11, refusals: 1, want: 8 },
    { atSeconds: 15, refusals: 1, want: 7 },
    { atSeconds: 17, refusals: 1, want: 6 },
    { atSeconds: 21, refusals: 14, want: 5 },
    { atSeconds: 22, refusals: 1, want: 10 },
  ]
  const start = Date.UTC(2026, 0, 1)
  const seen = steps.map(({ atSeconds, refusals }) => {
    for (let i = 0; i < refusals; i++) retryAfter.recordRefusal(start + atSeconds * 1000)
    return retryAfter.seconds
  })
  expect(seen).toEqual(steps.map(({ want }) => want))
})

test('Retry-After never asks for more than 32 seconds', () => {
  const retryAfter = new RetryAfter()
  for (let second = 0; second < 600; second++) {
    for (let i = 0; i < 200; i++) retryAfter.recordRefusal(1e12 + second * 1000)
  }
  expect(retryAfter.seconds).toBe(32)
})
