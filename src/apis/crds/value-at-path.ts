/** A value at a path of an otherwise empty object, and the way back. For rules that judge only a whole object. */
import { isJsonObject, member } from '../../kube/json-value.ts'
import type { JsonValue } from '../../kube/types.ts'

/** A member, or an item. */
export type Step = string | number

/** `x` at `['a', 0]` is `{a: [x]}`. */
export const nestAtPath = (value: JsonValue, path: readonly Step[]): JsonValue =>
  path.reduceRight<JsonValue>((inner, step) => (typeof step === 'number' ? [inner] : { [step]: inner }), value)

/** undefined if nothing is left there. */
export function valueAtPath(whole: JsonValue, path: readonly Step[]): JsonValue | undefined {
  let value: JsonValue | undefined = whole
  for (const step of path) {
    if (typeof step === 'number') value = Array.isArray(value) ? value[step] : undefined
    else value = isJsonObject(value) ? member(value, step) : undefined
  }
  return value
}
