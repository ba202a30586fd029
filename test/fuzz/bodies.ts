/** Objects and patches as bytes, in each encoding, and bytes that no encoder would write. */
import { ProtobufCodec } from '../../src/catalog/protobuf/protobuf-codec.ts'
import type { JsonObject, JsonValue } from '../../src/kube/types.ts'
import { inJson, inProtobuf, inYaml, yamlText } from '../generated/encodings.ts'
import type { Subject } from '../generated/subjects.ts'
import { changed } from './objects.ts'
import type { Random } from './random.ts'
import { text, value } from './words.ts'

export interface Sent {
  readonly type: string
  readonly body: Buffer
}

const protobuf = inProtobuf(new ProtobufCodec())

export function encoded(random: Random, subject: Subject, object: JsonObject): Sent {
  const encode = random.weighted([
    [6, () => inJson],
    [2, () => inYaml],
    [3, () => protobuf],
  ])
  const { type, body } = encode(subject, object) ?? (inJson(subject, object) as NonNullable<ReturnType<typeof inJson>>)
  return { type, body: damaged(random, Buffer.from(body)) }
}

const patchTypes = [
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/json-patch+json',
  'application/apply-patch+yaml',
  'application/apply-patch+cbor',
  'application/json',
] as const

export function patch(random: Random, { schema, object }: Subject): Sent {
  const type = random.pick(patchTypes)
  const next = changed(random, schema, object)
  if (type === 'application/apply-patch+yaml') return { type, body: damaged(random, Buffer.from(yamlText(next))) }
  const said: JsonValue =
    type === 'application/json-patch+json'
      ? random.some(4, () => operation(random, next))
      : partOf(random, next, type.startsWith('application/strategic'))
  return { type, body: damaged(random, Buffer.from(JSON.stringify(said))) }
}

function operation(random: Random, object: JsonObject): JsonObject {
  const op = random.pick(['add', 'remove', 'replace', 'move', 'copy', 'test', 'x'])
  return { op, path: pointer(random, object), from: pointer(random, object), value: value(random) }
}

/** To a place in the object, or near one. */
function pointer(random: Random, object: JsonValue): string {
  if (random.chance(0.1)) return random.pick(['', '/', '/-', '/~', '/~2', '//', 'x', '/metadata/labels/-', '/spec/-1'])
  let at: JsonValue = object
  let path = ''
  while (typeof at === 'object' && at !== null && random.chance(0.8)) {
    const keys = Object.keys(at)
    const key: string = keys.length > 0 && random.chance(0.9) ? random.pick(keys) : random.pick(['-', '0', '99', 'x'])
    path += `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
    at = (at as Readonly<Record<string, JsonValue>>)[key] ?? null
  }
  return path
}

const directives: readonly JsonObject[] = [
  { $patch: 'delete' },
  { $patch: 'replace' },
  { $patch: 'merge' },
  { $patch: 'x' },
  { $patch: 1 },
  { $retainKeys: ['x'] },
  { '$deleteFromPrimitiveList/finalizers': ['x'] },
  { '$setElementOrder/containers': [{ name: 'c' }, {}] },
  { '$setElementOrder/finalizers': [1, null] },
]

/** Some of the fields, with a directive now and then. */
function partOf(random: Random, object: JsonValue, isStrategic: boolean): JsonValue {
  if (Array.isArray(object)) return object.map((item) => partOf(random, item, isStrategic))
  if (typeof object !== 'object' || object === null) return random.chance(0.9) ? object : value(random)
  const kept = Object.entries(object).filter(() => random.chance(0.6))
  const directive = isStrategic && random.chance(0.1) ? random.pick(directives) : {}
  return {
    ...Object.fromEntries(kept.map(([key, member]) => [key, partOf(random, member, isStrategic)])),
    ...directive,
  }
}

const inserted = [
  '\u0000',
  '\ufeff',
  '---\n',
  '&a ',
  '*a',
  '<<: *a\n',
  '!!binary ',
  '{"a":1,"a":2}',
  '\\ud800',
  '1e999',
  '{',
  ']',
  '"',
  '\t',
  '\n? x\n',
  'k8s\u0000',
]

/** Mostly as it was. */
function damaged(random: Random, body: Buffer): Buffer {
  if (random.chance(0.8) || body.length === 0) return body
  const at = random.below(body.length)
  return random.weighted([
    [3, () => flipped(random, body)],
    [2, () => body.subarray(0, at)],
    [1, () => Buffer.concat([body, body])],
    [3, () => Buffer.concat([body.subarray(0, at), Buffer.from(random.pick(inserted)), body.subarray(at)])],
    [2, () => Buffer.concat([body.subarray(0, at), body.subarray(random.below(body.length))])],
  ])
}

function flipped(random: Random, body: Buffer): Buffer {
  const copy = Buffer.from(body)
  for (let i = 1 + random.below(8); i > 0; i--) copy[random.below(copy.length)] = random.below(256)
  return copy
}

/** What parsers fear. */
export function hostile(random: Random): Sent {
  const depth = 10 ** (1 + random.below(4))
  const texts: readonly (readonly [type: string, text: string])[] = [
    ['application/json', '['.repeat(depth)],
    ['application/json', `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`],
    ['application/yaml', `${'- '.repeat(depth)}1`],
    ['application/yaml', `${'{a: '.repeat(depth)}1${'}'.repeat(depth)}`],
    ['application/yaml', bomb(random.below(12))],
    ['application/yaml', `a: &a [*a]\nb: *a`],
    ['application/yaml', `kind: &k ConfigMap\napiVersion: v1\nmetadata: {name: *k, <<: {name: y}}`],
    ['application/json', `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x"},"data":{${keys(depth)}}}`],
    ['application/json', `{"metadata":{"generation":1${'0'.repeat(depth)}}}`],
    ['application/vnd.kubernetes.protobuf', `k8s\u0000${'\u0012'.repeat(depth)}`],
    ['application/json', JSON.stringify(value(random))],
    ['text/plain', text(random)],
    [text(random).replaceAll(/[^ -~]/g, ''), '{}'],
  ]
  const [type, body] = random.pick(texts)
  return { type, body: damaged(random, Buffer.from(body)) }
}

const bomb = (levels: number): string =>
  Array.from({ length: levels }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(i === 0 ? 'x' : `*a${i}`)}]`).join(
    '\n',
  )

const keys = (count: number): string => Array.from({ length: count }, (_, i) => `"k${i}":"v"`).join(',')
