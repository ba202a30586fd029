/**
 * How many values an object may hold, members of objects and items of lists alike. A value costs much more than the two
 * bytes that it takes at least: a pass over 50,000 of them in one map takes 20 to 60 ms, and is one piece. The largest
 * objects in use have some 25,000.
 */
import type { JsonValue } from './types.ts'

/** Of a body, and of what an object comes to by patches. Ours: upstream bounds bytes alone. */
export const maxValues = 30_000

/** Of what a request sent, or would make of an object. */
export class TooManyValuesError extends Error {
  override readonly name = 'TooManyValuesError'
}

/** Counts down while something is decoded. */
export class ValueBudget {
  #left: number

  constructor(values: number) {
    this.#left = values
  }

  /** @throws TooManyValuesError */
  take(values: number): void {
    this.#left -= values
    if (this.#left < 0) throw new TooManyValuesError()
  }
}

/**
 * The value itself and all in it. Stops soon after `most`: it answers more than that, but not how many. By `for … in`:
 * of a large map `Object.values` takes four times as long.
 */
export function countValues(value: JsonValue | undefined, most: number): number {
  if (value === undefined) return 0
  if (typeof value !== 'object' || value === null) return 1
  let count = 1
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && count <= most; i++) count += countValues(value[i], most - count)
    return count
  }
  for (const key in value) {
    count += countValues(value[key], most - count)
    if (count > most) break
  }
  return count
}
