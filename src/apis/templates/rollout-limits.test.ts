/** How many namespaces a change may reach at once, where the template says nothing and where it does. */
import { expect, test } from 'vitest'
import { limitOf, rolloutErrors } from './rollout-limits.ts'
import type { Rollout } from './types.ts'

test.each([
  [undefined, 0, 5],
  [undefined, 5, 5],
  [undefined, 50, 5],
  [undefined, 51, 6],
  [undefined, 100, 10],
  [undefined, 10_000, 1000],
  ['10%', 3, 1],
  ['0%', 10_000, 0],
  ['100%', 7, 7],
  [0, 10_000, 0],
  [12, 3, 12],
] as const)('%j of %i namespaces are %i', (amount, whole, allowed) => {
  expect(limitOf(amount, () => whole)).toBe(allowed)
})

test('what was never valid allows none', () => expect(limitOf('many', () => 7)).toBe(0))

const unavailable = (given: number | string): string =>
  `spec.rollout.maxUnavailable: Invalid value: ${JSON.stringify(given)}: must be at least 1, or a share like "10%"`
const prune = (given: number | string): string =>
  `spec.rollout.maxPrune: Invalid value: ${JSON.stringify(given)}: must be 0 or more, or a share like "10%"`

test.each<{ rollout: Rollout; errors: string[] }>([
  { rollout: {}, errors: [] },
  { rollout: { maxUnavailable: 1, maxPrune: 0 }, errors: [] },
  { rollout: { maxUnavailable: '0%', maxPrune: '100%' }, errors: [] },
  { rollout: { maxUnavailable: 0, maxPrune: -1 }, errors: [unavailable(0), prune(-1)] },
  { rollout: { maxUnavailable: '101%', maxPrune: 'all' }, errors: [unavailable('101%'), prune('all')] },
  { rollout: { maxPrune: '10' }, errors: [prune('10')] },
  { rollout: { maxPrune: 'a10%' }, errors: [prune('a10%')] },
  { rollout: { maxPrune: '10%a' }, errors: [prune('10%a')] },
])('$rollout: $errors', ({ rollout, errors }) => {
  expect(rolloutErrors(rollout).map(({ field, body }) => `${field}: ${body}`)).toEqual(errors)
})
