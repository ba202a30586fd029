/**
 * int64 values, also those that a JavaScript number can't hold: they are `ExactNumber`s in JSON.
 */
import { type ExactNumber, exactNumber, isExactNumber } from '../../kube/json-value.ts'

export function exactInteger(value: bigint): number | ExactNumber {
  const near = Number(value)
  return Number.isSafeInteger(near) ? near : exactNumber(value.toString())
}

const int64Max = 2n ** 63n - 1n
const int64Min = -(2n ** 63n)

/** The integer that a JSON value stands for, or undefined if it is none that fits into 64 bits. */
export function integerOf(value: unknown): number | bigint | undefined {
  if (typeof value === 'number') {
    if (Number.isSafeInteger(value)) return value
    return Number.isInteger(value) ? inRange(BigInt(value)) : undefined
  }
  return isExactNumber(value) && /^-?\d+$/.test(value.rawJSON) ? inRange(BigInt(value.rawJSON)) : undefined
}

function inRange(value: bigint): bigint | undefined {
  return value >= int64Min && value <= int64Max ? value : undefined
}
