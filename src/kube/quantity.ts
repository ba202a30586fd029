/**
 * Quantities: `100m`, `1.5Gi`, `12e6`. Exact: a value is a whole number of billionths, kept in a BigInt.
 * Smaller parts round away from zero, as upstream has it: who asks for something gets something.
 *
 * Our bounds: 256 characters, and exponents of ten up to 36; upstream lets a client write 1e2000000000.
 * @see k8s.io/apimachinery/pkg/api/resource/quantity.go v0.36
 */

import { BoundedCache } from '../base/bounded-cache.ts'

export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent'

export interface Quantity {
  /** Billionths. */
  readonly nanos: bigint
  /** How it was written, and how it is printed if it can be. */
  readonly format: QuantityFormat
}

export class QuantityError extends Error {
  override readonly name = 'QuantityError'
}

const wrongFormat = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
const wrongSuffix = "unable to parse quantity's suffix"

const maxLength = 256
const maxExponent = 36
const one = 1_000_000_000n
const maxBinary = (2n ** 63n - 1n) * one

const decimalSuffixes: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
}
const binarySuffixes: Readonly<Record<string, bigint>> = { Ki: 10n, Mi: 20n, Gi: 30n, Ti: 40n, Pi: 50n, Ei: 60n }
const decimalByExponent: ReadonlyMap<number, string> = new Map(
  Object.entries(decimalSuffixes).map(([suffix, exponent]) => [exponent, suffix]),
)
const binaryNames = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']

export const zero: Quantity = Object.freeze({ nanos: 0n, format: 'DecimalSI' })

/** The same few amounts are looked at again and again: by decoding, validation, limits and quotas. */
const parsed = new BoundedCache<string, Quantity>(1000)

/** @throws QuantityError in upstream's words. Blanks around it are allowed, as upstream's JSON decoder allows them. */
export function parseQuantity(text: string): Quantity {
  const known = parsed.get(text)
  if (known !== undefined) return known
  const quantity = parse(text)
  parsed.set(text, quantity)
  return quantity
}

function parse(text: string): Quantity {
  if (text.length > maxLength) throw new QuantityError(wrongFormat)
  const m = /^([+-]?)(\d*)(?:\.(\d*))?((?:[eEinumkKMGTP]+[-+]?\d*|[-+]\d*)?)$/.exec(text.trim())
  const [, sign, whole = '', fraction = '', suffix = ''] = m ?? []
  if (!m || (whole === '' && fraction === '')) throw new QuantityError(wrongFormat)
  const digits = BigInt(whole + fraction)
  const value = scale(digits, fraction.length, suffix)
  return sign === '-' ? { ...value, nanos: -value.nanos } : value
}

function scale(digits: bigint, decimals: number, suffix: string): Quantity {
  const binary = Object.hasOwn(binarySuffixes, suffix) ? binarySuffixes[suffix] : undefined
  if (binary !== undefined) {
    const nanos = divideUp((digits * one) << binary, 10n ** BigInt(decimals))
    if (nanos > maxBinary) return { nanos: maxBinary, format: 'BinarySI' }
    return { nanos, format: nanos > 0n && nanos < one ? 'DecimalSI' : 'BinarySI' }
  }
  let exponent = Object.hasOwn(decimalSuffixes, suffix) ? decimalSuffixes[suffix] : undefined
  let format: QuantityFormat = 'DecimalSI'
  if (exponent === undefined) {
    if (!/^[eE][+-]?\d+$/.test(suffix)) throw new QuantityError(wrongSuffix)
    exponent = Number(suffix.slice(1))
    format = 'DecimalExponent'
    if (exponent > maxExponent) throw new QuantityError(wrongSuffix)
  }
  const power = exponent - decimals + 9
  if (power >= 0) return { nanos: digits * 10n ** BigInt(power), format }
  // Below this no digit of the text reaches a billionth.
  if (power < -2 * maxLength) return { nanos: digits === 0n ? 0n : 1n, format }
  return { nanos: divideUp(digits, 10n ** BigInt(-power)), format }
}

/** Away from zero. */
function divideUp(value: bigint, by: bigint): bigint {
  const quotient = value / by
  if (quotient * by === value) return quotient
  return value < 0n ? quotient - 1n : quotient + 1n
}

/** Undefined instead of an error. */
export function findQuantity(text: string): Quantity | undefined {
  try {
    return parseQuantity(text)
  } catch (e) {
    if (e instanceof QuantityError) return undefined
    throw e
  }
}

/** Of a quantity field in a JSON object: text or number. */
export const quantityOf = (value: string | number | bigint): Quantity => parseQuantity(String(value))

export const wholeQuantity = (value: number | bigint, format: QuantityFormat = 'DecimalSI'): Quantity => ({
  nanos: BigInt(value) * one,
  format,
})

/** The canonical form: no fraction, the largest suffix that allows it. */
export function printQuantity(q: Quantity): string {
  if (q.nanos === 0n) return '0'
  if (q.format === 'BinarySI') {
    const small = q.nanos > -1024n * one && q.nanos < 1024n * one
    if (!small && q.nanos % one === 0n) return printBinary(q.nanos / one)
    return printDecimal(q.nanos, 'DecimalSI')
  }
  return printDecimal(q.nanos, q.format)
}

function printBinary(value: bigint): string {
  let power = 0
  let rest = value
  while (power < 6 && rest % 1024n === 0n) {
    rest /= 1024n
    power++
  }
  return `${rest}${binaryNames[power]}`
}

function printDecimal(nanos: bigint, format: QuantityFormat): string {
  let exponent = -9
  let mantissa = nanos
  const top = format === 'DecimalSI' ? 18 : Number.POSITIVE_INFINITY
  while (exponent < top && mantissa % 1000n === 0n) {
    mantissa /= 1000n
    exponent += 3
  }
  if (format === 'DecimalExponent') return exponent === 0 ? String(mantissa) : `${mantissa}e${exponent}`
  return `${mantissa}${decimalByExponent.get(exponent)}`
}

/** @throws QuantityError */
export const canonicalQuantity = (text: string): string => printQuantity(parseQuantity(text))

export function compareQuantities(a: Quantity, b: Quantity): -1 | 0 | 1 {
  return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0
}

/** In the format of the first, unless it is zero. */
export const addQuantities = (a: Quantity, b: Quantity): Quantity => ({
  nanos: a.nanos + b.nanos,
  format: a.nanos === 0n ? b.format : a.format,
})

export const subtractQuantities = (a: Quantity, b: Quantity): Quantity => ({
  nanos: a.nanos - b.nanos,
  format: a.nanos === 0n ? b.format : a.format,
})

export const maxQuantity = (a: Quantity, b: Quantity): Quantity => (a.nanos < b.nanos ? b : a)

/** Whole units, rounded away from zero. */
export const wholeValue = (q: Quantity): bigint => divideUp(q.nanos, one)

/** Thousandths, rounded away from zero. */
export const milliValue = (q: Quantity): bigint => divideUp(q.nanos, 1_000_000n)

export const isWhole = (q: Quantity): boolean => q.nanos % one === 0n
