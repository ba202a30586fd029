/** Which values are equal, and which comes first. Numbers compare across their types. */
import type { Budget } from './budget.ts'
import {
  CelError,
  CelList,
  CelMap,
  CelObject,
  type CelValue,
  Duration,
  OpaqueValue,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
} from './values.ts'

type Numeric = bigint | number

const numberOf = (v: CelValue): Numeric | undefined =>
  typeof v === 'bigint' || typeof v === 'number' ? v : v instanceof Uint ? v.value : undefined

export function equal(a: CelValue, b: CelValue, budget: Budget): boolean {
  if (a === b) return true
  if (typeof a === 'string') {
    if (typeof b === 'string') budget.work(Math.min(a.length, b.length) / 100)
    return false
  }
  budget.work(1)
  const [x, y] = [numberOf(a), numberOf(b)]
  if (x !== undefined && y !== undefined) return equalNumbers(x, y)
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (a instanceof CelList) return b instanceof CelList && equalLists(a, b, budget)
  if (a instanceof CelMap) return b instanceof CelMap && equalMaps(a, b, budget)
  if (a instanceof CelObject) return b instanceof CelObject && a.equals(b, (x, y) => equal(x, y, budget))
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanos === b.nanos
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0
  if (a instanceof TypeValue) return b instanceof TypeValue && a.typeName === b.typeName
  if (a instanceof Optional) {
    if (!(b instanceof Optional)) return false
    if (a.value === undefined || b.value === undefined) return a.value === b.value
    return equal(a.value, b.value, budget)
  }
  return a instanceof OpaqueValue && b instanceof OpaqueValue && a.typeName === b.typeName && a.equals(b)
}

/** Exact, whatever the types: 2^53 + 1 is no double. */
const equalNumbers = (x: Numeric, y: Numeric): boolean =>
  typeof x === typeof y ? x === y : Number.isInteger(Number(x)) && BigInt(x) === BigInt(y)

/** A list that is compared in its own way, whichever side it stands on (sets and lists with keys). */
export interface ComparesItself {
  equalsList(other: CelList, equal: (a: CelValue, b: CelValue) => boolean): boolean
}

const comparesItself = (list: CelList): list is CelList & ComparesItself => 'equalsList' in list

function equalLists(a: CelList, b: CelList, budget: Budget): boolean {
  if (a.size !== b.size) return false
  const same = (x: CelValue, y: CelValue): boolean => equal(x, y, budget)
  if (comparesItself(a)) return a.equalsList(b, same)
  if (comparesItself(b)) return b.equalsList(a, same)
  for (let i = 0; i < a.size; i++) if (!equal(a.at(i), b.at(i), budget)) return false
  return true
}

function equalMaps(a: CelMap, b: CelMap, budget: Budget): boolean {
  if (a.size !== b.size) return false
  for (const key of a.keys()) {
    const [x, y] = [a.find(key), b.find(key)]
    if (x === undefined || y === undefined || !equal(x, y, budget)) return false
  }
  return true
}

/** NaN is neither before nor after: undefined. @throws CelError for values without an order, or of unlike types */
export function compare(a: CelValue, b: CelValue): number | undefined {
  const [x, y] = [numberOf(a), numberOf(b)]
  if (x !== undefined && y !== undefined) {
    // An integer beside a double is made one, and may lose its last digits.
    const [l, r] = typeof x === typeof y ? [x, y] : [Number(x), Number(y)]
    return l < r ? -1 : l > r ? 1 : l >= r ? 0 : undefined
  }
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b)
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b)
  if (a instanceof Timestamp && b instanceof Timestamp) return sign(a.nanos - b.nanos)
  if (a instanceof Duration && b instanceof Duration) return sign(a.nanos - b.nanos)
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b)
  throw new CelError('no such overload')
}

/** By code points, as UTF-8 bytes are ordered; `<` of this language orders by UTF-16 units. */
function compareTexts(a: string, b: string): number {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)]
    if (x === y) continue
    const isHigh = (c: number): boolean => c >= 0xd800 && c <= 0xdfff
    if (isHigh(x) !== isHigh(y)) return isHigh(x) ? 1 : -1
    return x - y
  }
  return a.length - b.length
}

const sign = (n: bigint): number => (n < 0n ? -1 : n > 0n ? 1 : 0)
