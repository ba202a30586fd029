/**
 * What a value of some kind may look like. One form for built-in kinds (made from the catalogue) and custom resources
 * (made from their CRD), so that pruning, defaulting, validating, patching and applying are written once.
 *
 * Nodes are immutable and may be cyclic (JSONSchemaProps contains itself): never copy or serialise a schema whole.
 */
import type { JsonValue } from '../types.ts'

export interface Schema {
  /**
   * `any` accepts everything and is kept as it is (RawExtension, JSON, FieldsV1).
   * `intOrString` and `quantity` accept a number or a string.
   */
  readonly type: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean' | 'intOrString' | 'quantity' | 'any'
  /** int32, int64, double, byte (base64), date-time, micro-time, and those of CRDs. */
  readonly format?: string
  /** Type name for messages and OpenAPI of built-in kinds: `io.k8s.api.core.v1.PodSpec`. */
  readonly typeName?: string
  readonly description?: string
  /** Of custom resources; carried for OpenAPI, as are the two that follow. */
  readonly title?: string
  readonly example?: JsonValue
  readonly externalDocs?: JsonValue
  readonly nullable?: boolean

  /** type object: known fields. With neither `properties` nor `additionalProperties` unknown fields are pruned. */
  readonly properties?: ReadonlyMap<string, Schema>
  /** type object: a map; `true` keeps anything. */
  readonly additionalProperties?: Schema | true
  readonly required?: readonly string[]
  /** x-kubernetes-preserve-unknown-fields */
  readonly preserveUnknownFields?: boolean
  readonly embeddedResource?: boolean
  /** granular (default) | atomic */
  readonly mapType?: 'granular' | 'atomic'
  /**
   * Built-in kinds: a Go struct held by value, or a list that is printed even if it is empty. It is there even when
   * nothing in it is set, so adding the first field below it does not add it (managedFields has no `.` for it).
   */
  readonly byValue?: boolean

  readonly items?: Schema
  /** atomic (default) | set | map */
  readonly listType?: 'atomic' | 'set' | 'map'
  readonly listMapKeys?: readonly string[]
  /** Strategic merge patch facts of built-in kinds. */
  readonly patchStrategy?: readonly ('merge' | 'replace' | 'retainKeys')[]
  readonly patchMergeKey?: string

  /** Never null, which says that there is none. */
  readonly default?: JsonValue
  readonly enum?: readonly JsonValue[]
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: boolean
  readonly exclusiveMaximum?: boolean
  readonly multipleOf?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly minItems?: number
  readonly maxItems?: number
  readonly minProperties?: number
  readonly maxProperties?: number
  readonly allOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly not?: Schema
  /** x-kubernetes-validations, of custom resources. */
  readonly validations?: readonly ValidationRule[]
}

/** An expression that must hold for the value that the schema describes. */
export interface ValidationRule {
  readonly rule: string
  readonly message?: string
  readonly messageExpression?: string
  readonly reason?: string
  readonly fieldPath?: string
  readonly optionalOldSelf?: boolean
}

/** What a schema says about a value by itself: the same name, and the same form, as in OpenAPI. */
export const valueKeywords = [
  'format',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'enum',
  'default',
] as const

/** Of what an object has under `key`: a field that is known, or a value of a map. */
export function memberSchema({ properties, additionalProperties }: Schema, key: string): Schema | undefined {
  return properties?.get(key) ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined)
}
