import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runAtOnce } from '../base/resumable.ts'
import { exactNumber } from './json-value.ts'
import { printingJson } from './printing-json.ts'

const many = <T>(count: number, make: (i: number) => T): Record<string, T> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`key${i}`, make(i)]))
const printed = (value: object): string =>
  Buffer.from(runAtOnce(printingJson(value as Record<string, unknown>))).toString()

test('is what JSON.stringify prints', () => {
  const leaf = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.double(),
    fc.boolean(),
    fc.constantFrom(null, undefined, '\ud800', exactNumber('9007199254740993')),
  )
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 5 }, leaf, tie('list'), tie('map')),
    list: fc.array(
      tie('value').map((v) => v ?? null),
      { maxLength: 160 },
    ),
    map: fc.dictionary(fc.string(), tie('value'), { maxKeys: 160 }),
  }))
  fc.assert(
    fc.property(value, fc.boolean(), (inner, isList) => {
      const root = isList ? [inner ?? null, many(200, () => inner)] : { inner, more: many(200, () => inner) }
      expect(printed(root)).toBe(JSON.stringify(root))
    }),
    { numRuns: 60 },
  )
})

// Each level looked through all below it: 4 s.
test.each([
  { name: 'a map of many', value: many(20_000, () => 'a') },
  { name: 'many maps of few', value: many(200, () => many(99, () => 'a')) },
  {
    name: 'what is far down',
    value: Array.from({ length: 900 }).reduce<object>(
      (a) => ({ a }),
      many(20_000, () => 'a'),
    ),
  },
])('$name is printed in many pieces', { timeout: 2000 }, ({ value }) => {
  const steps = printingJson(value as Record<string, unknown>)
  let pieces = 1
  let step = steps.next()
  for (; step.done !== true; step = steps.next()) pieces++
  expect(Buffer.from(step.value).toString()).toBe(JSON.stringify(value))
  expect(pieces).toBeGreaterThanOrEqual(18)
})
