import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { badRequest, thrown } from '../../test/support/refusal.ts'
import {
  fieldMatcher,
  parseFieldSelector,
  printFieldSelector,
  refuseUnknownFields,
  requiredField,
} from './field-selector.ts'

describe('field selectors', () => {
  const cases: { name: string; given: string; fields: Record<string, string>; want: boolean }[] = [
    { name: 'match everything when empty', given: '', fields: {}, want: true },
    { name: 'match an equal value', given: 'metadata.name=a', fields: { 'metadata.name': 'a' }, want: true },
    { name: 'take two equal signs as one', given: 'metadata.name==a', fields: { 'metadata.name': 'b' }, want: false },
    { name: 'treat an absent field as empty', given: 'spec.nodeName=', fields: {}, want: true },
    { name: 'exclude a value', given: 'status.phase!=Running', fields: { 'status.phase': 'Failed' }, want: true },
    { name: 'ignore empty terms', given: ',a=1,,', fields: { a: '1' }, want: true },
    { name: 'read escaped separators as data', given: 'a=x\\,y\\=z\\\\', fields: { a: 'x,y=z\\' }, want: true },
  ]
  test.each(cases)('$name', ({ given, fields, want }) =>
    expect(fieldMatcher(parseFieldSelector(given))((f) => fields[f] ?? '')).toBe(want),
  )

  test('read each field once, however many terms name it', () => {
    const terms = Array.from({ length: 3000 }, (_, i) => `metadata.name!=n${i},metadata.namespace=a`)
    const read: string[] = []
    const holds = fieldMatcher(parseFieldSelector(terms.join(',')))((field) => {
      read.push(field)
      return 'a'
    })
    expect({ holds, read }).toEqual({ holds: true, read: ['metadata.name', 'metadata.namespace'] })
  })

  test('of two values match none', () => expect(fieldMatcher(parseFieldSelector('a=1,a=2'))(() => '1')).toBe(false))

  const refusals: { given: string; want: string }[] = [
    { given: 'foo', want: "invalid selector: 'foo'; can't understand 'foo'" },
    { given: 'a=b=c', want: 'invalid field selector: unescaped character in value: 61' },
    { given: 'a=\\x', want: 'invalid field selector: invalid escape sequence: \\x' },
    { given: 'a=b\\', want: 'invalid field selector: invalid escape sequence: \\' },
  ]
  test.each(refusals)('refuse $given', ({ given, want }) => {
    expect(thrown(() => parseFieldSelector(given))).toEqual(badRequest(want))
  })
})

test('parsing what was printed gives the same terms', () => {
  const term = fc.tuple(fc.stringMatching(/^[a-z.]{1,8}$/), fc.constantFrom('=', '!='), fc.string())
  fc.assert(
    fc.property(fc.array(term, { maxLength: 4 }), (terms) => {
      const text = printFieldSelector(
        terms.map(([field, operator, value]) => ({ field, operator: operator as '=' | '!=', value })),
      )
      const selector = parseFieldSelector(text)
      expect(selector.map((t) => [t.field, t.operator, t.value]).sort()).toEqual([...terms].sort())
      expect(parseFieldSelector(printFieldSelector(selector))).toEqual(selector)
    }),
    { numRuns: 200 },
  )
})

test('an unknown field is refused in the words of its kind', () => {
  const selector = parseFieldSelector('metadata.name=a,spec.x=b')
  const none = new Set<string>()
  expect(() => refuseUnknownFields(selector, new Set(['spec.x']), false)).not.toThrow()
  const notSupported = badRequest('field label not supported: spec.x')
  expect(thrown(() => refuseUnknownFields(selector, new Set(['type']), false))).toEqual(notSupported)
  expect(thrown(() => refuseUnknownFields(selector, none, true))).toEqual(notSupported)
  expect(thrown(() => refuseUnknownFields(selector, none, false))).toEqual(
    badRequest('"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"'),
  )
})

test('an exact requirement can be looked up', () => {
  const selector = parseFieldSelector('metadata.name=a,status.phase!=b')
  expect(requiredField(selector, 'metadata.name')).toBe('a')
  expect(requiredField(selector, 'status.phase')).toBeUndefined()
})
