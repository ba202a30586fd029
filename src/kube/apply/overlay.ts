/**
 * A configuration laid over an object, which leaves ownership as it was: what a mutating policy applies. It
 * may not set what is replaced as a whole, for then all that it does not mention would be gone.
 * @see k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch/smd.go v0.36
 */
import type { Schema } from '../schema/schema.ts'
import type { JsonObject, JsonValue, KubeObject } from '../types.ts'
import { configurationProblem } from './check-configuration.ts'
import { mergeValues } from './merge-values.ts'
import { objectSchema } from './object-schema.ts'
import { declaredField, isMap, itemSchema } from './shape.ts'

export type Overlaid =
  /** `live` itself if nothing changes. It shares parts with both arguments. */
  | { readonly object: KubeObject; readonly problem?: undefined }
  | { readonly object?: undefined; readonly problem: string }

/** `config` with the TypeMeta of `live`. */
export function overlaid(schema: Schema, live: KubeObject, config: KubeObject): Overlaid {
  const mismatch = configurationProblem(schema, config)
  if (mismatch !== undefined) return { problem: `failed to convert patch object to typed object: ${mismatch}` }
  const root = objectSchema(schema)
  const atomics: string[] = []
  findAtomics(root, config as unknown as JsonValue, '', atomics)
  if (atomics.length > 0) {
    const list = atomics.join(', ')
    return { problem: `invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${list}` }
  }
  const [over, under] = [live, config] as unknown as [JsonObject, JsonObject]
  return { object: mergeValues(root, over, under) as unknown as KubeObject }
}

/** Of maps only declared fields are looked into, as upstream does. */
function findAtomics(schema: Schema, value: JsonValue, path: string, found: string[]): void {
  if (Array.isArray(value)) {
    if (schema.type !== 'array' && schema.type !== 'any') return
    if (schema.listType === undefined || schema.listType === 'atomic') found.push(path)
    value.forEach((item, i) => findAtomics(itemSchema(schema), item, `${path}[${i}]`, found))
  } else if (isMap(value)) {
    if (schema.mapType === 'atomic') found.push(path)
    for (const name of Object.keys(value)) {
      const field = declaredField(schema, name)
      if (field !== undefined) findAtomics(field, value[name] ?? null, `${path}.${name}`, found)
    }
  }
}
