/** What a CustomResourceDefinition may say, row by row, as a client is told. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { type DefinitionOptions, definition, definitionsPath, install, objectOf, post } from '../support/definitions.ts'
import { notQualified } from '../support/name-faults.ts'
import { faultsIn } from '../support/refusal.ts'
import { send } from '../support/send.ts'

let plane: TestControlPlane
beforeAll(async () => {
  plane = await startControlPlane()
})
afterAll(() => plane[Symbol.asyncDispose]())

const about = (name: string): Parameters<typeof faultsIn>[1] => ({
  group: 'apiextensions.k8s.io',
  kind: 'CustomResourceDefinition',
  name,
})

async function faultsOf(options: DefinitionOptions): Promise<string[]> {
  const given = definition(options)
  return faultsIn(await post(plane, definitionsPath, given, '?dryRun=All'), about(given.metadata.name ?? ''))
}

interface Row {
  readonly name: string
  readonly given: DefinitionOptions
  readonly want: readonly string[]
}

const root = 'spec.validation.openAPIV3Schema'
const field = (schema: JsonObject): JsonObject => objectOf({ spec: objectOf({ x: schema }) })
const at = `${root}.properties[spec].properties[x]`
const inMetadata = (name: string): string => `${at}.properties[metadata].properties[${name}]`
const scalar = { type: 'string' }
const embedded = (properties: JsonObject = {}): JsonObject =>
  objectOf(properties, { 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true })

describe('a definition', () => {
  const rows: Row[] = [
    { name: 'with a plain schema is accepted', given: {}, want: [] },
    {
      name: 'needs a group with a dot',
      given: { group: 'policy' },
      want: ['spec.group: Invalid value: "policy": should be a domain with at least one dot'],
    },
    {
      name: 'needs a scope that there is',
      given: { scope: 'Foo' },
      want: ['spec.scope: Unsupported value: "Foo": supported values: "Cluster", "Namespaced"'],
    },
    {
      name: 'is named after its plural and group',
      given: { spec: { group: 'other.io' } },
      want: ['metadata.name: Invalid value: "widgets.ex.io": must be spec.names.plural+"."+spec.group'],
    },
    {
      name: 'has a kind and a listKind that differ',
      given: { names: { listKind: 'Widget' } },
      want: ['spec.names.listKind: Invalid value: "Widget": kind and listKind may not be the same'],
    },
    {
      name: 'needs a schema in every version',
      given: { versions: [{ name: 'v1', served: true, storage: true }] },
      want: ['spec.versions[0].schema.openAPIV3Schema: Required value: schemas are required'],
    },
    {
      name: 'attack: has no pattern that is large when it is compiled',
      given: { schema: field({ ...scalar, pattern: '(a{1,100}){1,10}'.repeat(8) }) },
      want: [`${root}: Forbidden: its patterns come to more than 16000 instructions`],
    },
    {
      name: 'attack: has no patterns that are large together',
      given: {
        schema: objectOf({
          spec: objectOf(
            Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`f${i}`, { ...scalar, pattern: `a${i}{997}` }])),
          ),
        }),
      },
      want: [`${root}: Forbidden: its patterns come to more than 16000 instructions`],
    },
    {
      name: 'may have one pattern in many places',
      given: {
        schema: objectOf({
          spec: objectOf(
            Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`f${i}`, { ...scalar, pattern: '^a{1,200}$' }])),
          ),
        }),
      },
      want: [],
    },
    {
      name: 'may not call its resource finalize',
      given: { plural: 'finalize' },
      want: ['spec.names.plural: Invalid value: "finalize": is reserved for a sub-resource of namespaces'],
    },
    {
      name: 'may not preserve unknown fields everywhere',
      given: { spec: { preserveUnknownFields: true } },
      want: [
        'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set ' +
          'x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
      ],
    },
    {
      name: 'of a protected group needs an approval',
      given: { group: 'stable.k8s.io' },
      want: [
        'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have ' +
          'approval annotation "api-approved.kubernetes.io", see ' +
          'https://github.com/kubernetes/enhancements/pull/1111',
      ],
    },
    {
      name: 'of a protected group may be unapproved, if it says so',
      given: { group: 'stable.k8s.io', annotations: { 'api-approved.kubernetes.io': 'unapproved, a test' } },
      want: [],
    },
    {
      name: 'needs to know a conversion strategy',
      given: { spec: { conversion: { strategy: 'Magic' } } },
      want: ['spec.conversion.strategy: Unsupported value: "Magic": supported values: "None", "Webhook"'],
    },
    {
      name: 'says how a conversion webhook is called',
      given: { spec: { conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'] } } } },
      want: ['spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook'],
    },
    {
      name: 'may warn of deprecated versions only',
      given: { version: { deprecationWarning: 'old' } },
      want: ['spec.versions[0].deprecationWarning: Invalid value: "old": can only be set for deprecated versions'],
    },
  ]
  test.each(rows)('$name', async ({ given, want }) => {
    expect(await faultsOf(given)).toEqual(want)
  })

  test('must have one storage version, and version names that differ', async () => {
    const schema = { openAPIV3Schema: { type: 'object' } }
    const version = { name: 'v1', served: true, storage: false, schema }
    const faults = await faultsOf({ versions: [version, version] })
    expect(faults.map((f) => f.replace(/Invalid value: .*: /, 'Invalid value: …: '))).toEqual([
      'spec.versions: Invalid value: …: must contain unique version names',
      'spec.versions: Invalid value: …: must have exactly one version marked as storage version',
      'status.storedVersions: Invalid value: …: must have at least one stored version',
    ])
  })

  test('names must be DNS labels; kinds may have mixed case', async () => {
    const faults = await faultsOf({ kind: 'Bad_Kind', names: { shortNames: ['Wd'], singular: 'a.b' } })
    expect(faults.map((f) => f.slice(0, 80))).toEqual([
      'spec.names.singular: Invalid value: "a.b": a DNS-1035 label must consist of lowe',
      'spec.names.kind: Invalid value: "Bad_Kind": may have mixed case, but should othe',
      'spec.names.listKind: Invalid value: "Bad_KindList": may have mixed case, but sho',
      'spec.names.shortNames[0]: Invalid value: "Wd": a DNS-1035 label must consist of ',
    ])
  })
})

describe('a schema', () => {
  const rows: (Omit<Row, 'given'> & { readonly given: JsonObject })[] = [
    {
      name: 'is an object at the root',
      given: { type: 'string' },
      want: [`${root}.type: Invalid value: "string": must be object at the root`],
    },
    {
      name: 'has a type at the root',
      given: {},
      want: [`${root}.type: Required value: must not be empty at the root`],
    },
    {
      name: 'has a type for every field',
      given: field({}),
      want: [`${at}.type: Required value: must not be empty for specified object fields`],
    },
    {
      name: 'has a type for items',
      given: field({ type: 'array', items: {} }),
      want: [`${at}.items.type: Required value: must not be empty for specified array items`],
    },
    {
      name: 'says what an array holds',
      given: field({ type: 'array' }),
      want: [`${at}.items: Required value: must be specified`],
    },
    {
      name: 'has no additionalProperties at the root',
      given: { type: 'object', additionalProperties: scalar },
      want: [`${root}.additionalProperties: Forbidden: must not be used at the root`],
    },
    {
      name: 'has properties or additionalProperties, not both',
      given: field({ type: 'object', properties: { a: scalar }, additionalProperties: scalar }),
      want: [`${at}.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive`],
    },
    {
      name: 'says types outside of alternatives',
      given: field({ type: 'string', anyOf: [{ type: 'string', description: 'a', nullable: true, default: 'x' }] }),
      want: [
        `${at}.anyOf[0].default: Forbidden: must be undefined to be structural`,
        `${at}.anyOf[0].description: Forbidden: must be empty to be structural`,
        `${at}.anyOf[0].nullable: Forbidden: must be false to be structural`,
        `${at}.anyOf[0].type: Forbidden: must be empty to be structural`,
      ],
    },
    {
      name: 'specifies what an alternative names',
      given: field({ type: 'object', properties: { a: scalar }, allOf: [{ properties: { b: { minLength: 1 } } }] }),
      want: [`${at}.properties[b]: Required value: because it is defined in ${at}.allOf[0].properties[b]`],
    },
    {
      name: 'may repeat what int-or-string means',
      given: field({ 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] }),
      want: [],
    },
    {
      name: 'does not mix int-or-string with unknown fields',
      given: field({ 'x-kubernetes-int-or-string': true, 'x-kubernetes-preserve-unknown-fields': true }),
      want: [
        `${at}.x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false if ` +
          'x-kubernetes-int-or-string is true',
      ],
    },
    {
      name: 'preserves unknown fields or says nothing of it',
      given: field({ type: 'object', 'x-kubernetes-preserve-unknown-fields': false }),
      want: [`${at}.x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined`],
    },
    {
      name: 'restricts only the names in metadata',
      given: objectOf({ metadata: objectOf({ labels: { type: 'object' } }) }),
      want: [
        `${root}.properties[metadata]: Forbidden: must not specify anything other than name and ` +
          'generateName, but metadata is implicitly specified',
      ],
    },
    {
      name: 'may restrict the name',
      given: objectOf({ metadata: objectOf({ name: { type: 'string', maxLength: 5 } }) }),
      want: [],
    },
    {
      name: 'knows its types',
      given: field({ type: 'text' }),
      want: [
        `${at}.type: Unsupported value: "text": supported values: "array", "boolean", "integer", "number", ` +
          '"object", "string"',
      ],
    },
    {
      name: 'has no unique items',
      given: field({ type: 'array', items: scalar, uniqueItems: true }),
      want: [
        `${at}.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity ` +
          'becomes quadratic',
      ],
    },
    {
      name: 'has no references',
      given: field({ type: 'object', $ref: '#/x' }),
      want: [`${at}.$ref: Forbidden: $ref is not supported`],
    },
    {
      name: 'has patterns that can be compiled',
      given: field({ type: 'string', pattern: '(' }),
      want: [
        `${at}.pattern: Invalid value: "(": must be a valid regular expression, but isn't: error parsing ` +
          `regexp: missing closing ): \`(\``,
      ],
    },
    {
      name: 'needs keys for a list of type map',
      given: field({ type: 'array', items: objectOf({ a: scalar }), 'x-kubernetes-list-type': 'map' }),
      want: [`${at}.x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map`],
    },
    {
      name: 'has keys that every item has',
      given: field({
        type: 'array',
        items: objectOf({ a: scalar }),
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['a'],
      }),
      want: [
        `${at}.items.properties[a].default: Required value: this property is in x-kubernetes-list-map-keys, ` +
          'so it must have a default or be a required property',
      ],
    },
    {
      name: 'has keys that are fields of the items',
      given: field({
        type: 'array',
        items: objectOf({ a: scalar }, { required: ['a'] }),
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['b'],
      }),
      want: [`${at}.x-kubernetes-list-map-keys: Invalid value: ["b"]: entries must all be names of item properties`],
    },
    {
      name: 'has sets of scalars or atoms',
      given: field({ type: 'array', items: objectOf({ a: scalar }), 'x-kubernetes-list-type': 'set' }),
      want: [
        `${at}.items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with ` +
          'x-kubernetes-list-type=set',
      ],
    },
    {
      name: 'has list types on arrays only',
      given: field({ type: 'string', 'x-kubernetes-list-type': 'set' }),
      want: [`${at}.type: Invalid value: "string": must be array if x-kubernetes-list-type is specified`],
    },
    {
      name: 'has defaults of the right type',
      given: field({ type: 'integer', default: 'one' }),
      want: [`${at}.default: Invalid value: "string":  in body must be of type integer: "string"`],
    },
    {
      name: 'has defaults that it would not prune',
      given: field({ ...objectOf({ a: scalar }), default: { b: 1 } }),
      want: [`${at}.default: Invalid value: {"b":1}: must not have unknown fields`],
    },
    {
      name: 'says all that is wrong with a default',
      given: field({ ...objectOf({ a: scalar }, { required: ['a'] }), default: { b: 1 } }),
      want: [`${at}.default: Invalid value: {"b":1}: must not have unknown fields`, `${at}.default.a: Required value`],
    },
    {
      name: 'may have a default that is an embedded resource, or a part of its metadata, with fields that nobody knows',
      given: field({
        ...embedded({
          metadata: objectOf(
            { labels: { type: 'object' }, extra: { ...scalar, default: 'x' } },
            { default: { extra: 'x' } },
          ),
        }),
        default: { apiVersion: 'v1', kind: 'A', metadata: { name: 'a', extra: 1 } },
      }),
      want: [],
    },
    {
      name: 'has no default that would be an embedded resource with metadata of the wrong types',
      given: field({
        ...objectOf({ r: embedded() }),
        default: { r: { apiVersion: 'v1', kind: 'A', metadata: { labels: 3 } } },
      }),
      want: [
        `${at}.default.r.metadata: Invalid value: {"labels":3}: json: cannot unmarshal number into Go struct ` +
          'field ObjectMeta.labels of type map[string]string',
      ],
    },
    {
      name: 'may have a default with what its list can not have: that is asked of instances',
      given: field({ type: 'array', items: scalar, 'x-kubernetes-list-type': 'set', default: ['x', 'x'] }),
      want: [],
    },
    {
      name: 'has no defaults that its own rules refuse',
      given: field(
        objectOf(
          {
            n: { type: 'integer', default: 1, 'x-kubernetes-validations': [{ rule: 'self > 5', message: 'too few' }] },
            m: { type: 'integer', default: 9, 'x-kubernetes-validations': [{ rule: 'self > oldSelf' }] },
          },
          { default: { n: 2, m: 1 }, 'x-kubernetes-validations': [{ rule: 'self.m > self.n' }] },
        ),
      ),
      want: [
        `${at}.default: Invalid value: failed rule: self.m > self.n`,
        `${at}.default.n: Invalid value: 2: too few`,
        `${at}.properties[n].default: Invalid value: 1: too few`,
      ],
    },
    {
      name: 'has no default that would be an embedded resource which is none',
      given: field({ ...embedded(), default: { kind: 'A' } }),
      want: [`${at}.default.apiVersion: Required value`],
    },
    {
      name: 'has no default inside the metadata of an embedded resource that makes none',
      given: field(
        embedded({
          apiVersion: { ...scalar, default: 'a/b/c' },
          kind: { ...scalar, default: 7 },
          metadata: objectOf({
            name: { ...scalar, default: 'a/b' },
            finalizers: { type: 'array', items: scalar, default: ['', 'x'] },
            labels: { type: 'object', additionalProperties: { type: 'integer' }, default: { a: 1 } },
          }),
        }),
      ),
      want: [
        `${at}.properties[apiVersion].default: Invalid value: "a/b/c": must result in valid metadata: ` +
          'apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
        `${at}.properties[kind].default: Invalid value: 7: must result in valid metadata: kind: Invalid ` +
          'value: 7: must be a string',
        `${inMetadata('name')}.default: Invalid value: "a/b": must result in valid metadata: metadata.name: ` +
          `Invalid value: "a/b": may not contain '/'`,
        `${inMetadata('finalizers')}.default: Invalid value: ["","x"]: must result in valid metadata: ` +
          '[metadata.finalizers: Invalid value: "": name part must be non-empty, metadata.finalizers: Invalid ' +
          `value: "": ${notQualified}]`,
        `${inMetadata('labels')}.default: Invalid value: {"a":1}: must result in valid metadata: metadata: ` +
          'Invalid value: {"labels":{"a":1}}: json: cannot unmarshal number into Go struct field ' +
          'ObjectMeta.labels of type string',
      ],
    },
    {
      name: 'has no defaults in metadata',
      given: objectOf({ metadata: objectOf({ name: { type: 'string', default: 'x' } }) }),
      want: [`${root}.properties[metadata].properties[name].default: Forbidden: must not be set in top-level metadata`],
    },
    {
      name: 'has keywords of the right types at every depth',
      given: field({
        type: 'array',
        items: { type: 'object', properties: { a: null }, required: 'a', minLength: 'x' },
      }),
      want: [
        `${at}.items.properties: Invalid value: {"a":null}: must be a map of objects`,
        `${at}.items.required: Invalid value: "a": must be a list of strings`,
        `${at}.items.minLength: Invalid value: "x": must be an integer`,
      ],
    },
    {
      name: 'is not nullable at the root',
      given: { type: 'object', nullable: true },
      want: [`${root}.nullable: Forbidden: nullable cannot be true at the root`],
    },
  ]
  test.each(rows)('$name', async ({ given, want }) => {
    expect(await faultsOf({ schema: given })).toEqual(want)
  })

  test('is named by its version where versions differ', async () => {
    const version = (name: string, storage: boolean, schema: JsonObject): JsonObject => ({
      name,
      served: true,
      storage,
      schema: { openAPIV3Schema: schema },
    })
    const faults = await faultsOf({ versions: [version('v1', true, field(scalar)), version('v2', false, field({}))] })
    expect(faults).toEqual([
      'spec.versions[1].schema.openAPIV3Schema.properties[spec].properties[x].type: Required value: must not ' +
        'be empty for specified object fields',
    ])
  })
})

describe('the rest of a version', () => {
  const schema = objectOf({
    spec: objectOf({ color: scalar, list: { type: 'array', items: scalar }, size: { type: 'integer' } }),
  })
  const rows: Row[] = [
    {
      name: 'printer columns need a name, a known type and a path',
      given: { version: { additionalPrinterColumns: [{ name: '', type: 'text', jsonPath: 'spec' }] } },
      want: [
        'spec.additionalPrinterColumns[0].name: Required value',
        'spec.additionalPrinterColumns[0].type: Invalid value: "text": must be one of ' +
          'boolean,date,integer,number,string',
        'spec.additionalPrinterColumns[0].JSONPath: Invalid value: "spec": must be a simple json path starting with .',
      ],
    },
    {
      name: 'scale needs its paths, each under its part',
      given: { version: { subresources: { scale: { specReplicasPath: '.status.x', statusReplicasPath: '' } } } },
      want: [
        'spec.subresources.scale.specReplicasPath: Invalid value: ".status.x": should be a json path under .spec',
        'spec.subresources.scale.statusReplicasPath: Required value',
      ],
    },
    {
      name: 'selectable fields are scalars of the schema, each once',
      given: {
        schema,
        version: {
          selectableFields: [
            { jsonPath: '.spec.color' },
            { jsonPath: '.spec.color' },
            { jsonPath: '.spec.list' },
            { jsonPath: '.spec.none' },
          ],
        },
      },
      want: [
        'spec.selectableFields[1].jsonPath: Duplicate value: ".spec.color"',
        'spec.selectableFields[2].jsonPath: Invalid value: ".spec.list": must point to a field of type ' +
          'string, boolean or integer. Enum string fields and strings with formats are allowed.',
        'spec.selectableFields[3].jsonPath: Invalid value: ".spec.none": is an invalid path: does not refer ' +
          'to a valid field',
      ],
    },
  ]
  test.each(rows)('$name', async ({ given, want }) => {
    expect(await faultsOf(given)).toEqual(want)
  })
})

describe('an update', () => {
  const path = `${definitionsPath}/gadgets.ex.io`
  const patch = (body: unknown, sub = '') =>
    send(plane, path + sub, { method: 'PATCH', body, type: 'application/merge-patch+json' })
  const version = (name: string, storage: boolean): JsonObject => ({
    name,
    served: true,
    storage,
    schema: { openAPIV3Schema: { type: 'object' } },
  })

  beforeAll(async () => {
    await install(plane, definition({ plural: 'gadgets', kind: 'Gadget', versions: [version('v1', true)] }))
  })

  const rows = [
    {
      name: 'of the scope',
      given: { scope: 'Cluster' },
      want: ['spec.scope: Invalid value: "Cluster": field is immutable'],
    },
    {
      name: 'of the kind',
      given: { names: { kind: 'Gizmo' } },
      want: ['spec.names.kind: Invalid value: "Gizmo": field is immutable'],
    },
    {
      name: 'of the group',
      given: { group: 'other.io' },
      want: ['spec.group: Invalid value: "other.io": field is immutable'],
    },
    {
      name: 'of the plural',
      given: { names: { plural: 'gizmos' } },
      want: ['spec.names.plural: Invalid value: "gizmos": field is immutable'],
    },
    {
      name: 'that drops a version with stored objects',
      given: { versions: [version('v2', true)] },
      want: [
        'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a ' +
          'storage version, and must remain in spec.versions until a storage migration ensures no data remains ' +
          'persisted in v1 and removes v1 from status.storedVersions',
      ],
    },
  ]
  test.each(rows)('$name is refused', async ({ given, want }) => {
    expect(faultsIn(await patch({ spec: given }), about('gadgets.ex.io'))).toEqual(want)
  })

  test('of the storage version is remembered, and forgotten through the status alone', async () => {
    const moved = await patch({ spec: { versions: [version('v1', false), version('v2', true)] } })
    expect(moved.body).toMatchObject({ status: { storedVersions: ['v1', 'v2'] } })
    const ignored = await patch({ status: { storedVersions: ['v2'] } })
    expect(ignored.body).toMatchObject({ status: { storedVersions: ['v1', 'v2'] } })
    const forgotten = await patch({ status: { storedVersions: ['v2'] } }, '/status')
    expect(forgotten.body).toMatchObject({ status: { storedVersions: ['v2'] } })
    const dropped = await patch({ spec: { versions: [version('v2', true)] } })
    expect(dropped.code).toBe(200)
  })
})
