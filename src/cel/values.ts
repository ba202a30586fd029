/**
 * Values while an expression runs. int = bigint, double = number, the rest as the names say. Lists and maps are behind
 * classes, so that JSON is converted only where an expression looks (`json-values.ts`), and joining lists copies
 * nothing.
 *
 * Values are immutable, but for the list or map that a macro is building, which nothing else can see.
 */
import type { CelType } from './types.ts'

export type CelValue =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | Uint
  | CelList
  | CelMap
  | CelObject
  | Timestamp
  | Duration
  | Optional
  | TypeValue
  | OpaqueValue

/** What an expression answers when it fails. The message is upstream's wherever upstream has one. */
export class CelError extends Error {
  override readonly name: string = 'CelError'
}

export class Uint {
  readonly value: bigint
  constructor(value: bigint) {
    this.value = value
  }
}

export class Timestamp {
  /** Since 1970. */
  readonly nanos: bigint
  constructor(nanos: bigint) {
    if (nanos < minTimestamp || nanos > maxTimestamp) throw new CelError('timestamp overflow')
    this.nanos = nanos
  }
}
const minTimestamp = -62_135_596_800_000_000_000n
const maxTimestamp = 253_402_300_799_999_999_999n

export class Duration {
  readonly nanos: bigint
  constructor(nanos: bigint) {
    if (nanos !== BigInt.asIntN(64, nanos)) throw new CelError('duration overflow')
    this.nanos = nanos
  }
}

export class Optional {
  static readonly none: Optional = new Optional(undefined)
  readonly value: CelValue | undefined
  constructor(value: CelValue | undefined) {
    this.value = value
  }
}

export class TypeValue {
  /** As `type(x) == …` compares it: `int`, `list`, `google.protobuf.Timestamp`. */
  readonly typeName: string
  constructor(typeName: string) {
    this.typeName = typeName
  }
}

/** A value of an extension's own type: a quantity, an address, the authorizer. */
export abstract class OpaqueValue {
  abstract readonly typeName: string
  abstract equals(other: OpaqueValue): boolean
  /** What it costs to walk over it. */
  get size(): number {
    return 1
  }
}

export abstract class CelList {
  abstract readonly size: number
  /** `index` is within bounds. */
  abstract at(index: number): CelValue
  *[Symbol.iterator](): Iterator<CelValue> {
    for (let i = 0; i < this.size; i++) yield this.at(i)
  }
}

export class ArrayList extends CelList {
  readonly items: CelValue[]
  constructor(items: CelValue[]) {
    super()
    this.items = items
  }
  get size(): number {
    return this.items.length
  }
  at(index: number): CelValue {
    return this.items[index] ?? null
  }
}

/** Two lists as one. Lookup walks down the joins, of which an expression can't make many. */
export class JoinedList extends CelList {
  readonly size: number
  readonly #first: CelList
  readonly #second: CelList
  constructor(first: CelList, second: CelList) {
    super()
    this.#first = first
    this.#second = second
    this.size = first.size + second.size
  }
  at(index: number): CelValue {
    const rest = index - this.#first.size
    return rest < 0 ? this.#first.at(index) : this.#second.at(rest)
  }
}

export abstract class CelMap {
  abstract readonly size: number
  abstract find(key: CelValue): CelValue | undefined
  abstract keys(): Iterable<CelValue>
}

export class EntryMap extends CelMap {
  readonly #entries = new Map<string, readonly [CelValue, CelValue]>()
  get size(): number {
    return this.#entries.size
  }
  find(key: CelValue): CelValue | undefined {
    return this.#entries.get(keyText(key))?.[1]
  }
  *keys(): Iterable<CelValue> {
    for (const [key] of this.#entries.values()) yield key
  }
  /** While it is being built. False if the key is there already. */
  add(key: CelValue, value: CelValue): boolean {
    const text = keyText(key)
    if (this.#entries.has(text)) return false
    this.#entries.set(text, [key, value])
    return true
  }
}

/** An object of declared fields: no map, it can't be ranged over. */
export abstract class CelObject {
  abstract readonly typeName: string
  /** undefined = not set. */
  abstract field(name: string): CelValue | undefined
  abstract equals(other: CelObject, equal: (a: CelValue, b: CelValue) => boolean): boolean
  abstract readonly size: number
}

/** Equal numbers are one key, whatever their types. */
export function keyText(key: CelValue): string {
  if (typeof key === 'string') return `s${key}`
  if (typeof key === 'boolean') return `b${key}`
  if (typeof key === 'bigint') return `n${key}`
  if (key instanceof Uint) return `n${key.value}`
  if (typeof key === 'number') return Number.isInteger(key) ? `n${BigInt(key)}` : `n${key}`
  throw new CelError(`unsupported key type: ${typeNameOf(key)}`)
}

export function typeNameOf(value: CelValue): string {
  switch (typeof value) {
    case 'boolean':
      return 'bool'
    case 'bigint':
      return 'int'
    case 'number':
      return 'double'
    case 'string':
      return 'string'
    default:
  }
  if (value === null) return 'null_type'
  if (value instanceof Uint8Array) return 'bytes'
  if (value instanceof Uint) return 'uint'
  if (value instanceof CelList) return 'list'
  if (value instanceof CelMap) return 'map'
  if (value instanceof Timestamp) return 'google.protobuf.Timestamp'
  if (value instanceof Duration) return 'google.protobuf.Duration'
  if (value instanceof Optional) return 'optional_type'
  if (value instanceof TypeValue) return 'type'
  return (value as CelObject | OpaqueValue).typeName
}

/** May the value stand where a parameter of this type is asked for? Parameters of types are not looked into. */
export function isOfType(value: CelValue, type: CelType): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'param':
    case 'error':
      return true
    case 'string':
      return typeof value === 'string'
    case 'int':
      return typeof value === 'bigint'
    case 'double':
      return typeof value === 'number'
    case 'bool':
      return typeof value === 'boolean'
    default:
      return typeNameOf(value) === type.name
  }
}

/** Characters of a text, items of a container, else 1: what costs are counted in. Texts are counted in UTF-16 units. */
export function costSize(value: CelValue): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 1
  if (value instanceof Uint8Array) return value.byteLength
  if (value instanceof CelList || value instanceof CelMap || value instanceof CelObject) return value.size
  if (value instanceof OpaqueValue) return value.size
  if (value instanceof Optional) return value.value === undefined ? 1 : costSize(value.value)
  return 1
}
