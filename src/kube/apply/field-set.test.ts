import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runAtOnce } from '../../base/resumable.ts'
import {
  difference,
  equalSets,
  type FieldSet,
  has,
  isEmpty,
  parseFieldSet,
  pathsOf,
  recursiveDifference,
  setOf,
  union,
} from './field-set.ts'
import { intersecting, uniting } from './large-sets.ts'
import { fieldElement, keyElement, showPath, valueElement } from './path-element.ts'

const arbScalar = fc.oneof(fc.string({ maxLength: 4 }), fc.integer({ min: -20, max: 200 }), fc.boolean())
const arbElement = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('a', 'b', 'c', '__proto__', '.', 'é').map(fieldElement) },
  { weight: 2, arbitrary: fc.constantFrom(1, 2, 10, 443, '1', 'x<y', true, null).map(valueElement) },
  {
    weight: 2,
    arbitrary: fc
      .record({ name: arbScalar, port: fc.constantFrom(80, 443) }, { requiredKeys: ['port'] })
      .map((keys) => keyElement(['name', 'port'], (name) => keys[name as 'name' | 'port'])),
  },
)
const arbPaths = fc.array(fc.array(arbElement, { minLength: 1, maxLength: 4 }), { maxLength: 12 })
const arbSet = arbPaths.map(setOf)
const intersection = (a: FieldSet, b: FieldSet): FieldSet => runAtOnce(intersecting(a, b))
const keys = (set: FieldSet): Set<string> => new Set(pathsOf(set).map((path) => JSON.stringify(path)))

describe('the algebra of field sets', () => {
  it('is the algebra of sets of paths', () => {
    fc.assert(
      fc.property(arbSet, arbSet, (a, b) => {
        const [left, right] = [keys(a), keys(b)]
        expect(keys(union(a, b))).toEqual(new Set([...left, ...right]))
        expect(JSON.stringify(runAtOnce(uniting(a, b)))).toBe(JSON.stringify(union(a, b)))
        expect(keys(intersection(a, b))).toEqual(new Set([...left].filter((path) => right.has(path))))
        expect(keys(difference(a, b))).toEqual(new Set([...left].filter((path) => !right.has(path))))
      }),
      { numRuns: 300 },
    )
  })

  it('keeps one form for one set, whatever the order of construction', () => {
    fc.assert(
      fc.property(arbPaths, arbSet, (paths, other) => {
        const text = JSON.stringify(setOf(paths))
        expect(JSON.stringify(setOf([...paths].reverse()))).toBe(text)
        expect(JSON.stringify(difference(union(setOf(paths), other), difference(other, setOf(paths))))).toBe(text)
      }),
      { numRuns: 300 },
    )
  })

  it('removes what is below a member in the recursive difference', () => {
    fc.assert(
      fc.property(arbPaths, arbPaths, (a, b) => {
        const below = (path: readonly string[]): boolean => path.some((_, i) => has(setOf(b), path.slice(0, i + 1)))
        expect(keys(recursiveDifference(setOf(a), setOf(b)))).toEqual(keys(setOf(a.filter((path) => !below(path)))))
      }),
      { numRuns: 300 },
    )
  })

  it('returns an argument when nothing changes', () => {
    fc.assert(
      fc.property(arbSet, arbSet, (a, b) => {
        expect(union(a, intersection(a, b))).toBe(a)
        expect(runAtOnce(uniting(a, intersection(a, b)))).toBe(a)
        const rest = difference(a, b)
        expect(difference(rest, b)).toBe(rest)
        expect(equalSets(a, rest)).toBe(isEmpty(intersection(a, b)))
      }),
      { numRuns: 200 },
    )
  })
})

