/**
 * The largest bodies that the server takes: of every kind, with each of its lists and maps in turn filled up to what a
 * body may have. Which list, in which way it is sent, and whether it is kept comes from a seed.
 */

import { ProtobufCodec } from '../../src/catalog/protobuf/protobuf-codec.ts'
import type { Schema } from '../../src/kube/schema/schema.ts'
import type { JsonObject, JsonValue } from '../../src/kube/types.ts'
import { maxValues } from '../../src/kube/value-count.ts'
import { type Encode, inJson, inProtobuf } from '../generated/encodings.ts'
import type { Subject } from '../generated/subjects.ts'
import { Random } from './random.ts'

const maxBytes = 3 * 1024 * 1024
/** What surrounds the list is little. */
const spareValues = 500
const spareBytes = 64 * 1024
/** Of a schema that contains itself (that of definitions). */
const maxDepth = 9

export interface LargestRequest {
  /** For a report: kind, list and way. */
  readonly what: string
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly type?: string
  readonly accept?: string
  readonly body?: string | Uint8Array
}

/** A list or map of a kind: names of fields on the way to it, `[]` for an item of a list. */
export interface Place {
  readonly path: readonly string[]
  readonly schema: Schema
}

const isCollection = ({ type, items, additionalProperties, properties }: Schema): boolean =>
  type === 'any' || items !== undefined || additionalProperties !== undefined || (type === 'object' && !properties)

export function placesIn(schema: Schema): Place[] {
  const found: Place[] = []
  const visit = (at: Schema, path: readonly string[], around: readonly Schema[]): void => {
    if (path.length > maxDepth || around.includes(at)) return
    if (isCollection(at)) found.push({ path, schema: at })
    for (const [name, child] of at.properties ?? []) visit(child, [...path, name], [...around, at])
    if (at.items !== undefined) visit(at.items, [...path, '[]'], [...around, at])
  }
  visit(schema, [], [])
  return found
}

/** How many values of a body it counts as. */
const valuesOf = (value: JsonValue): number =>
  typeof value === 'object' && value !== null
    ? 1 + Object.values(value).reduce<number>((sum, member) => sum + valuesOf(member as JsonValue), 0)
    : 1

/** One value of the schema that is as small as it can be and differs from others by `i`. */
function itemOf(schema: Schema, i: number, depth = 3): JsonValue {
  switch (schema.type) {
    case 'string':
      if (schema.enum !== undefined) return String(schema.enum[i % schema.enum.length])
      return schema.format === 'byte' ? 'AAAA' : schema.format === undefined ? `n${i}` : '2026-01-01T00:00:00Z'
    case 'integer':
    case 'number':
    case 'intOrString':
      return i + 1
    case 'boolean':
      return true
    case 'quantity':
      return '1'
    case 'any':
      return { [`k${i}`]: 'v' }
    case 'array':
      return schema.items === undefined || depth === 0 ? [] : [itemOf(schema.items, i, depth - 1)]
    case 'object': {
      const known = [...(schema.properties ?? [])]
      const identity = known.filter(([name]) => /^(name|key|uid|kind|apiVersion|ip|port|manager)$/.test(name))
      const said = identity.length > 0 ? identity : known.slice(0, 1)
      return Object.fromEntries(said.map(([name, child]) => [name, itemOf(child, i, depth - 1)]))
    }
  }
}

/** As many members as fit. `like`: an item that is valid. */
function filled({ schema }: Place, like: JsonValue | undefined, value: string): JsonValue {
  const { items, additionalProperties } = schema
  const ofMap = typeof additionalProperties === 'object' ? additionalProperties : undefined
  const make = (i: number): JsonValue => {
    if (items === undefined) return ofMap === undefined ? value : itemOf(ofMap, i)
    const made = itemOf(items, i)
    return isPlain(like) && isPlain(made) ? { ...like, ...made } : made
  }
  const sample = make(10_000)
  const bytes = JSON.stringify(sample).length + 16
  const count = Math.floor(Math.min((maxValues - spareValues) / valuesOf(sample), (maxBytes - spareBytes) / bytes))
  const members = Array.from({ length: count }, (_, i) => make(i))
  return items === undefined ? Object.fromEntries(members.map((member, i) => [`k${i}`, member])) : members
}

