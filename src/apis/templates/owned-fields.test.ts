/** Parts of an object that a field manager owns: left out of what is applied, or taken over from what is there. */
import { describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue, KubeObject } from '../../kube/types.ts'
import { fieldsOf, withFields, withoutFields } from './owned-fields.ts'

test('the fields of managers are those of their entries, but for their status', () => {
  const entries = [
    { manager: 'a', fieldsV1: { 'f:a': {} } },
    { manager: 'a', subresource: 'status', fieldsV1: { 'f:status': {} } },
    { manager: 'a', subresource: 'scale', fieldsV1: { 'f:scale': {} } },
    { manager: 'b', fieldsV1: { 'f:b': {} } },
    { manager: 'c', fieldsV1: { 'f:c': {} } },
    { manager: 'b' },
    { fieldsV1: { 'f:d': {} } },
  ]
  const object = { metadata: { name: 'n', managedFields: entries } } as unknown as KubeObject
  expect(fieldsOf(object, ['a', 'b'])).toEqual([{ 'f:a': {} }, { 'f:scale': {} }, { 'f:b': {} }])
  expect(fieldsOf(object, [])).toEqual([])
  expect(fieldsOf({ metadata: { name: 'n' } }, ['a'])).toEqual([])
})

const port = (number: number, name?: string): JsonObject => ({ port: number, ...(name === undefined ? {} : { name }) })

describe('without what is owned', () => {
  test.each<{ name: string; value: JsonValue; fields: JsonObject; left: JsonValue | undefined }>([
    { name: 'all of it goes where nothing stands below', value: { a: 1 }, fields: {}, left: undefined },
    { name: 'and where only itself does', value: { a: 1 }, fields: { '.': {} }, left: undefined },
    { name: 'a field goes', value: { a: 1, b: 2 }, fields: { 'f:a': {} }, left: { b: 2 } },
    { name: 'one that is not there is none', value: { b: 2 }, fields: { 'f:a': {} }, left: { b: 2 } },
    {
      name: 'a field within goes',
      value: { a: { b: 1, c: 2 } },
      fields: { 'f:a': { 'f:b': {} } },
      left: { a: { c: 2 } },
    },
    { name: 'a value that has no fields stays', value: { a: 1 }, fields: { 'f:a': { 'f:b': {} } }, left: { a: 1 } },
    { name: 'keys of items are no fields', value: { a: 1 }, fields: { 'k:a': {}, 'f:b': {} }, left: { a: 1 } },
    { name: 'an item of a set goes by its value', value: ['a', 'b'], fields: { 'v:"a"': {} }, left: ['b'] },
    {
      name: 'an item that is owned itself goes',
      value: [port(1, 'x'), port(2)],
      fields: { 'k:{"port":1}': { '.': {}, 'f:port': {} } },
      left: [port(2)],
    },
    {
      name: 'of one that is owned in part the part goes',
      value: [port(1, 'x'), port(2, 'y')],
      fields: { 'k:{"port":1}': { 'f:name': {} } },
      left: [port(1), port(2, 'y')],
    },
    {
      name: 'what is owned is left as it is where its fields can not be read',
      value: { a: { b: 1 } },
      fields: { 'f:a': 'text' },
      left: {},
    },
  ])('$name', ({ value, fields, left }) => {
    const before = structuredClone(value)
    expect(withoutFields(value, fields)).toEqual(left)
    expect(value).toEqual(before)
  })
})

describe('with what is owned there', () => {
  test.each<{ name: string; value: JsonValue | undefined; live: JsonValue; fields: JsonObject; whole: JsonValue }>([
    { name: 'all of it where nothing stands below', value: { a: 1 }, live: { b: 2 }, fields: {}, whole: { b: 2 } },
    { name: 'a field', value: { a: 1 }, live: { a: 2, b: 3 }, fields: { 'f:b': {} }, whole: { a: 1, b: 3 } },
    { name: 'a field that both have', value: { a: 1 }, live: { a: 2 }, fields: { 'f:a': {} }, whole: { a: 2 } },
    { name: 'none that is not there', value: { a: 1 }, live: {}, fields: { 'f:b': {} }, whole: { a: 1 } },
    { name: 'no field by the key of an item', value: { a: 1 }, live: { b: 2 }, fields: { 'k:b': {} }, whole: { a: 1 } },
    {
      name: 'a field within what is new',
      value: undefined,
      live: { a: { b: 1, c: 2 } },
      fields: { 'f:a': { 'f:b': {} } },
      whole: { a: { b: 1 } },
    },
    { name: 'a text in the place of fields', value: { a: 1 }, live: 'x', fields: { 'f:a': {} }, whole: 'x' },
    { name: 'fields in the place of a text', value: 'x', live: { a: 1 }, fields: { 'f:a': {} }, whole: { a: 1 } },
    {
      name: 'an item that is new, behind the others',
      value: [port(1)],
      live: [port(2, 'y'), port(1)],
      fields: { 'k:{"port":2}': { '.': {} } },
      whole: [port(1), port(2, 'y')],
    },
    {
      name: 'a part of an item that both have',
      value: [port(1), port(2)],
      live: [port(2, 'y'), port(1, 'x')],
      fields: { 'k:{"port":2}': { 'f:name': {} } },
      whole: [port(1), port(2, 'y')],
    },
    {
      name: 'the first of the items likewise',
      value: [port(1), port(2)],
      live: [port(2, 'y'), port(1, 'x')],
      fields: { 'k:{"port":1}': { 'f:name': {} } },
      whole: [port(1, 'x'), port(2)],
    },
    { name: 'no item that is gone', value: ['a'], live: ['b'], fields: { 'v:"c"': {} }, whole: ['a'] },
    { name: 'a list in the place of nothing', value: undefined, live: ['b'], fields: { 'v:"b"': {} }, whole: ['b'] },
  ])('$name', ({ value, live, fields, whole }) => {
    const before = structuredClone(value)
    expect(withFields(value, live, fields)).toEqual(whole)
    expect(value).toEqual(before)
  })
})
