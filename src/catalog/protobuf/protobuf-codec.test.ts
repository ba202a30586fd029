import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { badRequest, thrown } from '../../../test/support/refusal.ts'
import type { GroupVersionKind } from '../../kube/gvk.ts'
import { exactNumber } from '../../kube/json-value.ts'
import { StatusError } from '../../kube/status-error.ts'
import { messageFacts } from './message-facts.ts'
import { MessagePlans } from './message-plans.ts'
import { ProtobufCodec } from './protobuf-codec.ts'
import { EncodeError, WireWriter } from './wire-writer.ts'

const codec = new ProtobufCodec()
const core = (kind: string): GroupVersionKind => ({ group: '', version: 'v1', kind })
const apps = (kind: string): GroupVersionKind => ({ group: 'apps', version: 'v1', kind })
const crd: GroupVersionKind = { group: 'apiextensions.k8s.io', version: 'v1', kind: 'CustomResourceDefinition' }

/** What a server reads that a client has written. */
function roundTrip(object: object, gvk: GroupVersionKind): unknown {
  const { apiVersion: _apiVersion, kind: _kind, ...rest } = codec.decode(codec.encode(object, gvk)).object
  return rest
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

function nestedSchema(depth: number): object {
  let schema: object = { type: 'object' }
  for (let i = 0; i < depth; i++) schema = { type: 'object', properties: { a: schema } }
  return { spec: { versions: [{ name: 'v1', schema: { openAPIV3Schema: schema } }] } }
}

describe('message facts', () => {
  it('are complete: every message they mention is there', () => {
    const plans = new MessagePlans()
    let messages = 0
    for (const [packageName, entries] of Object.entries(messageFacts)) {
      for (const name of Object.keys(entries)) {
        plans.get(`${packageName}.${name}`).writeBody(new WireWriter(), {})
        messages++
      }
    }
    expect(messages).toBe(608)
  })
})

describe('values that survive the way over the wire as Go would have them', () => {
  const cases: readonly { name: string; given: object; gvk: GroupVersionKind; want: object }[] = [
    {
      name: 'an empty struct behind a pointer is kept, an empty value struct with omitempty is dropped',
      given: { spec: { volumes: [{ name: 'tmp', emptyDir: {} }], securityContext: {} }, status: {} },
      gvk: core('Pod'),
      want: { spec: { volumes: [{ name: 'tmp', emptyDir: {} }], securityContext: {} } },
    },
    {
      name: 'a null creationTimestamp is no creationTimestamp',
      given: { metadata: { name: 'x', creationTimestamp: null } },
      gvk: core('ConfigMap'),
      want: { metadata: { name: 'x' } },
    },
    {
      name: 'a Time with fraction and offset becomes whole seconds in UTC',
      given: { metadata: { creationTimestamp: '2026-02-28T23:59:59.75-01:00' } },
      gvk: core('ConfigMap'),
      want: { metadata: { creationTimestamp: '2026-03-01T00:59:59Z' } },
    },
    {
      name: 'a MicroTime keeps microseconds and nothing finer, also before 1970',
      given: { spec: { renewTime: '1969-12-31T23:59:59.123456789Z' } },
      gvk: { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease' },
      want: { spec: { renewTime: '1969-12-31T23:59:59.123456Z' } },
    },
    {
      name: 'int-or-string keeps its form',
      given: {
        spec: {
          ports: [
            { port: 80, targetPort: 'web' },
            { port: 81, targetPort: 8081 },
          ],
        },
      },
      gvk: core('Service'),
      want: {
        spec: {
          ports: [
            { port: 80, targetPort: 'web' },
            { port: 81, targetPort: 8081 },
          ],
        },
      },
    },
    {
      name: 'negative integers and empty map values',
      given: { metadata: { annotations: { empty: '' } }, value: -2_147_483_648 },
      gvk: { group: 'scheduling.k8s.io', version: 'v1', kind: 'PriorityClass' },
      want: { metadata: { annotations: { empty: '' } }, value: -2_147_483_648 },
    },
    {
      name: 'bytes in a map',
      given: { data: { key: 'AAEC/w==', empty: '' } },
      gvk: core('Secret'),
      want: { data: { key: 'AAEC/w==', empty: '' } },
    },
    {
      name: 'a key named __proto__ is a key',
      given: { data: JSON.parse('{"__proto__":"x","a":"y"}') },
      gvk: core('ConfigMap'),
      want: { data: JSON.parse('{"__proto__":"x","a":"y"}') },
    },
    {
      name: 'the initializers of a namespace',
      given: { spec: { initializers: { pending: [{ name: 'a.example.com' }, { name: 'namespace-template' }] } } },
      gvk: core('Namespace'),
      want: { spec: { initializers: { pending: [{ name: 'a.example.com' }, { name: 'namespace-template' }] } } },
    },
    {
      name: 'text beyond ASCII, short and long',
      given: { data: { kurz: 'grün ✓ 🎈', lang: 'ä'.repeat(100_000) } },
      gvk: core('ConfigMap'),
      want: { data: { kurz: 'grün ✓ 🎈', lang: 'ä'.repeat(100_000) } },
    },
    {
      name: 'schemas that are a boolean, a list, or names of properties',
      given: {
        spec: {
          versions: [
            {
              name: 'v1',
              schema: {
                openAPIV3Schema: {
                  additionalProperties: false,
                  additionalItems: { type: 'string' },
                  items: [{ type: 'string' }, {}],
                  not: { items: { type: 'integer' } },
                  dependencies: { a: ['b', 'c'], d: { type: 'object' } },
                  default: { a: [1, null] },
                  enum: [1, null, 'x'],
                  maximum: 0,
                  multipleOf: 0.1,
                },
              },
            },
          ],
        },
      },
      gvk: crd,
      want: expect.objectContaining({
        spec: expect.objectContaining({
          versions: [
            {
              name: 'v1',
              served: false,
              storage: false,
              schema: {
                openAPIV3Schema: {
                  additionalProperties: false,
                  additionalItems: { type: 'string' },
                  items: [{ type: 'string' }, {}],
                  not: { items: { type: 'integer' } },
                  dependencies: { a: ['b', 'c'], d: { type: 'object' } },
                  default: { a: [1, null] },
                  enum: [1, null, 'x'],
                  maximum: 0,
                  multipleOf: 0.1,
                },
              },
            },
          ],
        }),
      }),
    },
    {
      name: 'lists inside a review',
      given: {
        spec: { user: 'jane', extra: { scopes: ['a', 'b'], none: [] }, resourceAttributes: { verb: 'get' } },
        status: { allowed: false },
      },
      gvk: { group: 'authorization.k8s.io', version: 'v1', kind: 'SubjectAccessReview' },
      want: {
        spec: { user: 'jane', extra: { scopes: ['a', 'b'], none: [] }, resourceAttributes: { verb: 'get' } },
        status: { allowed: false },
      },
    },
  ]

  it.each(cases)('$name', ({ given, gvk, want }) => {
    expect(roundTrip(given, gvk)).toEqual(want)
  })

  it('a pointer to zero is kept (replicas), an absent one stays absent, a zero value with omitempty is dropped', () => {
    const spec = (replicas: object) => roundTrip({ spec: replicas }, apps('Deployment')) as { spec: object }
    expect(spec({ replicas: 0 }).spec).toHaveProperty('replicas', 0)
    expect(spec({}).spec).not.toHaveProperty('replicas')
    expect(spec({ minReadySeconds: 0 }).spec).not.toHaveProperty('minReadySeconds')
  })

  it('the initializers of a namespace are field 16: pending 1 with name 1, result 2', () => {
    const result = { metadata: {}, status: 'Failure' }
    const initializers = { pending: [{ name: 'ab' }], result }
    const status = new MessagePlans().get('meta.v1.Status')
    const writer = new WireWriter()
    status.writeBody(writer, result)
    const want = sizedField(
      16,
      Buffer.concat([sizedField(1, sizedField(1, Buffer.from('ab'))), sizedField(2, writer.finish())]),
    )
    expect(hex(codec.encode({ spec: { initializers } }, core('Namespace')))).toContain(hex(want))
  })

  it('integers beyond 2^53 are printed digit by digit', () => {
    const bytes = codec.encode({ metadata: { generation: exactNumber('9223372036854775807') } }, core('ConfigMap'))
    const { object } = codec.decode(bytes)
    expect(JSON.stringify(object)).toContain('"generation":9223372036854775807')
    expect(hex(codec.encode(object, core('ConfigMap')))).toBe(hex(bytes))
  })
})

describe('kinds', () => {
  const cases: readonly { name: string; gvk: GroupVersionKind; want: boolean }[] = [
    { name: 'a built-in kind has a protobuf form', gvk: core('Pod'), want: true },
    { name: 'so has its list', gvk: core('PodList'), want: true },
    { name: 'a message that is no kind has none of its own', gvk: core('PodSpec'), want: false },
    { name: 'a custom kind has none', gvk: { group: 'ex.io', version: 'v1', kind: 'Widget' }, want: false },
    {
      name: 'a custom group that looks like a built-in one has none',
      gvk: { group: 'rbac.ex.io', version: 'v1', kind: 'Role' },
      want: false,
    },
    {
      name: 'options belong to every group',
      gvk: { group: 'ex.io', version: 'v1', kind: 'DeleteOptions' },
      want: true,
    },
    { name: 'Tables have none', gvk: { group: 'meta.k8s.io', version: 'v1', kind: 'Table' }, want: false },
    {
      name: 'partial metadata has one',
      gvk: { group: 'meta.k8s.io', version: 'v1', kind: 'PartialObjectMetadataList' },
      want: true,
    },
    { name: 'names of JavaScript objects are no kinds', gvk: core('constructor'), want: false },
    {
      name: 'nor groups',
      gvk: { group: 'toString', version: 'v1', kind: 'Pod' },
      want: false,
    },
  ]
  it.each(cases)('$name', ({ gvk, want }) => {
    expect(codec.supports(gvk)).toBe(want)
  })

  it('what the envelope leaves empty may be assumed', () => {
    const bytes = codec.encode({ gracePeriodSeconds: 0 }, { group: '', version: '', kind: 'DeleteOptions' })
    expect(codec.decode(bytes, core('DeleteOptions')).object).toEqual({
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      gracePeriodSeconds: 0,
    })
  })
})

describe('lists and watch events', () => {
  const items = [{ metadata: { name: 'a' }, data: { k: 'v' } }, { metadata: { name: 'b' } }]
  const metadata = { resourceVersion: '42', continue: 'abc', remainingItemCount: 3 }

  it('a list encoded item by item is the list encoded as a whole', () => {
    expect(hex(codec.encodeList(items, metadata, core('ConfigMap')))).toBe(
      hex(codec.encode({ metadata, items }, core('ConfigMapList'))),
    )
  })

  it('an encoded item may be used again', () => {
    const list = codec.listEncoder(core('ConfigMap'))
    const item = codec.encodeListItem({ metadata: { name: 'a' } }, core('ConfigMap'))
    list.addEncoded(item)
    list.addEncoded(item)
    const { object } = codec.decode(Buffer.concat(list.finish({ resourceVersion: '1' })))
    expect(object).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMapList',
      metadata: { resourceVersion: '1' },
      items: [{ metadata: { name: 'a' } }, { metadata: { name: 'a' } }],
    })
  })

  it('an empty list has an empty list of items', () => {
    const { object } = codec.decode(codec.encodeList([], {}, core('Secret')))
    expect(object).toEqual({ apiVersion: 'v1', kind: 'SecretList', metadata: undefined, items: [] })
  })

  it('a watch frame is a length and an event whose object has an envelope of its own', () => {
    const frame = Buffer.from(codec.encodeWatchEvent('ADDED', { metadata: { name: 'a' } }, core('ConfigMap')))
    expect(frame.readUInt32BE(0)).toBe(frame.length - 4)
    expect(codec.decodeWatchEvent(frame.subarray(4))).toEqual({
      type: 'ADDED',
      object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } },
    })
  })
})

