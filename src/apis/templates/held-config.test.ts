/** What is read from the fields that our apply owns, and where it says that nothing can be told. */
import { describe, expect, test } from 'vitest'
import type { ServedKind } from '../../client/client.ts'
import type { JsonObject, JsonValue, KubeObject, ManagedFieldsEntry } from '../../kube/types.ts'
import { configDigest, heldDigest, isItemOf } from './held-config.ts'
import { templateFieldManager } from './types.ts'

const kind = { group: '', version: 'v1', resource: 'things', kind: 'Thing', namespaced: true, verbs: [] } as ServedKind
const place = { name: 'one', namespace: 'team' }
const ours = (fieldsV1: JsonObject): ManagedFieldsEntry => ({
  ...{ manager: templateFieldManager, operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1 },
})
const held = (content: JsonObject, ...managedFields: ManagedFieldsEntry[]): string | undefined =>
  heldDigest({ metadata: { ...place, managedFields }, ...content }, kind)
const applied = (content: JsonObject, metadata: object = {}): string =>
  configDigest({ kind: 'Thing', ...content, metadata: { ...metadata, ...place }, apiVersion: 'v1' } as KubeObject)

const both = {
  a: [
    { name: 'x', port: 1, more: 1 },
    { name: 'y', port: 2 },
  ],
}
const item = (name: string): string => `k:${JSON.stringify({ name })}`

describe('what is ours', () => {
  test.each<{ name: string; content: JsonObject; fields: JsonObject; is: JsonObject }>([
    { name: 'is one field of several', content: { a: 1, b: 2 }, fields: { 'f:a': {} }, is: { a: 1 } },
    {
      name: 'is a map as a whole',
      content: { a: { b: 1, c: 2 } },
      fields: { 'f:a': { '.': {} } },
      is: { a: { b: 1, c: 2 } },
    },
    {
      name: 'is a field of a map',
      content: { a: { b: 1, c: 2 } },
      fields: { 'f:a': { '.': {}, 'f:b': {} } },
      is: { a: { b: 1 } },
    },
    {
      name: 'is an item by its keys, and of it what we gave',
      content: both,
      fields: { 'f:a': { [item('x')]: { '.': {}, 'f:name': {}, 'f:port': {} } } },
      is: { a: [{ name: 'x', port: 1 }] },
    },
    {
      name: 'are items in the order of the list',
      content: both,
      fields: { 'f:a': { [item('y')]: {}, [item('x')]: {} } },
      is: both,
    },
    {
      name: 'is an item by its value',
      content: { a: ['x', 'y'] },
      fields: { 'f:a': { 'v:"y"': {} } },
      is: { a: ['y'] },
    },
    { name: 'is a value that is null', content: { a: null }, fields: { 'f:a': {} }, is: { a: null } },
  ])('$name', ({ content, fields, is }) => {
    expect(held(content, ours(fields))).toBe(applied(is))
    expect(held(content, ours(fields))).not.toBe(applied({ ...is, z: 1 }))
  })

  test('is metadata, too, beside its place', () => {
    const object = { metadata: { ...place, labels: { a: '1', b: '2' }, managedFields: [] as ManagedFieldsEntry[] } }
    object.metadata.managedFields.push(ours({ 'f:metadata': { 'f:labels': { 'f:a': {} } } }))
    expect(heldDigest(object, kind)).toBe(applied({}, { labels: { a: '1' } }))
  })

  test('is read from the entry of our apply, and from no other', () => {
    const others: ManagedFieldsEntry[] = [
      { ...ours({ 'f:b': {} }), manager: 'other' },
      { ...ours({ 'f:b': {} }), operation: 'Update' },
      { ...ours({ 'f:b': {} }), subresource: 'status' },
    ]
    expect(held({ a: 1, b: 2 }, ...others, ours({ 'f:a': {} }))).toBe(applied({ a: 1 }))
    expect(held({ a: 1, b: 2 }, ...others)).toBeUndefined()
  })
})

describe('nothing can be told', () => {
  test.each<{ name: string; content: JsonObject; fields: JsonObject }>([
    { name: 'where a field is gone', content: {}, fields: { 'f:a': {} } },
    { name: 'where a field below it is gone', content: { a: { c: 1 } }, fields: { 'f:a': { 'f:b': {} } } },
    { name: 'where a map has become a text', content: { a: 'b' }, fields: { 'f:a': { 'f:b': {} } } },
    { name: 'where a map has become null', content: { a: null }, fields: { 'f:a': { 'f:b': {} } } },
    { name: 'where a list has become a map', content: { a: { name: 'x' } }, fields: { 'f:a': { [item('x')]: {} } } },
    { name: 'where a map has become a list', content: both, fields: { 'f:a': { 'f:b': {} } } },
    { name: 'where one of two items is gone', content: both, fields: { 'f:a': { [item('x')]: {}, [item('z')]: {} } } },
    { name: 'where a field of an item is gone', content: both, fields: { 'f:a': { [item('y')]: { 'f:more': {} } } } },
    {
      name: 'where a part is written in a form of the future',
      content: { a: { 'b:c': 1, c: 1 } },
      fields: { 'f:a': { 'x:c': {} } },
    },
  ])('$name', ({ content, fields }) => {
    expect(held(content, ours(fields))).toBeUndefined()
  })

  test('where it was applied in another version, or says nothing of fields', () => {
    expect(held({ a: 1 }, { ...ours({ 'f:a': {} }), apiVersion: 'v2' })).toBeUndefined()
    const { fieldsV1: _, ...without } = ours({})
    expect(held({ a: 1 }, without)).toBeUndefined()
    expect(heldDigest({ metadata: place }, kind)).toBeUndefined()
  })
})

test.each<[string, JsonValue, boolean]>([
  ['v:"x"', 'x', true],
  ['v:"x"', 'y', false],
  ['v:1', '1', false],
  ['k:{"name":"x"}', { name: 'x', port: 1 }, true],
  ['k:{"name":"x","port":2}', { name: 'x', port: 1 }, false],
  ['k:{"name":"x"}', 'x', false],
  ['k:{"name":"x"}', null, false],
  ['i:0', { name: 'x' }, false],
])('%s means the item %j: %s', (path, value, isSo) => {
  expect(isItemOf(path, value)).toBe(isSo)
})

test('the order of keys is no difference, that of items is', () => {
  const of = (a: JsonValue): string => configDigest({ metadata: place, a })
  expect(of({ b: 1, c: [{ d: 1, e: 2 }] })).toBe(of({ c: [{ e: 2, d: 1 }], b: 1 }))
  expect(of([1, 2])).not.toBe(of([2, 1]))
  expect(of(['a'])).not.toBe(of({ 0: 'a' }))
})
