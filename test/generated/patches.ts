/** A variation as a patch of the object that it varies. */
import type { JsonObject, JsonValue } from '../../src/kube/types.ts'
import { type Step, type Variation, varied } from './variations.ts'

/**
 * Of a merge patch: the fields on the path and nothing beside them. A list that is passed is there whole in the first
 * form, and with the item on the path alone in the second, which a strategic merge patch merges.
 */
export function mergePatch(object: JsonObject, variation: Variation, lists: 'whole' | 'one item'): JsonObject {
  const { path, value } = variation
  const list = path.findIndex((step) => typeof step === 'number')
  if (list < 0) return nested(path, value ?? null) as JsonObject
  const above = path.slice(0, list)
  const whole = memberAt(varied(object, variation), above)
  const isItem = lists === 'one item' && Array.isArray(whole) && whole.length > 0
  return nested(above, isItem ? whole.slice(0, 1) : (whole ?? null)) as JsonObject
}

/** One operation on the path, or on the first step of it that the object does not have. */
export function jsonPatch(object: JsonObject, variation: Variation): readonly JsonObject[] {
  const { path, value } = variation
  const known = path.findIndex((_, i) => memberAt(object, path.slice(0, i + 1)) === undefined)
  const isThere = known < 0
  if (value === undefined && isThere) return [{ op: 'remove', path: pointerTo(path) }]
  const at = isThere ? path : path.slice(0, known + 1)
  const next = memberAt(varied(object, variation), at)
  return [{ op: isThere ? 'replace' : 'add', path: pointerTo(at), value: next ?? null }]
}

function nested(path: readonly Step[], value: JsonValue): JsonValue {
  const [step, ...rest] = path
  return step === undefined ? value : { [step]: nested(rest, value) }
}

function memberAt(object: JsonValue, path: readonly Step[]): JsonValue | undefined {
  let at: JsonValue | undefined = object
  for (const step of path) {
    if (typeof at !== 'object' || at === null) return undefined
    at = (at as Readonly<Record<Step, JsonValue>>)[step]
  }
  return at
}

const pointerTo = (path: readonly Step[]): string =>
  path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
