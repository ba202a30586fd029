import { describe, expect, test } from 'vitest'
import { notDns1035, notQualified } from '../../../test/support/name-faults.ts'
import { faultsOf } from '../../../test/support/refusal.ts'
import { exactNumber } from '../json-value.ts'
import type { JsonObject, JsonValue } from '../types.ts'
import { hasFormat } from './formats.ts'
import { validateListTypes } from './list-types.ts'
import type { Schema } from './schema.ts'
import { validateSchema } from './validate.ts'

const fields = (properties: Record<string, Schema>, more: Partial<Schema> = {}): Schema => ({
  type: 'object',
  properties: new Map(Object.entries(properties)),
  ...more,
})
const options = { compilePattern: (pattern: string) => new RegExp(pattern, 'u') }

function faults(spec: JsonObject, specSchema: Schema, old?: JsonObject): string[] {
  const schema = fields({ spec: specSchema })
  return faultsOf(validateSchema({ spec }, schema, options, old && { spec: old }))
}

const any: Schema = { type: 'any' }
const integer: Schema = { type: 'integer' }

describe('structural validation', () => {
  const cases: {
    name: string
    schema: Record<string, Schema>
    required?: string[]
    given: JsonObject
    want: string[]
  }[] = [
    { name: 'accepts what fits', schema: { a: integer, b: { type: 'number' } }, given: { a: 1, b: 2 }, want: [] },
    {
      name: 'names the type it wants and the one it got',
      schema: { size: integer },
      given: { size: 'x' },
      want: ['spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"'],
    },
    {
      name: 'takes no fraction for an integer or a string',
      schema: { port: { type: 'intOrString' } },
      given: { port: 1.5 },
      want: ['spec.port: Invalid value: "number": spec.port in body must be of type integer,string: "number"'],
    },
    {
      name: 'refuses null unless it is allowed',
      schema: { a: integer, b: { type: 'integer', nullable: true } },
      given: { a: null, b: null },
      want: ['spec.a: Invalid value: "null": spec.a in body must be of type integer: "null"'],
    },
    {
      name: 'lists the values of an enum',
      schema: { color: { type: 'string', enum: ['red', 'blue'] }, n: { type: 'integer', enum: [1, 2] } },
      given: { color: 'green', n: 3 },
      want: [
        'spec.color: Unsupported value: "green": supported values: "red", "blue"',
        'spec.n: Unsupported value: 3: supported values: "1", "2"',
      ],
    },
    {
      name: 'bounds the length of texts in characters',
      schema: {
        a: { type: 'string', maxLength: 2 },
        b: { type: 'string', minLength: 3 },
        c: { type: 'string', maxLength: 2 },
      },
      given: { a: 'abc', b: 'ab', c: '😀😀' },
      want: [
        'spec.a: Too long: may not be more than 2 bytes',
        'spec.b: Invalid value: "ab": spec.b in body should be at least 3 chars long',
      ],
    },
    {
      name: 'quotes the pattern',
      schema: { a: { type: 'string', pattern: '^a$' }, b: { type: 'string', pattern: '(' } },
      given: { a: 'b', b: 'c' },
      want: [
        'spec.a: Invalid value: "b": spec.a in body should match \'^a$\'',
        expect.stringMatching(
          /^spec\.b: Invalid value: "c": spec\.b in body should match '\(, but pattern is invalid: /,
        ) as unknown as string,
      ],
    },
    {
      name: 'bounds numbers, with and without the bound itself',
      schema: {
        a: { type: 'integer', maximum: 10 },
        b: { type: 'integer', minimum: 1 },
        c: { type: 'number', maximum: 1.5, exclusiveMaximum: true },
        d: { type: 'integer', minimum: 1, exclusiveMinimum: true },
        e: { type: 'number', multipleOf: 0.1 },
        f: { type: 'integer', multipleOf: 3 },
      },
      given: { a: 11, b: 0, c: 1.5, d: 1, e: 0.3, f: 4 },
      want: [
        'spec.a: Invalid value: 11: spec.a in body should be less than or equal to 10',
        'spec.b: Invalid value: 0: spec.b in body should be greater than or equal to 1',
        'spec.c: Invalid value: 1.5: spec.c in body should be less than 1.5',
        'spec.d: Invalid value: 1: spec.d in body should be greater than 1',
        'spec.f: Invalid value: 4: spec.f in body should be a multiple of 3',
      ],
    },
    {
      name: 'compares 64-bit integers exactly',
      schema: { a: { type: 'integer', multipleOf: 2 }, b: { type: 'integer', maximum: 10 } },
      given: {
        a: exactNumber('9007199254740993') as unknown as JsonValue,
        b: exactNumber('9007199254740993') as unknown as JsonValue,
      },
      want: [
        'spec.a: Invalid value: 9007199254740993: spec.a in body should be a multiple of 2',
        'spec.b: Invalid value: 9007199254740993: spec.b in body should be less than or equal to 10',
      ],
    },
    {
      name: 'bounds lists and maps',
      schema: {
        a: { type: 'array', items: any, maxItems: 2 },
        b: { type: 'array', items: any, minItems: 1 },
        c: { type: 'object', additionalProperties: any, maxProperties: 1 },
        d: { type: 'object', additionalProperties: any, minProperties: 1 },
      },
      given: { a: [1, 2, 3], b: [], c: { x: 1, y: 2 }, d: {} },
      want: [
        'spec.a: Too many: 3: must have at most 2 items',
        'spec.b: Invalid value: 0: spec.b in body should have at least 1 items',
        'spec.c: Too many: 2: must have at most 1 item',
        'spec.d: Invalid value: 0: spec.d in body should have at least 1 properties',
      ],
    },
    {
      name: 'finds its way through lists and maps',
      schema: {
        l: { type: 'array', items: fields({ a: integer }) },
        m: { type: 'object', additionalProperties: integer },
      },
      given: { l: [{ a: 1 }, { a: 'x' }], m: { 'k.1': 'y' } },
      want: [
        'spec.l[1].a: Invalid value: "string": spec.l[1].a in body must be of type integer: "string"',
        'spec.m.k.1: Invalid value: "string": spec.m.k.1 in body must be of type integer: "string"',
      ],
    },
    {
      name: 'asks for what is required',
      schema: { x: any },
      required: ['x'],
      given: {},
      want: ['spec.x: Required value'],
    },
    {
      name: 'checks known formats and ignores others',
      schema: { a: { type: 'string', format: 'date-time' }, b: { type: 'string', format: 'no-such-format' } },
      given: { a: 'soon', b: 'x' },
      want: ['spec.a: Invalid value: "soon": spec.a in body must be of type date-time: "soon"'],
    },
    {
      name: 'reports the best branch of an anyOf, and that none fits',
      schema: { a: { type: 'any', anyOf: [{ type: 'string' }, { type: 'integer', minimum: 5 }] } },
      given: { a: 1 },
      want: [
        '<nil>: Invalid value: "": "spec.a" must validate at least one schema (anyOf)',
        'spec.a: Invalid value: 1: spec.a in body should be greater than or equal to 5',
      ],
    },
    {
      name: 'wants exactly one branch of a oneOf',
      schema: {
        a: {
          type: 'integer',
          oneOf: [
            { type: 'any', minimum: 1 },
            { type: 'any', maximum: 9 },
          ],
        },
      },
      given: { a: 5 },
      want: [
        '<nil>: Invalid value: "": "spec.a" must validate one and only one schema (oneOf). Found 2 valid alternatives',
      ],
    },
    {
      name: 'wants all of an allOf, and none of a not',
      schema: { a: { type: 'integer', allOf: [{ type: 'any', minimum: 9 }], not: { type: 'any', enum: [5] } } },
      given: { a: 5 },
      want: [
        'spec.a: Invalid value: 5: spec.a in body should be greater than or equal to 9',
        '<nil>: Invalid value: "": "spec.a" must validate all the schemas (allOf). None validated',
        '<nil>: Invalid value: "": "spec.a" must not validate the schema (not)',
      ],
    },
  ]
  test.each(cases)('$name', ({ schema, required, given, want }) =>
    expect(faults(given, fields(schema, required ? { required } : {}))).toEqual(want),
  )

  test('tolerates on update what was wrong before and is unchanged', () => {
    const item = fields({ name: { type: 'string' }, size: { type: 'integer', maximum: 10 } })
    const schema = fields({
      size: { type: 'integer', maximum: 10 },
      color: { type: 'string', maxLength: 3 },
      items: { type: 'array', listType: 'map', listMapKeys: ['name'], items: item },
      plain: { type: 'array', items: item },
    })
    const old = { size: 99, color: 'red', items: [{ name: 'a', size: 99 }], plain: [{ name: 'a', size: 99 }] }
    const next = {
      ...old,
      color: 'green',
      items: [
        { name: 'b', size: 98 },
        { name: 'a', size: 99 },
      ],
      plain: [...old.plain, { name: 'c' }],
    }
    expect(faults(next, schema, old).map((f) => f.split(':')[0])).toEqual([
      'spec.color',
      'spec.items[0].size',
      'spec.plain[0].size',
    ])
  })

  test('stops after a thousand errors', () => {
    const given = { l: Array.from({ length: 50_000 }, () => 'x') }
    const errors = faults(given, fields({ l: { type: 'array', items: integer } }))
    expect(errors.length).toBeGreaterThan(999)
    expect(errors.length).toBeLessThan(1100)
  })
})