describe('bytes that are not what they claim to be', () => {
  it('a watch frame that ends too early', () => {
    const frame = Buffer.from(codec.encodeWatchEvent('ADDED', { metadata: { name: 'a' } }, core('ConfigMap')))
    expect(thrown(() => codec.decodeWatchEvent(frame.subarray(4, -1)))).toEqual(
      badRequest('the watch event is not valid protobuf: unexpected end of data'),
    )
  })

  const good = Buffer.from(codec.encode({ metadata: { name: 'abc' } }, core('ConfigMap')))
  const envelope = (raw: readonly number[], kind = 'ConfigMap'): Uint8Array =>
    Buffer.concat([
      Buffer.from([0x6b, 0x38, 0x73, 0, 0x0a, 6 + kind.length, 0x0a, 2, 0x76, 0x31, 0x12, kind.length]),
      Buffer.from(kind),
      Buffer.from([0x12, raw.length, ...raw]),
    ])
  const bad = 'the object provided is not valid protobuf'
  const cases: readonly { name: string; given: Uint8Array; want: string }[] = [
    {
      name: 'nothing at all',
      given: Buffer.alloc(0),
      want: `${bad}: provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]`,
    },
    {
      name: 'JSON',
      given: Buffer.from('{"kind":"ConfigMap"}'),
      want: `${bad}: provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]`,
    },
    { name: 'an envelope cut short', given: good.subarray(0, 12), want: `${bad}: unexpected end of data` },
    { name: 'an object cut short', given: envelope([0x0a, 0x05, 0x0a]), want: `${bad}: unexpected end of data` },
    {
      name: 'a varint without end',
      given: envelope(Array.from({ length: 11 }, () => 0xff)),
      want: `${bad}: a varint is longer than ten bytes`,
    },
    { name: 'a field number of 0', given: envelope([0x02, 0x00]), want: `${bad}: field number 0` },
    { name: 'a group', given: envelope([0x7b]), want: `${bad}: wire type 3 is not supported` },
    {
      name: 'text where an object belongs',
      given: envelope([0x08, 0x01]),
      want: `${bad}: wrong wire type 0 for field metadata`,
    },
    {
      name: 'an unknown kind',
      given: envelope([], 'Nonsense'),
      want: 'no kind "Nonsense" of version "v1" is known in protobuf',
    },
    {
      name: 'a time beyond the calendar',
      given: envelope([0x0a, 0x0b, 0x42, 0x09, 0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]),
      want: `${bad}: a time is outside the years 1 to 9999`,
    },
  ]
  it.each(cases)('$name is refused as a bad request', ({ given, want }) => {
    expect(thrown(() => codec.decode(given))).toEqual(badRequest(want))
  })

  it('a schema nested without end is refused, one of reasonable depth is not', () => {
    expect(caught(() => codec.encode(nestedSchema(600), crd))).toBeInstanceOf(EncodeError)
    expect(roundTrip(nestedSchema(200), crd)).toMatchObject(nestedSchema(200))
    let bytes: Uint8Array = Buffer.from([0x0a, 0x00])
    for (let i = 0; i < 5000; i++) bytes = Buffer.concat([sizedField(28, bytes)])
    const version = sizedField(4, sizedField(1, bytes))
    const error = caught(() => codec.decode(Buffer.concat(crdEnvelope(sizedField(2, sizedField(7, version))))))
    expect(error).toMatchObject({ code: 400, reason: 'BadRequest' })
    expect(String(error)).toContain('nested deeper')
  })

  it('a codec that has failed works on', () => {
    caught(() => codec.decode(good.subarray(0, 20)))
    caught(() => codec.encode({ metadata: { name: 1 } }, core('ConfigMap')))
    expect(hex(codec.encode({ metadata: { name: 'abc' } }, core('ConfigMap')))).toBe(hex(good))
  })

  it('whatever is damaged: an object or a bad request, nothing else', () => {
    const folder = new URL('../../../test/golden/1.36/', import.meta.url)
    const samples = ['core.v1.Pod', 'apps.v1.Deployment', 'core.v1.Event', 'admission.k8s.io.v1.AdmissionReview'].map(
      (name) => readFileSync(new URL(`${name}.pb`, folder)),
    )
    const damage = fc.record({
      sample: fc.constantFrom(...samples),
      at: fc.nat(),
      byte: fc.nat(255),
      cut: fc.option(fc.nat()),
    })
    fc.assert(
      fc.property(damage, ({ sample, at, byte, cut }) => {
        const bytes = Buffer.from(sample)
        bytes[at % bytes.length] = byte
        const error = caught(() => codec.decode(cut === null ? bytes : bytes.subarray(0, cut % bytes.length)))
        expect(error === undefined || (error instanceof StatusError && error.code === 400)).toBe(true)
      }),
      { numRuns: 500 },
    )
  })
})