const isPlain = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The object with its list or map at this place filled. */
export function grown(object: JsonObject, place: Place, value = 'v'): JsonObject {
  const put = (at: JsonValue | undefined, path: readonly string[]): JsonValue => {
    const [name, ...rest] = path
    if (name === undefined) return filled(place, Array.isArray(at) ? at[0] : undefined, value)
    if (name === '[]') {
      const [first, ...others] = Array.isArray(at) ? at : []
      return [put(first, rest), ...others]
    }
    const members = isPlain(at) ? at : {}
    return { ...members, [name]: put(members[name], rest) }
  }
  return put(object, place.path) as JsonObject
}

const json = 'application/json'
const apply = 'application/apply-patch+yaml'
const merge = 'application/merge-patch+json'
const patches = [merge, 'application/strategic-merge-patch+json', apply, 'application/json-patch+json']
const tables = `${json};as=Table;v=v1;g=meta.k8s.io`

interface SubjectPlace {
  readonly subject: Subject
  readonly place: Place
}

/** Requests about one object, in the order in which they are sent. */
export class LargestRequests {
  readonly #seed: number
  readonly #places: readonly SubjectPlace[]
  readonly #encodings: readonly (readonly [string, Encode])[]

  constructor(seed: number, subjects: readonly Subject[]) {
    this.#seed = seed
    this.#places = subjects.flatMap((subject) => placesIn(subject.schema).map((place) => ({ subject, place })))
    this.#encodings = [
      ['JSON', inJson],
      // What is JSON is YAML.
      ['YAML', (...of) => ({ type: 'application/yaml', body: String(inJson(...of)?.body) })],
      ['protobuf', inProtobuf(new ProtobufCodec())],
    ]
  }

  get size(): number {
    return this.#places.length
  }

  /** Kind and place of number `i`. */
  titleAt(i: number): string {
    const { subject, place } = this.#placeAt(i)
    return `${subject.title} ${place.path.join('.').replaceAll('.[]', '[]')}`
  }

  /** Number `i` of the seed: each place comes once before any comes again. */
  at(i: number): readonly LargestRequest[] {
    const random = new Random(this.#seed, i)
    const { subject, place } = this.#placeAt(i)
    const title = this.titleAt(i)
    const large = grown(subject.object, place)
    const named = isPlain(large['metadata']) ? large['metadata']['name'] : undefined
    const one = `${subject.path}/${typeof named === 'string' ? named : 'x'}`
    const isKept = subject.isKept && !subject.isFarReaching && random.chance(0.5)
    const query = isKept ? '' : '?dryRun=All'
    const strict = random.chance(0.3) ? `${query === '' ? '?' : '&'}fieldValidation=Strict` : ''
    const [encoding, encode] = random.pick(this.#encodings)
    const sent = encode(subject, large) ?? inJson(subject, large)
    const requests: LargestRequest[] = [
      { what: `${title}: create in ${encoding}`, method: 'POST', path: `${subject.path}${query}${strict}`, ...sent },
    ]
    if (!subject.isKept) return requests
    const type = random.pick(patches)
    const changed = grown(subject.object, place, 'w')
    const manager = type === apply ? `${query === '' ? '?' : '&'}fieldManager=m&force=true` : ''
    const status = subject.hasStatus && place.path[0] === 'status' ? '/status' : ''
    requests.push(
      {
        what: `${title}: update`,
        method: 'PUT',
        path: `${one}${status}${query}`,
        type: json,
        body: JSON.stringify(changed),
      },
      {
        what: `${title}: ${type}`,
        method: 'PATCH',
        path: `${one}${status}${query}${manager}`,
        type,
        body: type === 'application/json-patch+json' ? operations(changed) : JSON.stringify(changed),
      },
    )
    if (!isKept) return requests
    return [
      ...requests,
      {
        what: `${title}: a small patch`,
        method: 'PATCH',
        path: one,
        type: merge,
        body: '{"metadata":{"labels":{"a":"b"}}}',
      },
      { what: `${title}: a list as a Table`, method: 'GET', path: subject.path, accept: tables },
      { what: `${title}: delete`, method: 'DELETE', path: one },
      // What may hold it.
      { what: `${title}: let go`, method: 'PATCH', path: one, type: merge, body: '{"metadata":{"finalizers":null}}' },
    ]
  }

  #placeAt(i: number): SubjectPlace {
    // The size of a step has no divisor in common with most numbers of places.
    return this.#places[(i * 7919 + this.#seed) % this.#places.length] as SubjectPlace
  }
}

const operations = ({ kind: _, apiVersion: __, metadata: ___, ...content }: JsonObject): string =>
  JSON.stringify(Object.entries(content).map(([name, value]) => ({ op: 'add', path: `/${name}`, value })))