describe('list types', () => {
  const schema = fields({
    set: { type: 'array', listType: 'set', items: any },
    map: { type: 'array', listType: 'map', listMapKeys: ['k'], items: fields({ k: { type: 'string' } }) },
    pairs: { type: 'array', listType: 'map', listMapKeys: ['k', 'p'], items: fields({}) },
    inner: { type: 'object', additionalProperties: { type: 'array', listType: 'set', items: any } },
    embedded: { type: 'object', embeddedResource: true, preserveUnknownFields: true },
  })
  const cases: { name: string; given: JsonObject; want: string[] }[] = [
    {
      name: 'accept lists without repeats',
      given: {
        set: ['a', 'b'],
        map: [{ k: 'a' }, { k: 'b' }],
        pairs: [
          { k: 1, p: 1 },
          { k: 1, p: 2 },
        ],
      },
      want: [],
    },
    {
      name: 'report each repeated member of a set once',
      given: { set: ['a', 'a', 'a', { x: 1, y: 2 }, { y: 2, x: 1 }] },
      want: ['set[1]: Duplicate value: "a"', 'set[4]: Duplicate value: {"y":2,"x":1}'],
    },
    {
      name: 'report repeated keys of a map by their keys',
      given: {
        map: [
          { k: 'a', v: 1 },
          { k: 'a', v: 2 },
        ],
        pairs: [{ k: 1 }, { k: 1, z: 1 }],
      },
      want: ['map[1]: Duplicate value: {"k":"a"}', 'pairs[1]: Duplicate value: {"k":1}'],
    },
    {
      name: 'want objects in a map',
      given: { map: ['x'] },
      want: ['map[0]: Invalid value: "x": must be an object for an array of list-type map'],
    },
    { name: 'are found below maps', given: { inner: { k: [1, 1] } }, want: ['inner[k][1]: Duplicate value: 1'] },
    {
      name: 'want an embedded resource to say what it is',
      given: { embedded: { kind: 'A_b', metadata: { labels: { '': 'x' } } } },
      want: [
        'embedded.apiVersion: Required value',
        `embedded.kind: Invalid value: "A_b": may have mixed case, but should otherwise match: ${notDns1035}`,
        'embedded.metadata.labels: Invalid value: "": name part must be non-empty',
        `embedded.metadata.labels: Invalid value: "": ${notQualified}`,
      ],
    },
    {
      name: 'want an embedded resource to say it as text',
      given: { embedded: { apiVersion: 1, kind: 1 } },
      want: [
        'embedded.apiVersion: Invalid value: 1: must be a string',
        'embedded.kind: Invalid value: 1: must be a string',
      ],
    },
    {
      name: 'want an embedded resource to say it in words',
      given: { embedded: { apiVersion: '', kind: '' } },
      want: [
        'embedded.apiVersion: Invalid value: "": must not be empty',
        'embedded.kind: Invalid value: "": must not be empty',
      ],
    },
    {
      name: 'want an embedded resource to be of one group and version',
      given: { embedded: { apiVersion: 'a/b/c' } },
      want: [
        'embedded.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
        'embedded.kind: Required value',
      ],
    },
  ]
  test.each(cases)('$name', ({ given, want }) => expect(faultsOf(validateListTypes(given, schema))).toEqual(want))
})

