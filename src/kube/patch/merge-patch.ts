/**
 * JSON Merge Patch (RFC 7386). Inputs are never changed; what a patch does not touch is shared with the result.
 * As upstream's library does and unlike the RFC, null members are also dropped inside lists that a patch brings.
 */
import { isJsonObject, jsonEqual, member, setMember } from '../json-value.ts'
import { badRequest } from '../status-error.ts'
import type { JsonObject, JsonValue } from '../types.ts'

/** @throws StatusError BadRequest for anything but an object. */
export function parseMergePatch(body: unknown): JsonObject {
  if (isJsonObject(body)) return body
  if (body === null) throw badRequest('Invalid JSON Patch')
  const type = Array.isArray(body) ? 'array' : typeof body === 'boolean' ? 'bool' : typeof body
  throw badRequest(
    `error decoding patch: json: cannot unmarshal ${type === 'object' ? 'number' : type} into Go value of ` +
      'type map[string]interface {}',
  )
}

/** The same value when there was nothing to drop. */
export function withoutNullMembers(value: JsonValue): JsonValue {
  if (Array.isArray(value)) {
    const items = value.map(withoutNullMembers)
    return items.every((item, i) => item === value[i]) ? value : items
  }
  if (!isJsonObject(value)) return value
  const out: JsonObject = {}
  let changed = false
  for (const [key, child] of Object.entries(value)) {
    if (child === null) {
      changed = true
      continue
    }
    const kept = withoutNullMembers(child)
    if (kept !== child) changed = true
    setMember(out, key, kept)
  }
  return changed ? out : value
}

/** The document itself when the patch changes nothing. */
export function applyMergePatch(document: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (!isJsonObject(patch)) return withoutNullMembers(patch)
  if (!isJsonObject(document)) return withoutNullMembers(patch)
  let out: JsonObject | undefined
  for (const [key, change] of Object.entries(patch)) {
    const before = member(document, key)
    if (change === null) {
      if (before === undefined) continue
      out ??= { ...document }
      delete out[key]
      continue
    }
    const after = before === undefined ? withoutNullMembers(change) : applyMergePatch(before, change)
    if (after === before) continue
    out ??= { ...document }
    setMember(out, key, after)
  }
  return out ?? document
}

/** The smallest patch that turns `from` into `to`. Null members of `to` can't be expressed: they read as absent. */
export function diffMergePatch(from: JsonObject, to: JsonObject): JsonObject {
  const patch: JsonObject = {}
  for (const key of Object.keys(from)) if (member(to, key) === undefined) setMember(patch, key, null)
  for (const [key, after] of Object.entries(to)) {
    const before = member(from, key)
    if (before === undefined) setMember(patch, key, after)
    else if (isJsonObject(before) && isJsonObject(after)) {
      const inner = diffMergePatch(before, after)
      if (Object.keys(inner).length > 0) setMember(patch, key, inner)
    } else if (!jsonEqual(before, after)) setMember(patch, key, after)
  }
  return patch
}
