/**
 * The functions of the language itself: operators, conversions, texts, sizes, `in`.
 * @see https://github.com/google/cel-spec/blob/master/doc/langdef.md#list-of-standard-definitions
 */
import { AllowanceExceeded, type Budget } from '../budget.ts'
import { compare, equal } from '../equality.ts'
import { fn, type Library, method, type Overload } from '../functions.ts'
import { joinByIdentity } from '../json-values.ts'
import { printDouble } from '../print-number.ts'
import { parseDuration, parseTimestamp, printDuration, printTimestamp } from '../time-text.ts'
import {
  CelError,
  type CelList,
  type CelMap,
  type CelValue,
  Duration,
  JoinedList,
  Timestamp,
  TypeValue,
  typeNameOf,
  Uint,
} from '../values.ts'

const maxJoined = 2 ** 31

export function int64(value: bigint): bigint {
  if (BigInt.asIntN(64, value) !== value) throw new CelError('return error for overflow')
  return value
}

function uint64(value: bigint): Uint {
  if (BigInt.asUintN(64, value) !== value) throw new CelError('return error for overflow')
  return new Uint(value)
}

function nonZero(value: bigint, what: string): bigint {
  if (value === 0n) throw new CelError(what)
  return value
}

const arithmetic: Library = [
  fn('add_int64', '_+_', ['int, int', 'int'], (a: bigint, b: bigint) => int64(a + b)),
  fn('add_uint64', '_+_', ['uint, uint', 'uint'], (a: Uint, b: Uint) => uint64(a.value + b.value)),
  fn('add_double', '_+_', ['double, double', 'double'], (a: number, b: number) => a + b),
  fn('add_string', '_+_', ['string, string', 'string'], (a: string, b: string, budget: Budget) => {
    budget.work((a.length + b.length) / 10)
    return a + b
  }),
  fn('add_bytes', '_+_', ['bytes, bytes', 'bytes'], (a: Uint8Array, b: Uint8Array, budget: Budget) => {
    budget.work((a.length + b.length) / 10)
    return Uint8Array.from(Buffer.concat([a, b]))
  }),
  fn('add_list', '_+_', ['list(A), list(A)', 'list(A)'], (a: CelList, b: CelList, budget: Budget) => {
    const merged = joinByIdentity(a, b, (x, y) => equal(x, y, budget))
    if (merged) return merged
    if (a.size + b.size > maxJoined) throw new CelError('list too long')
    return a.size === 0 ? b : b.size === 0 ? a : new JoinedList(a, b)
  }),
  fn('add_duration_duration', '_+_', ['duration, duration', 'duration'], (a: Duration, b: Duration) => {
    return new Duration(a.nanos + b.nanos)
  }),
  fn('add_duration_timestamp', '_+_', ['duration, timestamp', 'timestamp'], (a: Duration, b: Timestamp) => {
    return new Timestamp(a.nanos + b.nanos)
  }),
  fn('add_timestamp_duration', '_+_', ['timestamp, duration', 'timestamp'], (a: Timestamp, b: Duration) => {
    return new Timestamp(a.nanos + b.nanos)
  }),
  fn('subtract_int64', '_-_', ['int, int', 'int'], (a: bigint, b: bigint) => int64(a - b)),
  fn('subtract_uint64', '_-_', ['uint, uint', 'uint'], (a: Uint, b: Uint) => uint64(a.value - b.value)),
  fn('subtract_double', '_-_', ['double, double', 'double'], (a: number, b: number) => a - b),
  fn('subtract_duration_duration', '_-_', ['duration, duration', 'duration'], (a: Duration, b: Duration) => {
    return new Duration(a.nanos - b.nanos)
  }),
  fn('subtract_timestamp_timestamp', '_-_', ['timestamp, timestamp', 'duration'], (a: Timestamp, b: Timestamp) => {
    return new Duration(a.nanos - b.nanos)
  }),
  fn('subtract_timestamp_duration', '_-_', ['timestamp, duration', 'timestamp'], (a: Timestamp, b: Duration) => {
    return new Timestamp(a.nanos - b.nanos)
  }),
  fn('multiply_int64', '_*_', ['int, int', 'int'], (a: bigint, b: bigint) => int64(a * b)),
  fn('multiply_uint64', '_*_', ['uint, uint', 'uint'], (a: Uint, b: Uint) => uint64(a.value * b.value)),
  fn('multiply_double', '_*_', ['double, double', 'double'], (a: number, b: number) => a * b),
  fn('divide_int64', '_/_', ['int, int', 'int'], (a: bigint, b: bigint) => int64(a / nonZero(b, 'division by zero'))),
  fn('divide_uint64', '_/_', ['uint, uint', 'uint'], (a: Uint, b: Uint) => {
    return uint64(a.value / nonZero(b.value, 'division by zero'))
  }),
  fn('divide_double', '_/_', ['double, double', 'double'], (a: number, b: number) => a / b),
  fn('modulo_int64', '_%_', ['int, int', 'int'], (a: bigint, b: bigint) => a % nonZero(b, 'modulus by zero')),
  fn('modulo_uint64', '_%_', ['uint, uint', 'uint'], (a: Uint, b: Uint) => {
    return uint64(a.value % nonZero(b.value, 'modulus by zero'))
  }),
  fn('negate_int64', '-_', ['int', 'int'], (a: bigint) => int64(-a)),
  fn('negate_double', '-_', ['double', 'double'], (a: number) => -a),
  fn('logical_not', '!_', ['bool', 'bool'], (a: boolean) => !a),
]

