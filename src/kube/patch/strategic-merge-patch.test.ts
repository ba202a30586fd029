import { describe, expect, test } from 'vitest'
import { badRequest, failure, thrown } from '../../../test/support/refusal.ts'
import type { Schema } from '../schema/schema.ts'
import type { JsonObject, Status } from '../types.ts'
import { applyStrategicMergePatch } from './strategic-merge-patch.ts'

const text: Schema = { type: 'string' }
const fields = (properties: Record<string, Schema>): Schema => ({
  type: 'object',
  properties: new Map(Object.entries(properties)),
})
const container = fields({
  name: text,
  image: text,
  ports: {
    type: 'array',
    patchStrategy: ['merge'],
    patchMergeKey: 'containerPort',
    items: fields({ containerPort: { type: 'integer' }, name: text }),
  },
})
const schema: Schema = fields({
  containers: { type: 'array', patchStrategy: ['merge'], patchMergeKey: 'name', items: container },
  finalizers: { type: 'array', patchStrategy: ['merge'], items: text },
  args: { type: 'array', items: text },
  pairs: { type: 'array', patchStrategy: ['merge'], items: { type: 'object' } },
  labels: { type: 'object', additionalProperties: text },
  whole: { ...fields({ a: text, b: text }), patchStrategy: ['replace'] },
  strategy: { ...fields({ type: text, rolling: fields({ max: text }) }), patchStrategy: ['retainKeys'] },
})

