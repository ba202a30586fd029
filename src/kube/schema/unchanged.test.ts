import { describe, expect, test } from 'vitest'
import type { JsonValue } from '../types.ts'
import type { Schema } from './schema.ts'
import { isUnchanged } from './unchanged.ts'
import { validateSchema } from './validate.ts'

const text: Schema = { type: 'string' }
const port: Schema = {
  type: 'object',
  properties: new Map([
    ['name', text],
    ['number', { type: 'integer' }],
  ]),
}
const ports: Schema = { type: 'array', listType: 'map', listMapKeys: ['name'], items: port }
const options = { compilePattern: (pattern: string) => new RegExp(pattern) }

describe('what did not change', () => {
  const http = { name: 'http', number: 80 }
  const dns = { name: 'dns', number: 53 }
  const cases: { name: string; schema: Schema; old: JsonValue; now: JsonValue; want: boolean }[] = [
    { name: 'an equal text', schema: text, old: 'a', now: 'a', want: true },
    { name: 'not another text', schema: text, old: 'a', now: 'b', want: false },
    { name: 'an equal object', schema: port, old: http, now: { number: 80, name: 'http' }, want: true },
    { name: 'not an object with one more', schema: port, old: { name: 'http' }, now: http, want: false },
    { name: 'not an object with one less', schema: port, old: http, now: { name: 'http' }, want: false },
    {
      name: 'not an object with a member that the schema does not name',
      schema: port,
      old: { name: 'http', of: 'x' },
      now: { name: 'http', of: 'x' },
      want: false,
    },
    {
      name: 'a map of named values',
      schema: { type: 'object', additionalProperties: port },
      old: { a: http, b: dns },
      now: { b: dns, a: http },
      want: true,
    },
    { name: 'a map list in another order', schema: ports, old: [http, dns], now: [dns, http], want: true },
    { name: 'not a map list with one more', schema: ports, old: [http], now: [dns, http], want: false },
    {
      name: 'not a map list with another value',
      schema: ports,
      old: [http],
      now: [{ ...http, number: 8080 }],
      want: false,
    },
    { name: 'not a map list of things without keys', schema: ports, old: ['x'], now: ['x'], want: false },
    {
      name: 'an equal plain list',
      schema: { type: 'array', items: text },
      old: ['a', 'b'],
      now: ['a', 'b'],
      want: true,
    },
    {
      name: 'not a plain list in another order',
      schema: { type: 'array', items: text },
      old: ['a', 'b'],
      now: ['b', 'a'],
      want: false,
    },
    { name: 'nothing that is of another kind', schema: ports, old: { 0: 'x' }, now: ['x'], want: false },
    { name: 'null', schema: text, old: null, now: null, want: true },
  ]
  test.each(cases)('$name', ({ schema, old, now, want }) => {
    expect(isUnchanged(now, { value: old, schema })).toBe(want)
  })

  test('nothing was there before', () => expect(isUnchanged('a', undefined)).toBe(false))
})

describe('an update of a resource that broke rules before', () => {
  const schema: Schema = {
    type: 'object',
    required: ['spec'],
    properties: new Map<string, Schema>([
      ['apiVersion', { type: 'string', pattern: '^example.com/v1$' }],
      ['ports', { ...ports, maxItems: 1 }],
      [
        'choice',
        {
          type: 'object',
          properties: new Map([['ports', ports]]),
          anyOf: [{ type: 'any', properties: new Map([['ports', { type: 'any', maxItems: 1 }]]) }],
        },
      ],
    ]),
  }
  const two = [{ name: 'a' }, { name: 'b' }]
  const old = { apiVersion: 'example.com/v2', metadata: { name: 'x' }, ports: two, choice: { ports: two } }
  const fieldsOf = (next: typeof old): string[] => validateSchema(next, schema, options, old).map((e) => e.field)

  test('is judged by its version and as a whole, even if nothing changed', () => {
    expect(fieldsOf(old)).toEqual(['apiVersion', 'spec'])
  })

  test('may put the items of a map list in another order', () => {
    const turned = two.toReversed()
    expect(fieldsOf({ ...old, ports: turned, choice: { ports: turned } })).toEqual(['apiVersion', 'spec'])
  })
})
