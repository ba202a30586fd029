import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cloneJson } from './clone-json.ts'
import { exactNumber } from './json-value.ts'
import { objectKey, objectsPrefixOf, parseObjectKey } from './object-key.ts'
import {
  asStored,
  encodeStored,
  listItem,
  metadataEnd,
  parseStored,
  parseStoredMetadata,
  type StoredBytes,
  singleObject,
  type TypeHead,
  watchLine,
} from './stored-form.ts'
import { parseJson } from './strict-json.ts'
import type { KubeObject } from './types.ts'

const configMap: TypeHead = { group: '', version: 'v1', kind: 'ConfigMap', custom: false }
const widget: TypeHead = { group: 'ex.io', version: 'v1', kind: 'Widget', custom: true }
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString()
const storedBytes = (bytes: Uint8Array): StoredBytes => ({
  sizeBytes: bytes.length,
  copyTo: (target, at, from) => {
    target.set(bytes.subarray(from), at)
    return bytes.length - from
  },
})

const object: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  data: { ü: '"\u0001' },
  metadata: {
    managedFields: [],
    labels: { a: 'b' },
    resourceVersion: '99',
    uid: 'u',
    creationTimestamp: null,
    generation: 0,
    deletionGracePeriodSeconds: 0,
    name: 'n',
    annotations: {},
  },
}
const stored =
  '{"metadata":{"name":"n","uid":"u","deletionGracePeriodSeconds":0,"labels":{"a":"b"}},"data":{"ü":"\\"\\u0001"}}'

test('stored: no TypeMeta, no resourceVersion, metadata first and in order, empty fields dropped', () => {
  expect(text(encodeStored(object))).toBe(stored)
})

const framings = [
  {
    name: 'a single object of a built-in kind',
    given: (b: StoredBytes) => singleObject(configMap, 7, b),
    want: `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"7",${stored.slice(13)}`,
  },
  {
    name: 'a dry run has no resourceVersion',
    given: (b: StoredBytes) => singleObject(configMap, 0, b),
    want: `{"kind":"ConfigMap","apiVersion":"v1","metadata":{${stored.slice(13)}`,
  },
  {
    name: 'custom resources print apiVersion first',
    given: (b: StoredBytes) => singleObject(widget, 7, b),
    want: `{"apiVersion":"ex.io/v1","kind":"Widget","metadata":{"resourceVersion":"7",${stored.slice(13)}`,
  },
  {
    name: 'list items of built-in kinds have no TypeMeta',
    given: (b: StoredBytes) => listItem(configMap, 7, b),
    want: `{"metadata":{"resourceVersion":"7",${stored.slice(13)}`,
  },
  {
    name: 'list items of custom resources have',
    given: (b: StoredBytes) => listItem(widget, 7, b),
    want: `{"apiVersion":"ex.io/v1","kind":"Widget","metadata":{"resourceVersion":"7",${stored.slice(13)}`,
  },
  {
    name: 'a watch line',
    given: (b: StoredBytes) => watchLine('ADDED', configMap, 7, b),
    want:
      `{"type":"ADDED","object":{"kind":"ConfigMap","apiVersion":"v1",` +
      `"metadata":{"resourceVersion":"7",${stored.slice(13)}}\n`,
  },
]
for (const { name, given, want } of framings) {
  test(`framing: ${name}`, () => {
    expect(text(given(storedBytes(encodeStored(object))))).toBe(want)
    expect(() => JSON.parse(want)).not.toThrow()
  })
}

test('parsing the stored form gives what a client reads', () => {
  expect(parseStored(encodeStored(object), configMap, 7)).toEqual(
    JSON.parse(text(singleObject(configMap, 7, storedBytes(encodeStored(object))))),
  )
})

test('integers beyond 2^53 survive store and clone', () => {
  const exact = { metadata: { name: 'n' }, spec: { big: exactNumber('9223372036854775807') } }
  const bytes = encodeStored(cloneJson(exact))
  expect(text(bytes)).toContain('"big":9223372036854775807')
  expect(text(encodeStored(parseStored(bytes, widget, 3)))).toBe(text(bytes))
})

test('an object without a name is refused', () => {
  expect(() => encodeStored({ metadata: {} })).toThrow(TypeError)
})

test('any JSON survives encode, parse and clone', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (spec) => {
      const made = { metadata: { name: 'n' }, spec: JSON.parse(JSON.stringify(spec)) as unknown }
      const parsed = parseStored(encodeStored(cloneJson(made)), widget, 5)
      expect(JSON.stringify(parsed['spec'])).toBe(JSON.stringify(made.spec))
    }),
    { numRuns: 200 },
  )
})

test('an object as it is stored is what its bytes are parsed to', () => {
  const metadata = fc.record(
    {
      generateName: fc.constantFrom('', 'n-'),
      generation: fc.nat(2),
      creationTimestamp: fc.constantFrom(null, '2026-01-01T00:00:00Z'),
      resourceVersion: fc.constant('99'),
      labels: fc.dictionary(fc.string(), fc.string(), { noNullPrototype: true }),
      finalizers: fc.array(fc.string()),
      clusterName: fc.constant('unknown'),
    },
    { requiredKeys: [], noNullPrototype: true },
  )
  const types = fc.constantFrom(configMap, widget)
  fc.assert(
    fc.property(types, fc.jsonValue(), metadata, fc.nat(9), (type, spec, given, revision) => {
      const made = { spec: parseJson(JSON.stringify(spec)).value, status: undefined, metadata: { ...given, name: 'n' } }
      const parsed = parseStored(encodeStored(made), type, revision)
      expect(asStored(made, type, revision)).toStrictEqual(parsed)
      expect(JSON.stringify(asStored(made, type, revision))).toBe(JSON.stringify(parsed))
    }),
    { numRuns: 300 },
  )
})

test('keys are read as they are written', () => {
  expect(objectKey('pods', 'a', 'x')).toBe('/registry/pods/a/x')
  expect(objectKey('widgets.ex.io', '', 'x')).toBe('/registry/widgets.ex.io/x')
  expect(objectsPrefixOf('pods')).toBe('/registry/pods/')
  expect(parseObjectKey('/registry/pods/a/x')).toEqual({ storageName: 'pods', relative: 'a/x' })
  expect(parseObjectKey('/registry/pods/')).toBeUndefined()
  expect(parseObjectKey('/borough/pki/ca')).toBeUndefined()
})

test('metadata is read alone as it is read with the rest', () => {
  const texts = fc.oneof(fc.string(), fc.stringMatching(/^["\\\\{}\\[\\],:a-z0-9]{0,20}$/))
  fc.assert(
    fc.property(texts, fc.dictionary(texts, texts), fc.jsonValue(), fc.nat(), (uid, annotations, spec, revision) => {
      const bytes = encodeStored({ metadata: { name: 'n', uid, annotations }, spec })
      const end = metadataEnd(bytes)
      expect(parseStoredMetadata(bytes, end, revision)).toEqual(parseStored(bytes, configMap, revision).metadata)
      expect(text(bytes.subarray(end - 1))).toBe(`},"spec":${JSON.stringify(spec)}}`)
    }),
  )
})
