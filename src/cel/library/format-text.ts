/** `"%s is %d".format([…])`. @see cel-go ext/formatting.go */
import type { Budget } from '../budget.ts'
import { printDouble } from '../print-number.ts'
import { printDuration, printTimestamp } from '../time-text.ts'
import {
  CelError,
  CelList,
  CelMap,
  type CelValue,
  Duration,
  OpaqueValue,
  Timestamp,
  TypeValue,
  typeNameOf,
  Uint,
} from '../values.ts'

const clause = /%(?:%|(?:\.(\d{1,4}))?(.))?/gsu
const maxDepth = 64

export function formatText(text: string, args: CelList, budget: Budget): string {
  let next = 0
  let size = 0
  return text.replace(clause, (all, precision: string | undefined, verb: string | undefined) => {
    if (all === '%%') return '%'
    if (verb === undefined) throw new CelError('unexpected end of string')
    if (next >= args.size) throw new CelError(`index ${next} out of range`)
    const shown = formatOne(args.at(next++), verb, precision === undefined ? 6 : Number(precision), budget)
    size += shown.length
    budget.charge(Math.ceil(shown.length / 10))
    if (size > 2 ** 26) throw new CelError('text too long')
    return shown
  })
}

const wrongType = (verb: string, allowed: string, value: CelValue): CelError =>
  new CelError(`error during formatting: ${verb} clause can only be used on ${allowed}, was given ${typeNameOf(value)}`)

function formatOne(value: CelValue, verb: string, precision: number, budget: Budget): string {
  const number = value instanceof Uint ? value.value : value
  switch (verb) {
    case 's':
      return show(value, budget, 0)
    case 'd':
      if (typeof number === 'bigint' || (typeof number === 'number' && !Number.isFinite(number))) return String(number)
      throw wrongType('decimal', 'integers', value)
    case 'f':
    case 'e': {
      if (typeof number !== 'bigint' && typeof number !== 'number') {
        throw wrongType(verb === 'f' ? 'fixed-point' : 'scientific', 'doubles', value)
      }
      const double = Number(number)
      if (!Number.isFinite(double)) return Number.isNaN(double) ? 'NaN' : double > 0 ? 'Infinity' : '-Infinity'
      const digits = Math.min(precision, 100)
      if (verb === 'f') return Math.abs(double) < 1e21 ? double.toFixed(digits) : String(BigInt(double))
      return double.toExponential(digits).replace(/e([+-])(\d)$/, 'e$10$2')
    }
    case 'b':
      if (typeof number === 'boolean') return number ? '1' : '0'
      if (typeof number === 'bigint') return number.toString(2)
      throw wrongType('binary', 'integers and bools', value)
    case 'o':
      if (typeof number === 'bigint') return number.toString(8)
      throw wrongType('octal', 'integers', value)
    case 'x':
    case 'X': {
      const hex = hexOf(number)
      if (hex === undefined) throw wrongType('hex', 'integers, byte buffers, and strings', value)
      return verb === 'X' ? hex.toUpperCase() : hex
    }
    default:
      throw new CelError(`could not parse formatting clause: unrecognized formatting clause "${verb}"`)
  }
}

function hexOf(value: CelValue): string | undefined {
  if (typeof value === 'bigint') return value.toString(16)
  if (typeof value === 'string') return Buffer.from(value).toString('hex')
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : undefined
}

function show(value: CelValue, budget: Budget, depth: number): string {
  budget.work(1)
  if (depth > maxDepth) throw new CelError('value nested too deeply')
  if (typeof value === 'string') return value
  if (typeof value === 'number') return Number.isFinite(value) ? printDouble(value) : formatOne(value, 'f', 6, budget)
  if (value === null || typeof value !== 'object') return String(value)
  if (value instanceof Uint) return String(value.value)
  if (value instanceof Uint8Array) return new TextDecoder().decode(value)
  if (value instanceof Timestamp) return printTimestamp(value)
  if (value instanceof Duration) return printDuration(value)
  if (value instanceof TypeValue) return value.typeName
  if (value instanceof CelList) return `[${[...value].map((v) => show(v, budget, depth + 1)).join(', ')}]`
  if (value instanceof CelMap) {
    const entries = [...value.keys()].map(
      (k) => `${show(k, budget, depth + 1)}: ${show(value.find(k) ?? null, budget, depth + 1)}`,
    )
    return `{${entries.sort().join(', ')}}`
  }
  if (value instanceof OpaqueValue)
    throw wrongType(
      'string',
      'strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
      value,
    )
  throw new CelError(
    'error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, ' +
      `lists, types, durations, and timestamps, was given ${typeNameOf(value)}`,
  )
}