describe('a strategic merge patch', () => {
  const cases: { name: string; given: JsonObject; patch: JsonObject; want: JsonObject }[] = [
    {
      name: 'merges maps and drops nulls',
      given: { labels: { a: '1', b: '2' } },
      patch: { labels: { b: null, c: '3', d: null } },
      want: { labels: { a: '1', c: '3' } },
    },
    {
      name: 'replaces a list without a strategy',
      given: { args: ['a', 'b'] },
      patch: { args: ['c'] },
      want: { args: ['c'] },
    },
    {
      name: 'merges a list of maps by its key, and puts new items first as upstream does',
      given: {
        containers: [
          { name: 'a', image: '1' },
          { name: 'b', image: '2' },
        ],
      },
      patch: {
        containers: [
          { name: 'c', image: '3' },
          { name: 'b', image: '4' },
        ],
      },
      want: {
        containers: [
          { name: 'c', image: '3' },
          { name: 'a', image: '1' },
          { name: 'b', image: '4' },
        ],
      },
    },
    {
      name: 'merges lists inside items',
      given: { containers: [{ name: 'a', ports: [{ containerPort: 80, name: 'x' }] }] },
      patch: { containers: [{ name: 'a', ports: [{ containerPort: 81 }, { containerPort: 80, name: 'y' }] }] },
      want: { containers: [{ name: 'a', ports: [{ containerPort: 81 }, { containerPort: 80, name: 'y' }] }] },
    },
    {
      name: 'merges a list of scalars as a set',
      given: { finalizers: ['a', 'b'] },
      patch: { finalizers: ['c', 'a'] },
      want: { finalizers: ['c', 'a', 'b'] },
    },
    {
      name: 'deletes an item by its key',
      given: { containers: [{ name: 'a' }, { name: 'b' }] },
      patch: { containers: [{ $patch: 'delete', name: 'a' }] },
      want: { containers: [{ name: 'b' }] },
    },
    {
      name: 'replaces a merged list when told so',
      given: { containers: [{ name: 'a' }] },
      patch: { containers: [{ $patch: 'replace' }, { name: 'c' }, { name: 'b' }] },
      want: { containers: [{ name: 'c' }, { name: 'b' }] },
    },
    {
      name: 'empties a merged list when told to replace it by nothing',
      given: { containers: [{ name: 'a' }] },
      patch: { containers: [{ $patch: 'replace' }] },
      want: { containers: [] },
    },
    {
      name: 'replaces a map when told so',
      given: { labels: { a: '1' } },
      patch: { labels: { $patch: 'replace', b: '2' } },
      want: { labels: { b: '2' } },
    },
    {
      name: 'empties a map when told to delete it',
      given: { labels: { a: '1' } },
      patch: { labels: { $patch: 'delete' } },
      want: { labels: {} },
    },
    {
      name: 'replaces a map whose strategy says so',
      given: { whole: { a: '1' } },
      patch: { whole: { b: '2' } },
      want: { whole: { b: '2' } },
    },
    {
      name: 'takes members out of a list of scalars',
      given: { finalizers: ['a', 'b', 'c'] },
      patch: { '$deleteFromPrimitiveList/finalizers': ['b', 'x'], finalizers: ['d'] },
      want: { finalizers: ['d', 'a', 'c'] },
    },
    {
      name: 'ignores removals from a list that is not there',
      given: {},
      patch: { '$deleteFromPrimitiveList/finalizers': ['b'] },
      want: {},
    },
    {
      name: 'orders a merged list as told, with what only the server has in its place',
      given: { containers: [{ name: 'a' }, { name: 'srv' }, { name: 'b' }] },
      patch: {
        '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }, { name: 'c' }],
        containers: [{ name: 'c' }],
      },
      want: { containers: [{ name: 'srv' }, { name: 'b' }, { name: 'a' }, { name: 'c' }] },
    },
    {
      name: 'orders without changing items',
      given: { finalizers: ['a', 'b', 'c'] },
      patch: { '$setElementOrder/finalizers': ['c', 'a'] },
      want: { finalizers: ['b', 'c', 'a'] },
    },
    {
      name: 'orders a list it brings',
      given: {},
      patch: { '$setElementOrder/finalizers': ['a', 'b'], finalizers: ['a', 'b'] },
      want: { finalizers: ['a', 'b'] },
    },
    {
      name: 'ignores an order for a list that is nowhere',
      given: { labels: {} },
      patch: { '$setElementOrder/finalizers': ['a'] },
      want: { labels: {} },
    },
    {
      name: 'keeps only what is to be retained',
      given: { strategy: { type: 'Rolling', rolling: { max: '1' } } },
      patch: { strategy: { $retainKeys: ['type'], type: 'Recreate' } },
      want: { strategy: { type: 'Recreate' } },
    },
    {
      name: 'leaves no directive in what it brings',
      given: {},
      patch: {
        strategy: { $retainKeys: ['type'], type: 'Recreate' },
        labels: { $patch: 'replace', a: '1' },
        containers: [{ name: 'a', image: null }],
      },
      want: { strategy: { type: 'Recreate' }, containers: [{ name: 'a' }] },
    },
    {
      name: 'replaces a value of another type',
      given: { labels: { a: '1' } },
      patch: { labels: 5 },
      want: { labels: 5 },
    },
  ]
  test.each(cases)('$name', ({ given, patch, want }) => {
    const before = JSON.stringify([given, patch])
    expect(applyStrategicMergePatch(given, patch, schema)).toEqual(want)
    expect(JSON.stringify([given, patch])).toBe(before)
  })

  const faults: { name: string; given: JsonObject; patch: JsonObject; want: Status }[] = [
    {
      name: 'an item without its key',
      given: { containers: [{ name: 'a' }] },
      patch: { containers: [{ image: 'x' }] },
      want: badRequest('map: map[image:x] does not contain declared merge key: name'),
    },
    {
      name: 'an unknown directive',
      given: { labels: {} },
      patch: { labels: { $patch: 'frob' } },
      want: badRequest('unknown patch type: frob in map: map[$patch:frob]'),
    },
    {
      name: 'an order that contradicts the list',
      given: {},
      patch: { '$setElementOrder/finalizers': ['a', 'b'], finalizers: ['b', 'a'] },
      want: badRequest("The order in patch list:\n[b a]\n doesn't match $setElementOrder list:\n[a b]\n"),
    },
    {
      name: 'an order without a target',
      given: {},
      patch: { $setElementOrder: [] },
      want: badRequest('invalid patch format of setElementOrder list'),
    },
    {
      name: 'an order that is no list',
      given: {},
      patch: { '$setElementOrder/finalizers': 'a' },
      want: badRequest('expected a []interface {}, but received a string'),
    },
    {
      name: 'removals without a target',
      given: {},
      patch: { $deleteFromPrimitiveList: [] },
      want: badRequest('invalid patch format of primitive list'),
    },
    {
      name: 'a member that is not retained',
      given: {},
      patch: { $retainKeys: ['labels'], args: ['a'] },
      want: badRequest('invalid patch format of retainKeys'),
    },
    {
      name: 'a retainKeys that is no list',
      given: {},
      patch: { $retainKeys: 'labels' },
      want: badRequest('invalid patch format of retainKeys'),
    },
    {
      name: 'a merged list of maps without a key',
      given: { pairs: [{ a: 1 }] },
      patch: { pairs: [{ a: 2 }] },
      want: badRequest('cannot merge lists without merge key for struct'),
    },
    {
      name: 'lists of lists',
      given: { finalizers: ['a'] },
      patch: { finalizers: [['b']] },
      want: failure({
        message: 'the server rejected our request due to an error in our request',
        reason: 'Invalid',
        details: {},
        code: 422,
      }),
    },
    {
      name: 'a list of what is no object',
      given: { containers: [{ name: 'a' }] },
      patch: { containers: [5] },
      want: badRequest('list element types are not identical: [[map[name:a]] [5]]'),
    },
    {
      name: 'items of different types',
      given: { finalizers: ['a'] },
      patch: { finalizers: [1] },
      want: badRequest('list element types are not identical: [[a] [1]]'),
    },
  ]
  test.each(faults)('refuses $name', ({ given, patch, want }) => {
    expect(thrown(() => applyStrategicMergePatch(given, patch, schema))).toEqual(want)
  })
})
