import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { labelMatcher } from './label-matcher.ts'
import { type LabelSelector, matchesLabels, nothing, parseLabelSelector } from './label-selector.ts'

const keys = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
const values = fc.constantFrom('', '1', '2', '3', 'x')
const sets = fc.array(values, { minLength: 1, maxLength: 4 }).map((list) => `(${list.join(',')})`)
const numbers = fc.integer({ min: 0, max: 4 }).map(String)
const requirement = fc.oneof(
  fc.tuple(keys, fc.constantFrom('=', '!='), values).map((parts) => parts.join('')),
  fc.tuple(keys, fc.constantFrom('in', 'notin'), sets).map((parts) => parts.join(' ')),
  fc.tuple(keys, fc.constantFrom('>', '<'), numbers).map((parts) => parts.join('')),
  keys,
  keys.map((key) => `!${key}`),
)
const selectors = fc.array(requirement, { minLength: 1, maxLength: 12 }).map((list) => list.join(','))
const labelMaps = fc.option(fc.dictionary(keys, values, { noNullPrototype: true }), { nil: undefined })

const many = (make: (i: number) => string): LabelSelector =>
  parseLabelSelector(Array.from({ length: 5000 }, (_, i) => make(i)).join(','))

describe('a selector that is put to many objects', () => {
  test('matches as its requirements do one by one', () => {
    fc.assert(
      fc.property(selectors, labelMaps, (text, labels) => {
        const selector = parseLabelSelector(text)
        expect(labelMatcher(selector)(labels)).toBe(matchesLabels(selector, labels))
      }),
      { numRuns: 2000 },
    )
  })

  test('may select nothing', () => {
    expect(labelMatcher(nothing)({ a: '1' })).toBe(false)
    expect(labelMatcher(nothing)(undefined)).toBe(false)
  })

  const cases: { name: string; selector: LabelSelector; labels: Record<string, string>; want: boolean }[] = [
    { name: 'labels that must not be there', selector: many((i) => `!k${i}`), labels: { a: '1' }, want: true },
    { name: 'values that are excluded', selector: many((i) => `a!=v${i}`), labels: { a: '1' }, want: true },
    { name: 'values of other labels', selector: many((i) => `k${i}!=1`), labels: { a: '1', k7: '1' }, want: false },
    { name: 'the same value', selector: many(() => 'a=1'), labels: { a: '1' }, want: true },
    { name: 'bounds', selector: many((i) => `a>${i}`), labels: { a: '5000' }, want: true },
    { name: 'labels that are not there', selector: many((i) => `k${i}`), labels: { a: '1' }, want: false },
  ]
  test.each(cases)('asks an object few times, however many $name it names', ({ selector, labels, want }) => {
    let looks = 0
    const look = <T>(found: T): T => {
      looks++
      return found
    }
    const watched = new Proxy(labels, {
      getOwnPropertyDescriptor: (target, key) => look(Reflect.getOwnPropertyDescriptor(target, key)),
      get: (target, key) => look(Reflect.get(target, key)),
    })
    expect(labelMatcher(selector)(watched)).toBe(want)
    expect(looks).toBeLessThan(10)
  })
})
