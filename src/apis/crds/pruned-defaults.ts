/**
 * The defaults of a schema without what the metadata of a resource can't have. A definition may say such, in the
 * metadata of a resource embedded in its own; it is left out of what is filled in, and a default of which nothing is
 * left is none.
 * @see k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting/prune.go v0.36
 */
import { DecodeError } from '../../kube/schema/decode.ts'
import { prune } from '../../kube/schema/prune.ts'
import type { Schema } from '../../kube/schema/schema.ts'
import type { JsonObject, JsonValue } from '../../kube/types.ts'
import { nestAtPath, type Step, valueAtPath } from './value-at-path.ts'

/** `root` is a whole resource's. The same schema if there is nothing to leave out. */
export function withPrunedDefaults(root: Schema, objectMeta: Schema): Schema {
  // All else of a default was judged with the definition.
  if (!hasEmbedded(root)) return root
  const pruned = (value: JsonValue, way: readonly Step[]): JsonValue | undefined => {
    try {
      return valueAtPath(prune(nestAtPath(value, way) as JsonObject, root, objectMeta, true).value, way)
    } catch (error) {
      // Definitions of earlier days were not judged like this: better no default than no such kind.
      if (error instanceof DecodeError) return undefined
      throw error
    }
  }
  const visit = (schema: Schema, way: readonly Step[]): Schema => {
    const { default: given, ...rest } = schema
    const kept = given === undefined ? undefined : pruned(given, way)
    const { properties, items, additionalProperties } = schema
    return {
      ...rest,
      ...(kept === undefined ? {} : { default: kept }),
      ...(properties
        ? { properties: new Map([...properties].map(([k, child]) => [k, visit(child, [...way, k])])) }
        : {}),
      ...(items ? { items: visit(items, [...way, 0]) } : {}),
      ...(typeof additionalProperties === 'object'
        ? { additionalProperties: visit(additionalProperties, [...way, '*']) }
        : {}),
    }
  }
  // The metadata of the root is ObjectMeta, which every object has.
  const properties = [...(root.properties ?? [])].map(([k, child]): [string, Schema] => [
    k,
    k === 'metadata' ? child : visit(child, [k]),
  ])
  return { ...root, properties: new Map(properties) }
}

function hasEmbedded({ embeddedResource, properties, items, additionalProperties }: Schema): boolean {
  if (embeddedResource) return true
  if (items && hasEmbedded(items)) return true
  if (typeof additionalProperties === 'object' && hasEmbedded(additionalProperties)) return true
  for (const [, child] of properties ?? []) if (hasEmbedded(child)) return true
  return false
}
