/**
 * JSON Merge Patch (RFC 7386). Inputs are never changed; what a patch does not touch is shared with the result.
 * As upstream's library does and unlike the RFC, null members are also dropped inside lists that a patch brings.
 */

import { setMember } from '../../base/json-text.ts'
import { type Resumable, runAtOnce } from '../../base/resumable.ts'
import { copyingMembers, isJsonObject, jsonEqual, member } from '../json-value.ts'
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
export const withoutNullMembers = (value: JsonValue): JsonValue =>
  hasNullMembers(value) ? copyWithoutNulls(value) : value

/** Asks nothing on its way down: each level would look through all below it. */
function copyWithoutNulls(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(copyWithoutNulls)
  if (!isJsonObject(value)) return value
  const out: JsonObject = {}
  for (const key in value) {
    const child = value[key] as JsonValue
    if (child !== null) setMember(out, key, copyWithoutNulls(child))
  }
  return out
}

function hasNullMembers(value: JsonValue): boolean {
  if (Array.isArray(value)) return value.some(hasNullMembers)
  if (!isJsonObject(value)) return false
  for (const key in value) {
    const child = value[key]
    if (child === null || (typeof child === 'object' && hasNullMembers(child))) return true
  }
  return false
}

const membersAtOnce = 1024

/** The document itself when the patch changes nothing. */
export function* applyingMergePatch(document: JsonValue | undefined, patch: JsonValue): Resumable<JsonValue> {
  return yield* applying(document, patch, { left: membersAtOnce })
}

/** `budget`: members until the next pause, however many maps they are in. */
function* applying(document: JsonValue | undefined, patch: JsonValue, budget: { left: number }): Resumable<JsonValue> {
  if (!isJsonObject(patch) || !isJsonObject(document)) return withoutNullMembers(patch)
  let out: JsonObject | undefined
  for (const key in patch) {
    if (--budget.left <= 0) {
      budget.left = membersAtOnce
      yield
    }
    const change = patch[key] as JsonValue
    const before = member(document, key)
    if (change === null) {
      if (before === undefined) continue
      out ??= yield* copyingMembers(document)
      delete out[key]
      continue
    }
    const isMerged = isJsonObject(before) && isJsonObject(change)
    const after = isMerged ? yield* applying(before, change, budget) : withoutNullMembers(change)
    if (after === before) continue
    out ??= yield* copyingMembers(document)
    setMember(out, key, after)
  }
  return out ?? document
}

export const applyMergePatch = (document: JsonValue | undefined, patch: JsonValue): JsonValue =>
  runAtOnce(applyingMergePatch(document, patch))

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