const ordered = ['bool', 'int', 'uint', 'double', 'string', 'bytes', 'timestamp', 'duration']
const mixed = [
  ['int', 'uint'],
  ['int', 'double'],
  ['uint', 'int'],
  ['uint', 'double'],
  ['double', 'int'],
  ['double', 'uint'],
] as const

const comparison = (name: string, id: string, holds: (order: number) => boolean): Library =>
  [...ordered.map((type) => [type, type] as const), ...mixed].map(([a, b]) =>
    fn(a === b ? `${id}_${a}` : `${id}_${a}_${b}`, name, [`${a}, ${b}`, 'bool'], (x: CelValue, y: CelValue) => {
      const order = compare(x, y)
      return order !== undefined && holds(order)
    }),
  )

/** The checker and the compiler treat them apart; here they have their types. */
const special = (id: string, name: string, params: string, result: string): Overload =>
  fn(id, name, [params, result], () => {
    throw new CelError('no such overload')
  })

const comparisons: Library = [
  ...comparison('_<_', 'less', (o) => o < 0),
  ...comparison('_<=_', 'less_equals', (o) => o <= 0),
  ...comparison('_>_', 'greater', (o) => o > 0),
  ...comparison('_>=_', 'greater_equals', (o) => o >= 0),
  fn('equals', '_==_', ['A, A', 'bool'], (a: CelValue, b: CelValue, budget: Budget) => equal(a, b, budget)),
  fn('not_equals', '_!=_', ['A, A', 'bool'], (a: CelValue, b: CelValue, budget: Budget) => !equal(a, b, budget)),
  fn('in_list', '@in', ['A, list(A)', 'bool'], (a: CelValue, list: CelList, budget: Budget) => {
    for (const item of list) if (equal(a, item, budget)) return true
    return false
  }),
  fn('in_map', '@in', ['A, map(A, B)', 'bool'], (a: CelValue, map: CelMap) => map.find(a) !== undefined),
  special('logical_and', '_&&_', 'bool, bool', 'bool'),
  special('logical_or', '_||_', 'bool, bool', 'bool'),
  special('conditional', '_?_:_', 'bool, A, A', 'A'),
  special('not_strictly_false', '@not_strictly_false', 'bool', 'bool'),
  special('index_list', '_[_]', 'list(A), int', 'A'),
  special('index_map', '_[_]', 'map(A, B), A', 'B'),
  special('optional_list_index_int', '_[_]', 'optional_type(list(A)), int', 'optional_type(A)'),
  special('optional_map_index_value', '_[_]', 'optional_type(map(A, B)), A', 'optional_type(B)'),
  special('@mapInsert_map_key_value', 'cel.@mapInsert', 'map(A, B), A, B', 'map(A, B)'),
  special('@mapInsert_map_map', 'cel.@mapInsert', 'map(A, B), map(A, B)', 'map(A, B)'),
]

