import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Turns } from '../../base/turns.ts'
import { type FieldSet, leaf, orderMembers } from './field-set.ts'
import { orderingMembers } from './large-lists.ts'
import { settled } from './steps.ts'

const element = fc.oneof(
  fc.string().map((text) => `f:${text}`),
  fc.string().map((text) => `v:${JSON.stringify(text)}`),
  fc.integer().map((number) => `v:${number}`),
)
const nodeOf = (elements: readonly string[]): Record<string, FieldSet> =>
  Object.fromEntries([['.', leaf], ...elements.map((one) => [one, leaf] as const)])
const many = (make: (i: number) => string): string[] => Array.from({ length: 5000 }, (_, i) => make(i * 7919))
const ordering = async (elements: readonly string[]): Promise<readonly string[]> =>
  Object.keys((await settled(orderingMembers(nodeOf(elements), new Turns().slice()) as never)) as object)

test('many members are in the order of few', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(element, { maxLength: 50 }), async (some) => {
      const elements = [...some, ...many((i) => `v:"a/f${i % 5003}"`), ...many((i) => `f:${i % 4999}x`)]
      expect(await ordering(elements)).toEqual(Object.keys(orderMembers(nodeOf(elements))))
    }),
    { numRuns: 10 },
  )
})

test('and are put there with pauses', () => {
  let pauses = 0
  const slice = { pause: () => void pauses++ } as unknown as ReturnType<Turns['slice']>
  settled(orderingMembers(nodeOf(many((i) => `v:"${i}"`)), slice) as never)
  expect(pauses).toBeGreaterThanOrEqual(6)
})
