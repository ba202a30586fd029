/** Keys as a store hands them over when it was opened. */
import type { PackedKeys } from '../../src/slabs/record-map.ts'

/** Revisions count from `first`. */
export function packedKeys(keys: readonly string[], first = 1): PackedKeys {
  const bytes = keys.map((key) => Buffer.from(key))
  const numbers = new Float64Array(keys.length * 2)
  let end = 0
  for (const [i, { length }] of bytes.entries()) {
    end += length
    numbers[i * 2] = first + i
    numbers[i * 2 + 1] = end
  }
  return { keys: Buffer.concat(bytes), numbers }
}
