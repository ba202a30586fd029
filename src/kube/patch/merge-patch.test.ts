import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { badRequest, thrown } from '../../../test/support/refusal.ts'
import type { JsonObject, JsonValue } from '../types.ts'
import { applyingMergePatch, applyMergePatch, diffMergePatch, parseMergePatch } from './merge-patch.ts'

describe('a merge patch', () => {
  // The table of RFC 7386, appendix A, except where upstream drops nulls inside lists.
  const cases: { given: JsonValue; patch: JsonValue; want: JsonValue }[] = [
    { given: { a: 'b' }, patch: { a: 'c' }, want: { a: 'c' } },
    { given: { a: 'b' }, patch: { b: 'c' }, want: { a: 'b', b: 'c' } },
    { given: { a: 'b' }, patch: { a: null }, want: {} },
    { given: { a: 'b', b: 'c' }, patch: { a: null }, want: { b: 'c' } },
    { given: { a: ['b'] }, patch: { a: 'c' }, want: { a: 'c' } },
    { given: { a: 'c' }, patch: { a: ['b'] }, want: { a: ['b'] } },
    { given: { a: { b: 'c' } }, patch: { a: { b: 'd', c: null } }, want: { a: { b: 'd' } } },
    { given: { a: [{ b: 'c' }] }, patch: { a: [1] }, want: { a: [1] } },
    { given: ['a', 'b'], patch: ['c', 'd'], want: ['c', 'd'] },
    { given: { a: 'foo' }, patch: 'bar', want: 'bar' },
    { given: { e: null }, patch: { a: 1 }, want: { e: null, a: 1 } },
    { given: {}, patch: { a: { bb: { ccc: null } } }, want: { a: { bb: {} } } },
    { given: {}, patch: { a: [{ b: null, c: 1 }] }, want: { a: [{ c: 1 }] } },
  ]
  test.each(cases)('$patch on $given gives $want', ({ given, patch, want }) =>
    expect(applyMergePatch(given, patch)).toEqual(want),
  )

  test('that changes nothing gives the document itself', () => {
    const document = { a: { b: 1 }, c: [1] }
    expect(applyMergePatch(document, { a: { b: 1 }, d: null })).toBe(document)
  })

  test('shares what it does not touch', () => {
    const document: JsonObject = { a: { b: 1 }, c: { d: 1 } }
    const result = applyMergePatch(document, { c: { d: 2 } }) as JsonObject
    expect(result['a']).toBe(document['a'])
    expect(document).toEqual({ a: { b: 1 }, c: { d: 1 } })
  })

  test('that is no object is a bad request', () => {
    expect(thrown(() => parseMergePatch(null))).toEqual(badRequest('Invalid JSON Patch'))
    expect(thrown(() => parseMergePatch([]))).toEqual(
      badRequest('error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}'),
    )
  })
})

const { value } = fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
  object: fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__'), tie('value'), {
    maxKeys: 3,
    noNullPrototype: true,
  }),
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<JsonValue>(1, 2, 'x', true, ''),
    tie('object'),
    fc.array(tie('value'), { maxLength: 2 }),
  ),
}))
const object = fc.dictionary(fc.constantFrom('a', 'b', 'c'), value, { noNullPrototype: true })

test('applying the difference of two documents to the first gives the second', () => {
  fc.assert(
    fc.property(object, object, (a, b) => {
      expect(applyMergePatch(a, diffMergePatch(a, b))).toEqual(b)
      expect(diffMergePatch(a, a)).toEqual({})
    }),
    { numRuns: 300 },
  )
})

test('attack: what a patch brings is looked through twice, however deep it is', () => {
  let looks = 0
  const deepest = { ...Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`k${i}`, 1])), gone: null }
  const counted = new Proxy(deepest, {
    get(members, key) {
      looks++
      return Reflect.get(members, key)
    },
  })
  let patch: JsonObject = counted
  for (let level = 0; level < 500; level++) patch = { a: patch }
  applyMergePatch({}, patch)
  expect(looks).toBeLessThanOrEqual(2 * 11)
})

test('many maps of few members are patched in many pieces', () => {
  const maps = (value: string): JsonObject =>
    Object.fromEntries(
      Array.from({ length: 290 }, (_, i) => [
        `m${i}`,
        Object.fromEntries(Array.from({ length: 99 }, (_, j) => [`k${j}`, value])),
      ]),
    )
  const steps = applyingMergePatch(maps('a'), maps('b'))
  let pieces = 1
  let step = steps.next()
  for (; step.done !== true; step = steps.next()) pieces++
  expect(step.value).toEqual(maps('b'))
  expect(pieces).toBeGreaterThanOrEqual(28)
})
