/**
 * int64 values that a JavaScript number can't hold exactly. They appear as `JSON.rawJSON` values, so that they are
 * printed digit by digit; everything smaller is a plain number.
 */

interface RawJson {
  readonly rawJSON: string
}
/** Missing in TypeScript's library. @see https://tc39.es/proposal-json-parse-with-source/ */
const json = JSON as typeof JSON & { rawJSON(text: string): RawJson; isRawJSON(value: unknown): value is RawJson }

export function exactInteger(value: bigint): unknown {
  const near = Number(value)
  return Number.isSafeInteger(near) ? near : json.rawJSON(value.toString())
}

const int64Max = 2n ** 63n - 1n
const int64Min = -(2n ** 63n)

/** The integer that a JSON value stands for, or undefined if it is none that fits into 64 bits. */
export function integerOf(value: unknown): number | bigint | undefined {
  if (typeof value === 'number') {
    if (Number.isSafeInteger(value)) return value
    return Number.isInteger(value) ? inRange(BigInt(value)) : undefined
  }
  if (typeof value === 'bigint') return inRange(value)
  if (json.isRawJSON(value) && /^-?\d+$/.test(value.rawJSON)) return inRange(BigInt(value.rawJSON))
  return undefined
}

function inRange(value: bigint): bigint | undefined {
  return value >= int64Min && value <= int64Max ? value : undefined
}
