import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { badRequest, failure, thrown } from '../../../test/support/refusal.ts'
import { StatusError } from '../status-error.ts'
import type { JsonValue } from '../types.ts'
import { applyJsonPatch, parseJsonPatch } from './json-patch.ts'

const run = (document: JsonValue, patch: unknown): JsonValue => applyJsonPatch(document, parseJsonPatch(patch))

function refusal(action: () => unknown): StatusError {
  try {
    action()
  } catch (e) {
    if (e instanceof StatusError) return e
    throw e
  }
  throw new Error('nothing was refused')
}

describe('a JSON patch', () => {
  const cases: { name: string; given: JsonValue; patch: unknown[]; want: JsonValue }[] = [
    { name: 'adds a member', given: {}, patch: [{ op: 'add', path: '/a', value: 1 }], want: { a: 1 } },
    {
      name: 'replaces a member it adds',
      given: { a: 1 },
      patch: [{ op: 'add', path: '/a', value: 2 }],
      want: { a: 2 },
    },
    {
      name: 'inserts before an index',
      given: { l: [1, 3] },
      patch: [{ op: 'add', path: '/l/1', value: 2 }],
      want: { l: [1, 2, 3] },
    },
    {
      name: 'appends at the dash',
      given: { l: [1] },
      patch: [{ op: 'add', path: '/l/-', value: 2 }],
      want: { l: [1, 2] },
    },
    {
      name: 'counts negative indices from the end',
      given: { l: [1, 2] },
      patch: [{ op: 'remove', path: '/l/-1' }],
      want: { l: [1] },
    },
    { name: 'removes', given: { a: { b: 1, c: 2 } }, patch: [{ op: 'remove', path: '/a/b' }], want: { a: { c: 2 } } },
    {
      name: 'replaces a missing member, as upstream does',
      given: {},
      patch: [{ op: 'replace', path: '/a', value: 1 }],
      want: { a: 1 },
    },
    {
      name: 'replaces the whole',
      given: { a: 1 },
      patch: [{ op: 'replace', path: '', value: { b: 2 } }],
      want: { b: 2 },
    },
    {
      name: 'moves',
      given: { a: { b: 1 }, c: [] },
      patch: [{ op: 'move', from: '/a/b', path: '/c/0' }],
      want: { a: {}, c: [1] },
    },
    {
      name: 'copies',
      given: { a: { b: [1] } },
      patch: [{ op: 'copy', from: '/a', path: '/c' }],
      want: { a: { b: [1] }, c: { b: [1] } },
    },
    {
      name: 'keeps a copy apart from its origin',
      given: { a: { b: [1] } },
      patch: [
        { op: 'add', path: '/a/b/-', value: 2 },
        { op: 'copy', from: '/a', path: '/c' },
        { op: 'add', path: '/c/b/-', value: 3 },
        { op: 'remove', path: '/a/b/0' },
      ],
      want: { a: { b: [2] }, c: { b: [1, 2, 3] } },
    },
    {
      name: 'decodes escaped slashes and tildes',
      given: { 'a/b': { '~1': 1 } },
      patch: [{ op: 'remove', path: '/a~1b/~01' }],
      want: { 'a/b': {} },
    },
    {
      name: 'does not read what stands before the first slash of a path',
      given: { a: 1 },
      patch: [{ op: 'add', path: 'x/b', value: 2 }],
      want: { a: 1, b: 2 },
    },
    {
      name: 'tests an equal value whatever the order of members',
      given: { a: { x: 1, y: [null] } },
      patch: [{ op: 'test', path: '/a', value: { y: [null], x: 1 } }],
      want: { a: { x: 1, y: [null] } },
    },
    {
      name: 'tests an absent member against null',
      given: {},
      patch: [{ op: 'test', path: '/a', value: null }],
      want: {},
    },
    {
      name: 'takes __proto__ for a name like any other',
      given: {},
      patch: [{ op: 'add', path: '/__proto__', value: { x: 1 } }],
      want: JSON.parse('{"__proto__":{"x":1}}'),
    },
  ]
  test.each(cases)('$name', ({ given, patch, want }) => {
    const before = JSON.stringify(given)
    expect(run(given, patch)).toEqual(want)
    expect(JSON.stringify(given)).toBe(before)
    expect(({} as { x?: number }).x).toBeUndefined()
  })

  const faults: { name: string; given: JsonValue; patch: unknown[]; why: string }[] = [
    {
      name: 'a failed test',
      given: { a: 1 },
      patch: [{ op: 'test', path: '/a', value: '1' }],
      why: 'testing value /a failed: test failed',
    },
    {
      name: 'removal of what is not there',
      given: {},
      patch: [{ op: 'remove', path: '/a' }],
      why: "error in remove for path: '/a': Unable to remove nonexistent key: a: missing value",
    },
    {
      name: 'a missing parent',
      given: {},
      patch: [{ op: 'add', path: '/a/b', value: 1 }],
      why: 'add operation does not apply: doc is missing path: "/a/b": missing value',
    },
    {
      name: 'an index beyond the end',
      given: { l: [] },
      patch: [{ op: 'add', path: '/l/1', value: 1 }],
      why: "error in add for path: '/l/1': Unable to access invalid index: 1: invalid index referenced",
    },
    {
      name: 'a word for an index',
      given: { l: [] },
      patch: [{ op: 'add', path: '/l/x', value: 1 }],
      why:
        `error in add for path: '/l/x': value was not a proper array index: 'x': strconv.Atoi: parsing "x": ` +
        'invalid syntax',
    },
    {
      name: 'an unknown operation',
      given: {},
      patch: [{ op: 'frob', path: '/a' }],
      why: 'Unexpected kind: frob',
    },
    {
      name: 'a missing path',
      given: {},
      patch: [{ op: 'add', value: 1 }],
      why: 'add operation failed to decode path: missing value',
    },
    {
      name: 'a move into itself',
      given: { a: {} },
      patch: [{ op: 'move', from: '/a', path: '/a/b' }],
      why: 'move operation does not apply: doc is missing destination path: /a/b: missing value',
    },
    {
      name: 'a move from nowhere',
      given: { a: {} },
      patch: [{ op: 'move', from: '/b/c', path: '/a/b' }],
      why: 'move operation does not apply: doc is missing from path: /b/c: missing value',
    },
    {
      name: 'a move of what is not there',
      given: { a: {} },
      patch: [{ op: 'move', from: '/a/c', path: '/a/b' }],
      why: "error in move for path: 'c': Unable to remove nonexistent key: c: missing value",
    },
    {
      name: 'a move to no place in a list',
      given: { a: 1, l: [] },
      patch: [{ op: 'move', from: '/a', path: '/l/3' }],
      why: "error in move for path: '/l/3': Unable to access invalid index: 3: invalid index referenced",
    },
    {
      name: 'a move without a from',
      given: {},
      patch: [{ op: 'move', path: '/a' }],
      why: 'move operation failed to decode from: operation, missing from field: missing value',
    },
    {
      name: 'a replacement below what is not there',
      given: {},
      patch: [{ op: 'replace', path: '/a/b', value: 1 }],
      why: 'replace operation does not apply: doc is missing path: /a/b: missing value',
    },
    {
      name: 'a replacement beyond the end',
      given: { l: [0] },
      patch: [{ op: 'replace', path: '/l/1', value: 1 }],
      why: 'replace operation does not apply: doc is missing key: /l/1: missing value',
    },
    {
      name: 'a copy from nowhere',
      given: {},
      patch: [{ op: 'copy', from: '/a/b', path: '/c' }],
      why: 'copy operation does not apply: doc is missing from path: /a/b: missing value',
    },
    {
      name: 'a copy to nowhere',
      given: { a: 1 },
      patch: [{ op: 'copy', from: '/a', path: '/c/d' }],
      why: 'copy operation does not apply: doc is missing destination path: /c/d: missing value',
    },
    {
      name: 'a copy of an item that is not there',
      given: { l: [] },
      patch: [{ op: 'copy', from: '/l/0', path: '/c' }],
      why: "error in copy for from: '/l/0': Unable to access invalid index: 0: invalid index referenced",
    },
    {
      name: 'a test below what is not there',
      given: {},
      patch: [{ op: 'test', path: '/a/b', value: 1 }],
      why: 'test operation does not apply: is missing path: /a/b: missing value',
    },
    {
      name: 'a test of an item that is not there',
      given: { l: [] },
      patch: [{ op: 'test', path: '/l/x', value: 1 }],
      why: 'error in test for path: \'/l/x\': strconv.Atoi: parsing "x": invalid syntax',
    },
  ]
  test.each(faults)('refuses $name with 422 and no details', ({ given, patch, why }) => {
    const error = refusal(() => run(given, patch))
    expect(error.toStatus()).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'the server rejected our request due to an error in our request',
      reason: 'Invalid',
      details: {},
      code: 422,
    })
    expect((error.cause as Error).message).toBe(why)
  })

  test('that is no list is a bad request', () => {
    expect(thrown(() => parseJsonPatch({}))).toEqual(
      badRequest('json: cannot unmarshal object into Go value of type jsonpatch.Patch'),
    )
    expect(thrown(() => parseJsonPatch(['x']))).toEqual(
      badRequest('json: cannot unmarshal string into Go value of type jsonpatch.Operation'),
    )
  })

  test('of more than 10,000 operations is too large', () => {
    const message = 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001'
    expect(thrown(() => parseJsonPatch(Array.from({ length: 10_001 }, () => ({}))))).toEqual(
      failure({ message, reason: 'RequestEntityTooLarge', code: 413 }),
    )
  })

  test('names the members it does not know', () => {
    expect(parseJsonPatch([{ op: 'test', path: '/a', was: 1 }]).strictErrors).toEqual([
      'json patch unknown field "[0].was"',
    ])
  })

  test('that copies copies is stopped before it grows', () => {
    const patch = Array.from({ length: 100 }, (_, i) => ({ op: 'copy', from: '/a', path: `/a/${i}` }))
    const error = refusal(() => run({ a: { text: 'x'.repeat(1000) } }, patch))
    expect((error.cause as Error).message).toContain('Unable to complete the copy')
  })

  test('that nests deeper than any body may is refused', () => {
    const patch = Array.from({ length: 1001 }, (_, i) => ({ op: 'add', path: '/a'.repeat(i + 1), value: {} }))
    expect((refusal(() => run({}, patch)).cause as Error).message).toBe('exceeded max depth')
  })

  test('that copies within a large object pays for what it copies, not for the object', () => {
    const data = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, 'v']))
    const copies = Array.from({ length: 9_999 }, (_, i) => ({ op: 'copy', from: '/data/k1', path: `/data/z${i}` }))
    const result = run({}, [{ op: 'add', path: '/data', value: data }, ...copies]) as { data: JsonValue }
    expect(Object.keys(result.data as object)).toHaveLength(29_999)
    expect(Object.keys(data)).toHaveLength(20_000)
  })

  test('that copies a part into itself leaves the original as it was', () => {
    const given = { a: { b: { c: 1 } } }
    const patch = [
      { op: 'copy', from: '/a', path: '/a/b/d' },
      { op: 'add', path: '/a/b/c', value: 2 },
      { op: 'add', path: '/a/b/d/b/c', value: 3 },
    ]
    expect(run(given, patch)).toEqual({ a: { b: { c: 2, d: { b: { c: 3 } } } } })
    expect(given).toEqual({ a: { b: { c: 1 } } })
  })

  test('that copies a value nested too deeply is refused before it recurses', () => {
    const nest = (depth: number): JsonValue => (depth === 0 ? {} : { a: nest(depth - 1) })
    const path = (times: number): string => `/x${'/a'.repeat(900 * times)}`
    const add = Array.from({ length: 3 }, (_, i) => ({ op: 'add', path: path(i), value: nest(900) }))
    const patch = [...add, { op: 'copy', from: '/x', path: '/y' }, { op: 'remove', path: '/x' }]
    expect((refusal(() => run({}, patch)).cause as Error).message).toBe('exceeded max depth')
  })

  test('that shifts a long list again and again is stopped', () => {
    const list = Array.from({ length: 100_000 }, () => 0)
    const patch = Array.from({ length: 10_000 }, () => ({ op: 'add', path: '/l/0', value: 1 }))
    expect(thrown(() => run({ l: list }, patch))).toEqual(
      failure({ message: 'Request entity too large: limit is 50000000', reason: 'RequestEntityTooLarge', code: 413 }),
    )
  })
})

test('a path of a million steps is not taken apart', () => {
  const path = '/a'.repeat(1_000_000)
  const split = vi.spyOn(String.prototype, 'split')
  try {
    const fault = thrown(() => run({ a: {} }, [{ op: 'remove', path }]))
    expect(Math.max(...split.mock.results.map(({ value }) => (value as string[]).length))).toBeLessThan(1100)
    expect(fault).toEqual(thrown(() => run({ a: {} }, [{ op: 'remove', path: '/a/a/a' }])))
  } finally {
    split.mockRestore()
  }
})

test('what is added can be removed again, and the document is as before', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }),
      fc.string(),
      fc.jsonValue(),
      (document, key, value) => {
        fc.pre(!Object.hasOwn(document, key))
        const path = `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
        const patch = [
          { op: 'add', path, value },
          { op: 'test', path, value },
          { op: 'remove', path },
        ]
        expect(run(document as JsonValue, patch)).toEqual(document)
      },
    ),
    { numRuns: 100 },
  )
})
