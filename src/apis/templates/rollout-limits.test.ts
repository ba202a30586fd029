/** How many namespaces a change may reach at once, where the template says nothing and where it does. */
import { expect, test } from 'vitest'
import { limitOf } from './rollout-limits.ts'

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
