import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonValue } from '../types.ts'
import { jsonDiff } from './json-diff.ts'
import { applyJsonPatch, parseJsonPatch } from './json-patch.ts'

describe('the difference of two values as a JSON patch', () => {
  const cases: { name: string; before: JsonValue; after: JsonValue; want: unknown[] }[] = [
    { name: 'is empty where nothing differs', before: { a: [1, { b: 2 }] }, after: { a: [1, { b: 2 }] }, want: [] },
    {
      name: 'adds, replaces and removes members',
      before: { a: 1, b: 2 },
      after: { b: 3, c: 4 },
      want: [
        { op: 'remove', path: '/a' },
        { op: 'replace', path: '/b', value: 3 },
        { op: 'add', path: '/c', value: 4 },
      ],
    },
    {
      name: 'goes into objects, and escapes their keys',
      before: { labels: { 'a/b': 'x', '~': 'y' } },
      after: { labels: { 'a/b': 'z' } },
      want: [
        { op: 'remove', path: '/labels/~0' },
        { op: 'replace', path: '/labels/a~1b', value: 'z' },
      ],
    },
    {
      name: 'replaces lists as a whole',
      before: { l: [1, 2] },
      after: { l: [2] },
      want: [{ op: 'replace', path: '/l', value: [2] }],
    },
    {
      name: 'replaces a value of another type',
      before: { a: {} },
      after: { a: null },
      want: [{ op: 'replace', path: '/a', value: null }],
    },
  ]
  test.each(cases)('$name', ({ before, after, want }) => expect(jsonDiff(before, after)).toEqual(want))

  test('applied to the one, makes the other', () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }))
    fc.assert(
      fc.property(object, object, (before, after) => {
        const a = JSON.parse(JSON.stringify(before)) as JsonValue
        const b = JSON.parse(JSON.stringify(after)) as JsonValue
        expect(applyJsonPatch(a, parseJsonPatch(JSON.parse(JSON.stringify(jsonDiff(a, b)))))).toEqual(b)
      }),
      { numRuns: 300 },
    )
  })
})