/** Code points. */
export function countCharacters(text: string, budget: Budget): number {
  budget.work(text.length / 10)
  let count = text.length
  for (let i = 0; i < text.length - 1; i++) {
    const c = text.charCodeAt(i)
    if (c >= 0xd800 && c < 0xdc00) count--
  }
  return count
}

const sizes: Library = [fn, method].flatMap((declare) => [
  declare(`size_string`, 'size', ['string', 'int'], (s: string, b: Budget) => BigInt(countCharacters(s, b))),
  declare(`size_bytes`, 'size', ['bytes', 'int'], (b: Uint8Array) => BigInt(b.byteLength)),
  declare(`size_list`, 'size', ['list(A)', 'int'], (l: CelList) => BigInt(l.size)),
  declare(`size_map`, 'size', ['map(A, B)', 'int'], (m: CelMap) => BigInt(m.size)),
])

const searched =
  (search: (text: string, part: string) => boolean) =>
  (text: string, part: string, budget: Budget): boolean => {
    budget.work((text.length + part.length) / 10)
    return search(text, part)
  }

const matches = (text: string, pattern: string, budget: Budget): boolean => {
  try {
    return budget.pattern(pattern).test(text)
  } catch (e) {
    if (e instanceof CelError || e instanceof AllowanceExceeded) throw e
    throw new CelError(`error parsing regexp: ${e instanceof Error ? e.message : String(e)}`, { cause: e })
  }
}

const texts: Library = [
  method(
    'contains_string',
    'contains',
    ['string, string', 'bool'],
    searched((s, p) => s.includes(p)),
  ),
  method(
    'starts_with_string',
    'startsWith',
    ['string, string', 'bool'],
    searched((s, p) => s.startsWith(p)),
  ),
  method(
    'ends_with_string',
    'endsWith',
    ['string, string', 'bool'],
    searched((s, p) => s.endsWith(p)),
  ),
  method('matches_string', 'matches', ['string, string', 'bool'], matches),
  fn('matches', 'matches', ['string, string', 'bool'], matches),
]

const wholeNumber = (value: number): bigint => {
  if (!(value > -(2 ** 63) && value < 2 ** 63)) throw new CelError('integer overflow')
  return BigInt(Math.trunc(value))
}

function intOf(text: string): bigint {
  if (text.length > 32 || !/^[+-]?\d+$/.test(text)) {
    throw new CelError(`type conversion error from 'string' to 'int'`)
  }
  return int64(BigInt(text.replace(/^\+/, '')))
}

function uintOf(text: string): Uint {
  if (text.length > 32 || !/^\d+$/.test(text)) throw new CelError(`type conversion error from 'string' to 'uint'`)
  return uint64(BigInt(text))
}