describe('string formats', () => {
  const cases: [format: string, good: string[], bad: string[]][] = [
    ['ipv4', ['10.0.0.1'], ['10.0.0', '::1']],
    ['ipv6', ['::1'], ['10.0.0.1', 'fe80::1%eth0']],
    ['cidr', ['10.0.0.0/8', '::/0'], ['10.0.0.0', '10.0.0.0/33', '10.0.0.0/08']],
    ['mac', ['01:23:45:67:89:ab', '0123.4567.89ab'], ['01:23']],
    ['uuid', ['A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'], ['nope']],
    ['uuid4', ['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'], ['a0eebc99-9c0b-1ef8-bb6d-6bb9bd380a11']],
    ['hostname', ['a.example.com', 'localhost', '1a'], ['-a', 'a..b', 'a.b.1']],
    ['email', ['a.b@example.com', 'A <a@b.c>'], ['a', 'a@', 'a b@c.d']],
    ['uri', ['https://a/b', '/a', 'urn:x'], ['a b', 'a', '%zz', '']],
    ['date', ['2024-02-29'], ['2023-02-29', '2024-2-2']],
    ['date-time', ['2024-02-29T10:00:00Z', '2024-02-29T10:00:00.5+01:00'], ['2024-02-29']],
    ['duration', ['22ns', '3 days', '1h30m'], ['soon']],
    ['byte', ['YWJj', ''], ['YWJ']],
    ['isbn', ['978-0321751041', '0321751043'], ['0321751044']],
    ['creditcard', ['4111 1111 1111 1111'], ['4111 1111 1111 1112']],
    ['ssn', ['123-45-6789'], ['123']],
    ['hexcolor', ['#fff', 'FFFFFF'], ['#ff']],
    ['rgbcolor', ['rgb(255, 0, 1)'], ['rgb(256,0,0)']],
    ['bsonobjectid', ['507f1f77bcf86cd799439011'], ['507f']],
    ['k8s-short-name', ['a-b'], ['A', 'a.b']],
    ['k8s-long-name', ['a.b'], ['A']],
  ]
  test.each(cases)('%s', (format, good, bad) => {
    expect(good.filter((text) => !hasFormat(format, text))).toEqual([])
    expect(bad.filter((text) => hasFormat(format, text))).toEqual([])
  })
})

test('the values of an enum are looked at once, however many are held against them', () => {
  let looks = 0
  const texts = Array.from({ length: 100 }, (_, i) => `v${i}`)
  const counted = new Proxy<readonly JsonValue[]>([...texts, 7, null, true, { a: 1 }], {
    get(target, name) {
      if (typeof name === 'string' && /^[0-9]+$/.test(name)) looks++
      return Reflect.get(target, name) as unknown
    },
  })
  const schema = fields({ spec: { type: 'array', items: { type: 'any', nullable: true, enum: counted } } })
  expect(validateSchema({ spec: [...texts, 7, true, { a: 1 }] }, schema, options)).toEqual([])
  // Once for the set, once for what is no text and no number.
  expect(looks).toBeLessThanOrEqual(2 * counted.length + 2)
  expect(validateSchema({ spec: ['v100', 8, false, { a: 2 }] }, schema, options)).toHaveLength(4)
})
