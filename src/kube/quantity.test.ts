import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  milliValue,
  parseQuantity,
  printQuantity,
  subtractQuantities,
  wholeValue,
} from './quantity.ts'

describe('a quantity is printed in its canonical form', () => {
  const cases: [given: string, want: string][] = [
    ['0', '0'],
    ['0Mi', '0'],
    ['-0', '0'],
    ['1', '1'],
    ['+1', '1'],
    ['001', '1'],
    ['100m', '100m'],
    ['1000m', '1'],
    ['0.5', '500m'],
    ['1.5', '1500m'],
    ['.5', '500m'],
    ['5.', '5'],
    ['1000', '1k'],
    ['1500', '1500'],
    ['1e3', '1e3'],
    ['1E3', '1e3'],
    ['1500e-3', '1500e-3'],
    ['1.5e3', '1500'],
    ['12e6', '12e6'],
    ['1e4', '10e3'],
    ['1E', '1E'],
    ['1000E', '1000E'],
    ['1Ki', '1Ki'],
    ['1024', '1024'],
    ['1024Ki', '1Mi'],
    ['1.5Gi', '1536Mi'],
    ['0.5Ki', '512'],
    ['0.5Mi', '512Ki'],
    ['1000Ki', '1000Ki'],
    ['0.0001Ki', '102400u'],
    ['1100.5Ki', '1126912'],
    ['-1.5Gi', '-1536Mi'],
    ['1n', '1n'],
    ['0.1n', '1n'],
    ['-0.1n', '-1n'],
    ['1e-30', '1e-9'],
    ['16Ei', '9223372036854775807'],
    [' 5Gi ', '5Gi'],
  ]
  test.each(cases)('%s is %s', (given, want) => expect(canonicalQuantity(given)).toBe(want))
})

describe('what is no quantity is refused in upstream words', () => {
  const format = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
  const suffix = "unable to parse quantity's suffix"
  const cases: [given: string, want: string][] = [
    ['', format],
    ['aoeu', format],
    ['.', format],
    ['m', format],
    ['1.1.M', format],
    ['1+1.0M', format],
    ['0.1am', format],
    ['0.1mi', suffix],
    ['.5i', suffix],
    ['1i', suffix],
    ['-3.01e-', suffix],
    ['1KiB', format],
    ['1e37', suffix],
    ['1e2000000000', suffix],
    ['1'.repeat(300), format],
  ]
  test.each(cases)('%s', (given, want) => expect(() => parseQuantity(given)).toThrow(want))
})

test('what was read before is read the same again, and what is refused is refused again', () => {
  const texts = ['1', '1.0', ' 1', '1k', '-1k', '1Ki']
  const first = texts.map(parseQuantity)
  expect(texts.map(parseQuantity)).toEqual(first)
  expect(new Set(first.map((q) => `${q.nanos} ${q.format}`)).size).toBe(4)
  for (let i = 0; i < 2; i++) expect(() => parseQuantity('1x')).toThrow('quantities must match')
})

test('values round away from zero', () => {
  expect(wholeValue(parseQuantity('1.1'))).toBe(2n)
  expect(wholeValue(parseQuantity('-1.1'))).toBe(-2n)
  expect(milliValue(parseQuantity('0.0001'))).toBe(1n)
  expect(milliValue(parseQuantity('250m'))).toBe(250n)
})

test('a sum keeps the format of its first part, unless that is zero', () => {
  const sum = (a: string, b: string): string => printQuantity(addQuantities(parseQuantity(a), parseQuantity(b)))
  expect(sum('1Gi', '1024M')).toBe('2048576Ki')
  expect(sum('1G', '1Gi')).toBe('2073741824')
  expect(sum('0', '1Gi')).toBe('1Gi')
  expect(sum('1500m', '500m')).toBe('2')
})

/** The model: a fraction of two BigInts, straight from the definition of the notation. */
interface Fraction {
  readonly n: bigint
  readonly d: bigint
}
const decimal: Record<string, number> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  e3: 3,
  'e-2': -2,
  E5: 5,
}
const binary: Record<string, bigint> = { Ki: 2n ** 10n, Mi: 2n ** 20n, Gi: 2n ** 30n, Ti: 2n ** 40n }

function model(sign: string, whole: number, milli: number, suffix: string): Fraction {
  const n = (BigInt(whole) * 1000n + BigInt(milli)) * (sign === '-' ? -1n : 1n)
  const factor = binary[suffix]
  if (factor !== undefined) return { n: n * factor, d: 1000n }
  const e = decimal[suffix] ?? 0
  return e >= 0 ? { n: n * 10n ** BigInt(e), d: 1000n } : { n, d: 1000n * 10n ** BigInt(-e) }
}
const same = (a: Fraction, b: Fraction): boolean => a.n * b.d === b.n * a.d
const isNano = (f: Fraction): boolean => (f.n * 10n ** 9n) % f.d === 0n

const quantity = fc
  .tuple(
    fc.constantFrom('', '-', '+'),
    fc.integer({ min: 0, max: 100_000 }),
    fc.integer({ min: 0, max: 999 }),
    fc.constantFrom(...Object.keys(decimal), ...Object.keys(binary)),
  )
  .map(([sign, whole, milli, suffix]) => ({
    text: `${sign}${whole}.${String(milli).padStart(3, '0')}${suffix}`,
    fraction: model(sign, whole, milli, suffix),
  }))
  .filter(({ fraction }) => isNano(fraction))
const exact = (text: string): Fraction => ({ n: parseQuantity(text).nanos, d: 10n ** 9n })

test('parsing, printing, adding and comparing agree with exact fractions', () => {
  fc.assert(
    fc.property(quantity, quantity, (a, b) => {
      const [p, q] = [parseQuantity(a.text), parseQuantity(b.text)]
      expect(same(exact(a.text), a.fraction)).toBe(true)
      expect(same(exact(printQuantity(p)), a.fraction)).toBe(true)
      expect(printQuantity(parseQuantity(printQuantity(p)))).toBe(printQuantity(p))
      const sum = { n: a.fraction.n * b.fraction.d + b.fraction.n * a.fraction.d, d: a.fraction.d * b.fraction.d }
      const difference = { n: a.fraction.n * b.fraction.d - b.fraction.n * a.fraction.d, d: sum.d }
      // Not by way of the text: binary quantities beyond 2^63 are cut off when they are read, as upstream does it.
      expect(same({ n: addQuantities(p, q).nanos, d: 10n ** 9n }, sum)).toBe(true)
      expect(same({ n: subtractQuantities(p, q).nanos, d: 10n ** 9n }, difference)).toBe(true)
      expect(compareQuantities(p, q)).toBe(difference.n < 0n ? -1 : difference.n > 0n ? 1 : 0)
    }),
    { numRuns: 500 },
  )
})