describe('objects that do not have the shape of their kind', () => {
  it('are told with the path of the fault', () => {
    const pod = { spec: { containers: [{ name: 'a', ports: [{ containerPort: 'http' }] }] } }
    expect(String(caught(() => codec.encode(pod, core('Pod'))))).toBe(
      'EncodeError: Pod: spec: containers: ports: containerPort: want integer, got string',
    )
  })
})

describe('any object', () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,20}$/)
  const text = fc.string({ unit: 'binary', minLength: 1 }).filter((s) => s.isWellFormed())
  const map = fc.dictionary(fc.oneof(name, text), fc.oneof(fc.constant(''), text), { minKeys: 1, maxKeys: 5 })
  const seconds = fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })
  const time = seconds.map((d) => `${d.toISOString().slice(0, 19)}Z`)
  const micro = fc
    .tuple(seconds, fc.nat(999_999))
    .map(([d, us]) => `${d.toISOString().slice(0, 19)}.${String(us).padStart(6, '0')}Z`)
  const optional = { requiredKeys: ['name'] as ['name'] }
  const metadata = fc.record(
    {
      name,
      uid: fc.uuid(),
      resourceVersion: fc.maxSafeNat().map((n) => String(n + 1)),
      generation: fc.maxSafeInteger().filter((n) => n !== 0),
      creationTimestamp: time,
      deletionGracePeriodSeconds: fc.maxSafeInteger(),
      labels: map,
      annotations: map,
      finalizers: fc.array(name, { minLength: 1 }),
      ownerReferences: fc.array(
        fc.record({ apiVersion: text, kind: text, name, uid: fc.uuid(), controller: fc.boolean() }),
        { minLength: 1, maxLength: 3 },
      ),
    },
    optional,
  )
  const kinds: readonly { gvk: GroupVersionKind; objects: fc.Arbitrary<object> }[] = [
    { gvk: core('ConfigMap'), objects: fc.record({ metadata, data: map, immutable: fc.boolean() }) },
    {
      gvk: core('Namespace'),
      objects: fc.record({
        metadata,
        spec: fc.record({ finalizers: fc.array(name, { minLength: 1 }) }),
        status: fc.record({ phase: fc.constantFrom('Active', 'Terminating') }),
      }),
    },
    {
      gvk: { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease' },
      objects: fc.record({
        metadata,
        spec: fc.record({ holderIdentity: fc.string(), leaseDurationSeconds: fc.integer(), renewTime: micro }),
      }),
    },
    {
      gvk: { group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'ClusterRole' },
      objects: fc.record({
        metadata,
        rules: fc.array(
          fc.record({ verbs: fc.array(name, { minLength: 1 }), resources: fc.array(name, { minLength: 1 }) }),
          { minLength: 1 },
        ),
      }),
    },
    {
      gvk: apps('ControllerRevision'),
      objects: fc.record({
        metadata,
        data: fc.dictionary(name, fc.jsonValue({ noUnicodeString: false } as object), { minKeys: 1 }),
        revision: fc.maxSafeInteger(),
      }),
    },
  ]

  it.each(kinds)('of kind $gvk.kind is the same after the way over the wire', ({ gvk, objects }) => {
    fc.assert(
      fc.property(objects, (object) => {
        const plain = JSON.parse(JSON.stringify(object)) as object
        // As text: numbers beyond 2^53 come back as their digits.
        expect(JSON.parse(JSON.stringify(roundTrip(plain, gvk)))).toEqual(plain)
      }),
      { numRuns: 100 },
    )
  })
})

function caught(action: () => unknown): unknown {
  try {
    action()
    return undefined
  } catch (error) {
    return error
  }
}

/** A field of wire type 2. */
function sizedField(number: number, body: Uint8Array): Uint8Array {
  const writer = new WireWriter()
  writer.bytes(body)
  writer.unsigned(body.length)
  writer.unsigned(number * 8 + 2)
  return writer.finish()
}

function crdEnvelope(raw: Uint8Array): Uint8Array[] {
  const type = Buffer.concat([
    sizedField(1, Buffer.from('apiextensions.k8s.io/v1')),
    sizedField(2, Buffer.from('CustomResourceDefinition')),
  ])
  return [Buffer.from('k8s\0'), sizedField(1, type), sizedField(2, raw)]
}
