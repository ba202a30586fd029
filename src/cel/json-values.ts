/**
 * JSON as values of the language: converted where an expression looks, one level at a time. What a value is follows the
 * declared type; without one, whole numbers are `int` and other numbers `double`.
 * @see k8s.io/apiserver/pkg/cel/common/valuesunstructured.go v0.36
 */
import { isExactNumber, jsonEqual, member } from '../kube/json-value.ts'
import type { JsonObject, JsonValue } from '../kube/types.ts'
import type { DeclaredType } from './declared-type.ts'
import type { ComparesItself } from './equality.ts'
import { parseDuration, parseTimestamp } from './time-text.ts'
import { ArrayList, CelError, CelList, CelMap, CelObject, type CelValue } from './values.ts'

/** @throws CelError if the value is not what its type says */
export function fromJson(json: JsonValue, type?: DeclaredType): CelValue {
  if (json === null || typeof json === 'boolean') return json
  const kind = type?.type.kind ?? 'dyn'
  if (typeof json === 'number') {
    return kind === 'double' || !Number.isInteger(json) ? json : BigInt(json)
  }
  if (typeof json === 'string') return fromText(json, kind)
  if (Array.isArray(json)) return new JsonList(json, type)
  if (isExactNumber(json)) return kind === 'double' ? Number(json.rawJSON) : BigInt(json.rawJSON)
  return type?.fields ? new JsonStruct(json, type) : new JsonMap(json, type?.value)
}

function fromText(text: string, kind: string): CelValue {
  switch (kind) {
    case 'timestamp':
      return parseTimestamp(text.length === 10 ? `${text}T00:00:00Z` : text)
    case 'duration':
      return parseDuration(text)
    case 'bytes':
      return Uint8Array.from(Buffer.from(text, 'base64'))
    default:
      return text
  }
}

/** The JSON that a value stands for; undefined for one that was made by an expression. */
export function jsonBehind(value: CelValue): JsonValue | undefined {
  return value instanceof JsonList || value instanceof JsonMap || value instanceof JsonStruct ? value.json : undefined
}

class JsonList extends CelList implements Partial<ComparesItself> {
  readonly size: number
  readonly type: DeclaredType | undefined
  readonly json: JsonValue[]
  constructor(json: JsonValue[], type: DeclaredType | undefined) {
    super()
    this.json = json
    this.type = type
    this.size = json.length
    if (type?.listType === 'set' || type?.listType === 'map') this.equalsList = equalInAnyOrder
  }
  declare equalsList: ComparesItself['equalsList']
  at(index: number): CelValue {
    return fromJson(this.json[index] ?? null, this.type?.items)
  }
}

function equalInAnyOrder(this: CelList, other: CelList, equal: (a: CelValue, b: CelValue) => boolean): boolean {
  const rest = [...other]
  for (const item of this) {
    const at = rest.findIndex((r) => equal(item, r))
    if (at < 0) return false
    rest.splice(at, 1)
  }
  return true
}

/**
 * What `a + b` is for lists that are sets, or have keys: items of `b` that are in `a` do not come twice; those with the
 * key of an item of `a` take its place. Undefined for other lists.
 */
export function joinByIdentity(
  a: CelList,
  b: CelList,
  equal: (a: CelValue, b: CelValue) => boolean,
): CelList | undefined {
  if (!(a instanceof JsonList)) return undefined
  const { listType, listMapKeys = [] } = a.type ?? {}
  if (listType !== 'set' && listType !== 'map') return undefined
  const keysEqual = (x: CelValue, y: CelValue): boolean =>
    listMapKeys.every((key) => equal(fieldOf(x, key) ?? null, fieldOf(y, key) ?? null))
  const same = listType === 'set' ? equal : keysEqual
  const items = [...a]
  for (const item of b) {
    const at = items.findIndex((i) => same(i, item))
    if (at < 0) items.push(item)
    else items[at] = item
  }
  return new ArrayList(items)
}

const fieldOf = (value: CelValue, name: string): CelValue | undefined =>
  value instanceof CelObject ? value.field(name) : value instanceof CelMap ? value.find(name) : undefined

class JsonMap extends CelMap {
  readonly json: JsonObject
  readonly #value: DeclaredType | undefined
  constructor(json: JsonObject, value: DeclaredType | undefined) {
    super()
    this.json = json
    this.#value = value
  }
  get size(): number {
    return Object.keys(this.json).length
  }
  find(key: CelValue): CelValue | undefined {
    if (typeof key !== 'string') return undefined
    const found = member(this.json, key)
    return found === undefined ? undefined : fromJson(found, this.#value)
  }
  keys(): Iterable<CelValue> {
    return Object.keys(this.json)
  }
}

class JsonStruct extends CelObject {
  readonly json: JsonObject
  readonly #type: DeclaredType
  constructor(json: JsonObject, type: DeclaredType) {
    super()
    this.json = json
    this.#type = type
  }
  get typeName(): string {
    return this.#type.type.name
  }
  get size(): number {
    return Object.keys(this.json).length
  }
  field(name: string): CelValue | undefined {
    const declared = this.#type.fields?.get(name)
    if (declared === undefined) throw new CelError(`no such key: ${name}`)
    const found = member(this.json, declared.jsonName)
    return found === undefined ? undefined : fromJson(found, declared.type)
  }
  equals(other: CelObject, equal: (a: CelValue, b: CelValue) => boolean): boolean {
    if (!(other instanceof JsonStruct)) return false
    if (this.#type.fields !== other.#type.fields) return jsonEqual(this.json, other.json)
    if (this.size !== other.size) return false
    return Object.keys(this.json).every((key) => {
      const [a, b] = [member(this.json, key), member(other.json, key)]
      if (a === undefined || b === undefined) return false
      const type = this.#type.byJsonName?.get(key)
      return type ? equal(fromJson(a, type), fromJson(b, type)) : jsonEqual(a, b)
    })
  }
}

/** An object that is made while an expression runs: `Object{spec: …}`. */
export class BuiltObject extends CelObject {
  readonly typeName: string
  readonly values: ReadonlyMap<string, CelValue>
  constructor(typeName: string, values: ReadonlyMap<string, CelValue>) {
    super()
    this.typeName = typeName
    this.values = values
  }
  get size(): number {
    return this.values.size
  }
  field(name: string): CelValue | undefined {
    return this.values.get(name)
  }
  equals(other: CelObject, equal: (a: CelValue, b: CelValue) => boolean): boolean {
    if (!(other instanceof BuiltObject) || other.typeName !== this.typeName || other.size !== this.size) return false
    return [...this.values].every(([name, value]) => {
      const found = other.values.get(name)
      return found !== undefined && equal(value, found)
    })
  }
}
