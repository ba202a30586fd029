/** What of an object would be another, for people to read. What the server keeps for itself is left out. */
import { isJsonObject } from '../../kube/json-value.ts'
import type { JsonObject, JsonValue, KubeObject } from '../../kube/types.ts'

export interface Difference {
  /** `data.a`, `rules[0].verbs` */
  readonly path: string
  /** Absent: it is new. */
  readonly before?: JsonValue
  /** Absent: it goes. */
  readonly after?: JsonValue
}

const bookkeeping = new Set(['managedFields', 'resourceVersion', 'generation', 'uid', 'creationTimestamp', 'selfLink'])

export function differences(before: KubeObject, after: KubeObject): Difference[] {
  const found: Difference[] = []
  compare(content(before), content(after), '', found)
  return found
}

function content({ apiVersion: _a, kind: _k, status: _s, metadata, ...rest }: KubeObject): JsonObject {
  const told = Object.entries(metadata).filter(([key]) => !bookkeeping.has(key))
  return { metadata: Object.fromEntries(told) as JsonObject, ...(rest as JsonObject) }
}

function compare(before: JsonValue, after: JsonValue, path: string, found: Difference[]): void {
  if (isJsonObject(before) && isJsonObject(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const at = path === '' ? key : /^[\w-]+$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`
      const [old, next] = [before[key], after[key]]
      if (old === undefined && next !== undefined) found.push({ path: at, after: next })
      else if (next === undefined && old !== undefined) found.push({ path: at, before: old })
      else if (old !== undefined && next !== undefined) compare(old, next, at, found)
    }
  } else if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    for (const [i, old] of before.entries()) compare(old, after[i] ?? null, `${path}[${i}]`, found)
  } else if (JSON.stringify(before) !== JSON.stringify(after)) {
    found.push({ path, before, after })
  }
}