function doubleOf(text: string): number {
  if (/^[+-]?(inf|infinity)$/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity
  if (/^nan$/i.test(text)) return NaN
  if (text.length > 512 || !/^[+-]?(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text)) {
    throw new CelError(`type conversion error from 'string' to 'double'`)
  }
  return Number(text)
}

function boolOf(text: string): boolean {
  if (['1', 't', 'T', 'true', 'TRUE', 'True'].includes(text)) return true
  if (['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(text)) return false
  throw new CelError(`type conversion error from 'string' to 'bool'`)
}

function textOf(bytes: Uint8Array, budget: Budget): string {
  budget.work(bytes.length / 10)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (e) {
    throw new CelError('invalid UTF-8 in bytes, cannot convert to string', { cause: e })
  }
}

const same = (value: CelValue): CelValue => value
const seconds = (nanos: bigint): bigint => nanos / 1_000_000_000n

const conversions: Library = [
  fn('int64_to_int64', 'int', ['int', 'int'], same),
  fn('uint64_to_int64', 'int', ['uint', 'int'], (v: Uint) => int64(v.value)),
  fn('double_to_int64', 'int', ['double', 'int'], wholeNumber),
  fn('string_to_int64', 'int', ['string', 'int'], intOf),
  fn('timestamp_to_int64', 'int', ['timestamp', 'int'], (t: Timestamp) => {
    return seconds(t.nanos) - (t.nanos < 0n && t.nanos % 1_000_000_000n !== 0n ? 1n : 0n)
  }),
  fn('duration_to_int64', 'int', ['duration', 'int'], (d: Duration) => d.nanos),
  fn('uint64_to_uint64', 'uint', ['uint', 'uint'], same),
  fn('int64_to_uint64', 'uint', ['int', 'uint'], (v: bigint) => uint64(v)),
  fn('double_to_uint64', 'uint', ['double', 'uint'], (v: number) => {
    if (!(v > -1 && v < 2 ** 64)) throw new CelError('unsigned integer overflow')
    return new Uint(BigInt(Math.trunc(v)))
  }),
  fn('string_to_uint64', 'uint', ['string', 'uint'], uintOf),
  fn('double_to_double', 'double', ['double', 'double'], same),
  fn('int64_to_double', 'double', ['int', 'double'], (v: bigint) => Number(v)),
  fn('uint64_to_double', 'double', ['uint', 'double'], (v: Uint) => Number(v.value)),
  fn('string_to_double', 'double', ['string', 'double'], doubleOf),
  fn('bool_to_bool', 'bool', ['bool', 'bool'], same),
  fn('string_to_bool', 'bool', ['string', 'bool'], boolOf),
  fn('string_to_string', 'string', ['string', 'string'], same),
  fn('bool_to_string', 'string', ['bool', 'string'], (v: boolean) => String(v)),
  fn('int64_to_string', 'string', ['int', 'string'], (v: bigint) => String(v)),
  fn('uint64_to_string', 'string', ['uint', 'string'], (v: Uint) => String(v.value)),
  fn('double_to_string', 'string', ['double', 'string'], (v: number) => printDouble(v)),
  fn('bytes_to_string', 'string', ['bytes', 'string'], textOf),
  fn('timestamp_to_string', 'string', ['timestamp', 'string'], (v: Timestamp) => printTimestamp(v)),
  fn('duration_to_string', 'string', ['duration', 'string'], (v: Duration) => printDuration(v)),
  fn('bytes_to_bytes', 'bytes', ['bytes', 'bytes'], same),
  fn('string_to_bytes', 'bytes', ['string', 'bytes'], (v: string, budget: Budget) => {
    budget.work(v.length / 10)
    return Uint8Array.from(Buffer.from(v))
  }),
  fn('timestamp_to_timestamp', 'timestamp', ['timestamp', 'timestamp'], same),
  fn('string_to_timestamp', 'timestamp', ['string', 'timestamp'], (v: string) => parseTimestamp(v)),
  fn('int64_to_timestamp', 'timestamp', ['int', 'timestamp'], (v: bigint) => new Timestamp(v * 1_000_000_000n)),
  fn('duration_to_duration', 'duration', ['duration', 'duration'], same),
  fn('string_to_duration', 'duration', ['string', 'duration'], (v: string) => parseDuration(v)),
  fn('int64_to_duration', 'duration', ['int', 'duration'], (v: bigint) => new Duration(v)),
  fn('type', 'type', ['A', 'type(A)'], (v: CelValue) => new TypeValue(typeNameOf(v))),
  fn('to_dyn', 'dyn', ['A', 'dyn'], same),
]

export const standardLibrary: Library = [...arithmetic, ...comparisons, ...sizes, ...texts, ...conversions]
