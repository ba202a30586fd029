/**
 * Parts of an object that a field manager owns, by its entry in managedFields: left out of what is applied, or added to
 * it. Fields have the form of FieldsV1, see `held-config.ts`.
 */
import { isJsonObject } from '../../kube/json-value.ts'
import type { JsonObject, JsonValue, KubeObject } from '../../kube/types.ts'
import { isItemOf } from './held-config.ts'

/** What these managers own in the object, `/status` aside. */
export const fieldsOf = ({ metadata }: KubeObject, managers: readonly string[]): JsonObject[] =>
  (metadata.managedFields ?? []).flatMap(({ manager = '', subresource, fieldsV1 }) =>
    managers.includes(manager) && subresource !== 'status' && isJsonObject(fieldsV1) ? [fieldsV1] : [],
  )

const pathsIn = (fields: JsonObject): string[] => Object.keys(fields).filter((path) => path !== '.')

const below = (fields: JsonObject, path: string): JsonObject => {
  const inside = fields[path]
  return isJsonObject(inside) ? inside : {}
}

/** Without the owned fields; keys of list items stay. */
export function withoutFields(value: JsonValue, fields: JsonObject): JsonValue | undefined {
  const paths = pathsIn(fields)
  if (paths.length === 0) return undefined
  if (Array.isArray(value)) {
    return value.flatMap((item) => {
      const path = paths.find((p) => isItemOf(p, item))
      const left =
        path === undefined ? item : path.startsWith('k:') ? withoutItem(item, below(fields, path)) : undefined
      return left === undefined ? [] : [left]
    })
  }
  if (!isJsonObject(value)) return value
  const left: JsonObject = { ...value }
  for (const path of paths) {
    const key = path.slice(2)
    const inside = left[key]
    if (!path.startsWith('f:') || inside === undefined) continue
    const rest = withoutFields(inside, below(fields, path))
    if (rest === undefined) delete left[key]
    else left[key] = rest
  }
  return left
}

/** An item that is owned itself, and not only parts of it, goes. */
const withoutItem = (item: JsonValue, fields: JsonObject): JsonValue | undefined =>
  '.' in fields ? undefined : withoutFields(item, fields)

/** With the owned fields as they are in `live`. */
export function withFields(value: JsonValue | undefined, live: JsonValue, fields: JsonObject): JsonValue {
  const paths = pathsIn(fields)
  if (paths.length === 0) return live
  if (Array.isArray(live)) {
    const items = Array.isArray(value) ? [...value] : []
    for (const path of paths) {
      const found = live.find((item) => isItemOf(path, item))
      if (found === undefined) continue
      const at = items.findIndex((item) => isItemOf(path, item))
      if (at < 0) items.push(withFields(undefined, found, below(fields, path)))
      else items[at] = withFields(items[at], found, below(fields, path))
    }
    return items
  }
  if (!isJsonObject(live)) return live
  const whole: JsonObject = isJsonObject(value) ? { ...value } : {}
  for (const path of paths) {
    const key = path.slice(2)
    const inside = live[key]
    if (path.startsWith('f:') && inside !== undefined) whole[key] = withFields(whole[key], inside, below(fields, path))
  }
  return whole
}
