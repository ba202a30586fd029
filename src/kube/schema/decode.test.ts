import { describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../types.ts'
import { DecodeError, type Dialect, decode, strictFaults } from './decode.ts'
import { applyDefaults } from './default.ts'
import { prune } from './prune.ts'
import type { Schema } from './schema.ts'

const fields = (properties: Record<string, Schema>, typeName?: string): Schema => ({
  type: 'object',
  properties: new Map(Object.entries(properties)),
  ...(typeName ? { typeName } : {}),
})
const text: Schema = { type: 'string' }
const meta = fields(
  {
    name: text,
    labels: { type: 'object', additionalProperties: text },
    creationTimestamp: { type: 'string', format: 'date-time' },
    finalizers: { type: 'array', items: text },
  },
  'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta',
)
const container = fields(
  { name: text, image: text, cpu: { type: 'quantity' }, port: { type: 'intOrString' } },
  'io.k8s.api.core.v1.Container',
)
const pod = fields(
  {
    apiVersion: text,
    kind: text,
    metadata: meta,
    spec: fields(
      {
        containers: { type: 'array', items: container },
        replicas: { type: 'integer', format: 'int32' },
        big: { type: 'integer', format: 'int64' },
        on: { type: 'boolean' },
        data: { type: 'object', additionalProperties: { type: 'string', format: 'byte' } },
        byName: { type: 'object', additionalProperties: container },
        micro: { type: 'string', format: 'micro-time' },
        raw: { type: 'any' },
      },
      'io.k8s.api.core.v1.PodSpec',
    ),
  },
  'io.k8s.api.core.v1.Pod',
)

describe('decoding a built-in kind', () => {
  const cases: { name: string; given: JsonObject; want: JsonObject; unknown?: string[] }[] = [
    { name: 'keeps what is in order', given: { metadata: { name: 'a' } }, want: { metadata: { name: 'a' } } },
    {
      name: 'drops unknown fields and says where they were',
      given: { bogus: 1, spec: { containers: [{ name: 'a', x: { y: 1 } }], byName: { 'a.b': { z: 1 } } } },
      want: { spec: { containers: [{ name: 'a' }], byName: { 'a.b': {} } } },
      unknown: ['bogus', 'spec.containers[0].x', 'spec.byName.a.b.z'],
    },
    {
      name: 'takes null for absent',
      given: { metadata: { name: null, labels: null }, spec: null },
      want: { metadata: {} },
    },
    {
      name: 'takes null inside lists and maps for the zero value',
      given: { metadata: { finalizers: [null, 'a'], labels: { x: null } }, spec: { containers: [null] } },
      want: { metadata: { finalizers: ['', 'a'], labels: { x: '' } }, spec: { containers: [{}] } },
    },
    {
      name: 'writes times in UTC',
      given: {
        metadata: { creationTimestamp: '2026-01-01T02:00:00.5+02:00' },
        spec: { micro: '2026-01-01T00:00:00Z' },
      },
      want: { metadata: { creationTimestamp: '2026-01-01T00:00:00Z' }, spec: { micro: '2026-01-01T00:00:00.000000Z' } },
    },
    {
      name: 'writes quantities in their canonical form',
      given: { spec: { containers: [{ cpu: 0.5 }, { cpu: '1000m' }, { cpu: '1Gi' }] } },
      want: { spec: { containers: [{ cpu: '500m' }, { cpu: '1' }, { cpu: '1Gi' }] } },
    },
    {
      name: 'keeps anything where anything may stand',
      given: { spec: { raw: { a: null } } },
      want: { spec: { raw: { a: null } } },
    },
    {
      name: 'ignores line breaks in base64',
      given: { spec: { data: { a: 'YW\nJj' } } },
      want: { spec: { data: { a: 'YWJj' } } },
    },
  ]
  test.each(cases)('$name', ({ given, want, unknown }) => {
    const before = JSON.stringify(given)
    expect(decode(given, pod)).toEqual({ value: want, unknownFields: unknown ?? [] })
    expect(JSON.stringify(given)).toBe(before)
  })

  test('gives back the very object when nothing changed', () => {
    const given = { metadata: { name: 'a', labels: { x: 'y' } }, spec: { containers: [{ name: 'a', cpu: '1' }] } }
    expect(decode(given, pod).value).toBe(given)
  })

  const faults: { given: JsonValue; want: string; dialect?: Dialect }[] = [
    {
      given: { metadata: { name: 5 } },
      want: 'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string',
    },
    {
      given: { metadata: 'x' },
      want: 'json: cannot unmarshal string into Go struct field Pod.metadata of type v1.ObjectMeta',
    },
    {
      given: { metadata: { labels: { a: true } } },
      want: 'json: cannot unmarshal bool into Go struct field ObjectMeta.metadata.labels of type string',
    },
    {
      given: { metadata: { labels: ['a'] } },
      want: 'json: cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type map[string]string',
    },
    {
      given: { spec: { containers: {} } },
      want: 'json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container',
    },
    {
      given: { spec: { containers: [{ image: 1 }] } },
      want: 'json: cannot unmarshal number into Go struct field Container.spec.containers.image of type string',
    },
    {
      given: { spec: { byName: { k: { image: 1 } } } },
      want: 'json: cannot unmarshal number into Go struct field Container.spec.byName.image of type string',
    },
    {
      given: { spec: { replicas: 1.5 } },
      want: 'json: cannot unmarshal number 1.5 into Go struct field PodSpec.spec.replicas of type int32',
    },
    {
      given: { spec: { replicas: 3_000_000_000 } },
      want: 'json: cannot unmarshal number 3000000000 into Go struct field PodSpec.spec.replicas of type int32',
    },
    {
      given: { spec: { replicas: '1' } },
      want: 'json: cannot unmarshal string into Go struct field PodSpec.spec.replicas of type int32',
    },
    {
      given: { spec: { on: 'yes' } },
      want: 'json: cannot unmarshal string into Go struct field PodSpec.spec.on of type bool',
    },
    { given: { spec: { data: { a: '!!!!' } } }, want: 'illegal base64 data at input byte 0' },
    {
      given: { spec: { containers: [{ port: true }] } },
      want: 'json: cannot unmarshal bool into Go value of type int32',
    },
    {
      given: { spec: { containers: [{ cpu: 'lots' }] } },
      want: "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    },
    {
      given: { metadata: { creationTimestamp: 'now' } },
      want: 'parsing time "now" as "2006-01-02T15:04:05Z07:00": cannot parse "now" as "2006"',
    },
    {
      given: { metadata: { creationTimestamp: 1 } },
      want: 'json: cannot unmarshal number into Go value of type string',
    },
    { given: [], want: 'json: cannot unmarshal array into Go value of type v1.Pod' },
    { given: { metadata: { labels: 5 } }, dialect: 'map', want: 'cannot restore map from int64' },
    { given: { metadata: 'x' }, dialect: 'map', want: 'cannot restore struct from: string' },
    { given: { spec: { containers: 5.5 } }, dialect: 'map', want: 'cannot restore slice from float64' },
    { given: { metadata: { name: 5 } }, dialect: 'map', want: 'cannot convert int64 to string' },
  ]
  test.each(faults)('refuses $given ($dialect)', ({ given, want, dialect }) => {
    expect(() => decode(given, pod, dialect)).toThrow(new DecodeError(want))
  })

  test('words what strict field validation finds', () => {
    const found = { duplicates: ['spec.twice', 'spec.bogus', 'metadata.name'] }
    const unknown = ['spec.bogus', 'metadata.odd']
    expect(strictFaults(found, unknown), 'duplicates, then what is unknown, in order').toEqual([
      'duplicate field "spec.twice"',
      'duplicate field "spec.bogus"',
      'duplicate field "metadata.name"',
      'unknown field "metadata.odd"',
      'unknown field "spec.bogus"',
    ])
    const body = { metadata: { name: 'a', odd: 1 }, spec: { bogus: 2, twice: 3 } }
    expect(strictFaults(found, unknown, body), 'as they stand in the body, each once').toEqual([
      'duplicate field "metadata.name"',
      'unknown field "metadata.odd"',
      'unknown field "spec.bogus"',
      'duplicate field "spec.twice"',
    ])
    const repeats = ['line 3: key "a" already set in map', 'line 9: key "b" already set in map']
    expect(strictFaults({ duplicates: [], repeats }, ['z', 'y']), 'of YAML').toEqual([
      'yaml: unmarshal errors:\n  line 3: key "a" already set in map\n  line 9: key "b" already set in map',
      'unknown field "y"',
      'unknown field "z"',
    ])
  })
})

describe('pruning a custom resource', () => {
  const schema = fields({
    spec: fields({
      known: text,
      map: { type: 'object', additionalProperties: fields({ a: text }) },
      free: { ...fields({ inner: fields({ a: text }) }), preserveUnknownFields: true },
      anything: { type: 'any', preserveUnknownFields: true },
      embedded: { ...fields({ spec: fields({ a: text }) }), embeddedResource: true },
      list: { type: 'array', items: fields({ a: text }) },
    }),
  })
  const cases: { name: string; given: JsonObject; want: JsonObject; unknown: string[] }[] = [
    {
      name: 'drops what the schema does not know, at every depth',
      given: { x: 1, spec: { y: 1, known: 'k', list: [{ a: '1', b: 2 }], map: { m: { a: '1', c: 1 } } } },
      want: { spec: { known: 'k', list: [{ a: '1' }], map: { m: { a: '1' } } } },
      unknown: ['spec.list[0].b', 'spec.map.m.c', 'spec.y', 'x'],
    },
    {
      name: 'keeps unknown fields where told, but prunes what is specified there',
      given: { spec: { free: { other: { deep: [{ x: 1 }] }, inner: { a: '1', b: 1 } }, anything: [{ x: [1] }] } },
      want: { spec: { free: { other: { deep: [{ x: 1 }] }, inner: { a: '1' } }, anything: [{ x: [1] }] } },
      unknown: ['spec.free.inner.b'],
    },
    {
      name: 'leaves apiVersion and kind alone, and decodes metadata, also of embedded resources',
      given: {
        apiVersion: 'a/v1',
        kind: 'A',
        metadata: { name: 'n', extra: 1 },
        spec: { embedded: { apiVersion: 'b/v1', kind: 'B', metadata: { name: 'm', more: 1 }, spec: { a: '1', b: 1 } } },
      },
      want: {
        apiVersion: 'a/v1',
        kind: 'A',
        metadata: { name: 'n' },
        spec: { embedded: { apiVersion: 'b/v1', kind: 'B', metadata: { name: 'm' }, spec: { a: '1' } } },
      },
      unknown: ['metadata.extra', 'spec.embedded.metadata.more', 'spec.embedded.spec.b'],
    },
  ]
  test.each(cases)('$name', ({ given, want, unknown }) => {
    const before = JSON.stringify(given)
    expect(prune(given, schema, meta)).toEqual({ value: want, unknownFields: unknown })
    expect(JSON.stringify(given)).toBe(before)
  })

  test('gives back the very object when nothing is unknown', () => {
    const given = { spec: { known: 'k', free: { x: { y: 1 } } } }
    expect(prune(given, schema, meta).value).toBe(given)
  })
})

describe('schema defaults', () => {
  const schema = fields({
    a: { type: 'integer', default: 1 },
    nested: { ...fields({ b: { type: 'string', default: 'x' } }), default: {} },
    optional: fields({ b: { type: 'string', default: 'x' } }),
    list: { type: 'array', items: fields({ b: { type: 'string', default: 'x' } }) },
    map: { type: 'object', additionalProperties: { type: 'string', default: 'd' } },
    maybe: { type: 'string', nullable: true, default: 'y' },
    plain: { type: 'string' },
  })
  const cases: { name: string; given: JsonObject; want: JsonObject }[] = [
    { name: 'fill what is missing, and below defaults too', given: {}, want: { a: 1, nested: { b: 'x' }, maybe: 'y' } },
    {
      name: 'reach into what is there, and make nothing else',
      given: { a: 2, nested: {}, optional: {}, list: [{}, { b: 'z' }], maybe: 'm' },
      want: { a: 2, nested: { b: 'x' }, optional: { b: 'x' }, list: [{ b: 'x' }, { b: 'z' }], maybe: 'm' },
    },
    {
      name: 'take the place of null, unless null is allowed',
      given: { a: null, nested: null, maybe: null, map: { k: null } },
      want: { a: 1, nested: { b: 'x' }, maybe: null, map: { k: 'd' } },
    },
    {
      name: 'leave a null alone that has no default',
      given: { a: 1, nested: { b: 'c' }, maybe: 'm', plain: null },
      want: { a: 1, nested: { b: 'c' }, maybe: 'm', plain: null },
    },
  ]
  test.each(cases)('$name', ({ given, want }) => {
    const before = JSON.stringify(given)
    const result = applyDefaults(given, schema)
    expect(result).toEqual(want)
    expect(JSON.stringify(given)).toBe(before)
    expect(applyDefaults(result, schema)).toBe(result)
  })
})
