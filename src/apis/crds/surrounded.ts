/** A value at a place of an otherwise empty object, and the way back. For what only the whole can judge. */
import { isJsonObject, member } from '../../kube/json-value.ts'
import type { JsonValue } from '../../kube/types.ts'

/** A member, or an item. */
export type Step = string | number

/** `x` at `['a', 0]` is `{a: [x]}`. */
export const surrounded = (value: JsonValue, way: readonly Step[]): JsonValue =>
  way.reduceRight<JsonValue>((inner, step) => (typeof step === 'number' ? [inner] : { [step]: inner }), value)

/** What is at that place; undefined if nothing is left there. */
export function within(whole: JsonValue, way: readonly Step[]): JsonValue | undefined {
  let value: JsonValue | undefined = whole
  for (const step of way) {
    if (typeof step === 'number') value = Array.isArray(value) ? value[step] : undefined
    else value = isJsonObject(value) ? member(value, step) : undefined
  }
  return value
}
