/**
 * Fills in schema defaults. A null that the schema does not allow becomes the default, if there is one. Inputs are
 * never changed; defaults are shared, so results must not be changed either.
 * @see k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting v0.36
 */

import { setMember } from '../../base/json-text.ts'
import { isJsonObject, member } from '../json-value.ts'
import type { JsonObject, JsonValue } from '../types.ts'
import { memberSchema, type Schema } from './schema.ts'

/** Members with a default, by schema: most schemas have none, and then no member needs a look. */
const defaultedMembers = new WeakMap<Schema, readonly (readonly [string, Schema])[]>()

function defaultsOf(schema: Schema): readonly (readonly [string, Schema])[] {
  let found = defaultedMembers.get(schema)
  if (!found) {
    found = [...(schema.properties ?? [])].filter(([, field]) => field.default !== undefined)
    defaultedMembers.set(schema, found)
  }
  return found
}

function fill(value: JsonValue, schema: Schema | undefined): JsonValue {
  if (schema === undefined) return value
  if (value !== null) return applyDefaults(value, schema)
  return schema.nullable || schema.default === undefined ? null : applyDefaults(schema.default, schema)
}

/** The same value when nothing was missing. */
export function applyDefaults(value: JsonValue, schema: Schema): JsonValue {
  if (Array.isArray(value)) {
    if (!schema.items) return value
    let out: JsonValue[] | undefined
    for (const [i, item] of value.entries()) {
      const kept = fill(item, schema.items)
      if (kept === item) continue
      out ??= value.slice()
      out[i] = kept
    }
    return out ?? value
  }
  if (!isJsonObject(value)) return value
  let out: JsonObject | undefined
  for (const [key, field] of defaultsOf(schema)) {
    if (member(value, key) !== undefined || field.default === undefined) continue
    out ??= { ...value }
    setMember(out, key, applyDefaults(field.default, field))
  }
  for (const [key, child] of Object.entries(value)) {
    const kept = fill(child, memberSchema(schema, key))
    if (kept === child) continue
    out ??= { ...value }
    setMember(out, key, kept)
  }
  return out ?? value
}