describe('sets of many members', () => {
  const setOfMany = (from: number): FieldSet =>
    ({ 'f:data': Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`f:k${from + i}`, {}])) }) as FieldSet
  const [a, b] = [setOfMany(0), setOfMany(10_000)]

  it.each([
    { name: 'a union', work: () => uniting(a, b), members: 30_000 },
    { name: 'an intersection', work: () => intersecting(a, b), members: 10_000 },
  ])('$name is made in many pieces', ({ work, members }) => {
    const steps = work()
    let pieces = 1
    let step = steps.next()
    for (; step.done !== true; step = steps.next()) pieces++
    expect(Object.keys(step.value['f:data'] as FieldSet)).toHaveLength(members)
    expect(pieces).toBeGreaterThan(15)
  })
})

describe('FieldsV1', () => {
  it('reads back what it writes, as it is', () => {
    fc.assert(
      fc.property(arbSet, (set) => {
        const text = JSON.stringify(set)
        const parsed = JSON.parse(text) as FieldSet
        expect(JSON.stringify(parseFieldSet(parsed))).toBe(text)
        if (!isEmpty(set)) expect(parseFieldSet(parsed), 'not even copied').toBe(parsed)
      }),
      { numRuns: 300 },
    )
  })

  it.each([
    {
      name: 'puts siblings in order: itself, fields, items, set members, indices',
      given: '{"v:2":{},"i:1":{},"f:b":{"f:c":{},".":{}},"k:{\\"n\\":1}":{},"f:a":{},"v:10":{},"v:\\"a\\"":{}}',
      want: '{"f:a":{},"f:b":{".":{},"f:c":{}},"k:{\\"n\\":1}":{},"v:2":{},"v:10":{},"v:\\"a\\"":{},"i:1":{}}',
    },
    {
      name: 'sorts items by the values of their keys',
      given: '{"k:{\\"p\\":443}":{},"k:{\\"p\\":80,\\"q\\":\\"b\\"}":{},"k:{\\"p\\":80}":{}}',
      want: '{"k:{\\"p\\":80}":{},"k:{\\"p\\":80,\\"q\\":\\"b\\"}":{},"k:{\\"p\\":443}":{}}',
    },
    {
      name: 'sorts and compacts the keys of items',
      given: '{"k:{ \\"b\\": 1, \\"a\\": \\"x\\" }":{}}',
      want: '{"k:{\\"a\\":\\"x\\",\\"b\\":1}":{}}',
    },
    {
      name: "escapes as Go's encoder does",
      given: '{"v:\\"a<b&c\\"":{}}',
      want: '{"v:\\"a\\\\u003cb\\\\u0026c\\"":{}}',
    },
    { name: 'takes a lone dot for a leaf', given: '{"f:a":{".":{}}}', want: '{"f:a":{}}' },
    { name: 'drops elements of unknown kinds', given: '{"x:1":{"f:a":{}},"f:a":{}}', want: '{"f:a":{}}' },
    { name: 'merges two spellings of one key', given: '{"v:1":{},"v:1.0":{}}', want: '{"v:1":{}}' },
  ])('$name', ({ given, want }) => {
    expect(JSON.stringify(parseFieldSet(JSON.parse(given)))).toBe(want)
  })

  it.each(['{"a":{}}', '{"f:a":1}', '{"k:1":{}}', '{"v:{":{}}', '{"i:x":{}}', '[]', 'null'])('refuses %s', (given) => {
    expect(() => parseFieldSet(JSON.parse(given))).toThrow(SyntaxError)
  })

  it('names paths as conflicts do, members before what is below them', () => {
    const set = setOf([
      ['f:spec', 'f:b', 'k:{"name":"c","port":80}', 'f:image'],
      ['f:spec', 'f:b'],
      ['f:spec', 'f:c', 'v:"x"'],
      ['f:spec', 'f:d', 'i:3'],
      ['f:z'],
    ])
    expect(pathsOf(set).map(showPath)).toEqual([
      '.z',
      '.spec.b',
      '.spec.b[name="c",port=80].image',
      '.spec.c[="x"]',
      '.spec.d[3]',
    ])
  })
})
