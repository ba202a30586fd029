/**
 * Defaults of a schema must be what the schema asks for, and hold nothing that it would prune. Whether items of their
 * lists differ is asked of the instance, as upstream; their rules are `defaultRuleErrors`. Inside the metadata of a
 * resource they must make valid metadata; what ObjectMeta has not is let through there, and never filled in
 * (`pruned-defaults.ts`).
 * @see k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting/validation.go v0.36
 */
import { append } from '../../base/append.ts'
import { aggregate } from '../../kube/aggregate.ts'
import { type FieldError, fieldInvalid } from '../../kube/field-error.ts'
import { isJsonObject } from '../../kube/json-value.ts'
import { DecodeError, decode } from '../../kube/schema/decode.ts'
import { embeddedErrors, validateEmbedded } from '../../kube/schema/list-types.ts'
import { patternsOfOneValidation } from '../../kube/schema/pattern.ts'
import { EmbeddedMetadataError, prune } from '../../kube/schema/prune.ts'
import type { Schema } from '../../kube/schema/schema.ts'
import { errorsWithin, validateSchema } from '../../kube/schema/validate.ts'
import type { JsonObject, JsonValue } from '../../kube/types.ts'
import { nestAtPath, type Step } from './value-at-path.ts'

const looseMetadata: Schema = { type: 'object', preserveUnknownFields: true }
const metaFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata'])
const typeMeta: JsonObject = { apiVersion: 'validation/v1', kind: 'Validation' }

/** Only for schemas that are structural. */
export function defaultErrors(root: Schema, path: string, objectMeta: Schema): FieldError[] {
  const judge = new DefaultJudge(objectMeta)
  // What the root says of metadata has rules of its own, which allow no defaults.
  const properties = new Map([...(root.properties ?? [])].filter(([key]) => key !== 'metadata'))
  judge.visit({ ...root, properties, embeddedResource: true }, path)
  return judge.errors
}

class DefaultJudge {
  readonly errors: FieldError[] = []
  readonly #objectMeta: Schema
  readonly #compilePattern = patternsOfOneValidation()

  constructor(objectMeta: Schema) {
    this.#objectMeta = objectMeta
  }

  /** @param inMeta way from the resource around it, where the schema is one of its apiVersion, kind or metadata */
  visit(schema: Schema, path: string, inMeta?: readonly Step[]): void {
    if (schema.default !== undefined) {
      const field = `${path}.default`
      const judged = inMeta ? this.#inMeta(schema.default, schema, inMeta) : this.#whole(schema.default, schema)
      append(this.errors, errorsWithin(field, judged))
    }
    for (const [key, child] of schema.properties ?? []) {
      this.visit(child, `${path}.properties[${key}]`, wayTo(key, schema, inMeta))
    }
    if (schema.items) this.visit(schema.items, `${path}.items`, inMeta && [...inMeta, 0])
    if (typeof schema.additionalProperties === 'object') {
      this.visit(schema.additionalProperties, `${path}.additionalProperties`, inMeta && [...inMeta, '*'])
    }
  }

  #inMeta(value: JsonValue, schema: Schema, way: readonly Step[]): FieldError[] {
    const fault = this.#metaFault(nestAtPath(value, way))
    if (fault === undefined) return this.#valueErrors(value, schema)
    return [fieldInvalid('', value, `must result in valid metadata: ${fault}`)]
  }

  /** What is wrong with the metadata of a resource that has a default in it, and nothing else. */
  #metaFault(given: JsonValue): string | undefined {
    const resource: JsonObject = { ...typeMeta, ...(given as JsonObject) }
    const print = ({ field, body }: FieldError): string => `${field}: ${body}`
    for (const key of ['apiVersion', 'kind']) {
      const value = resource[key]
      if (typeof value !== 'string') return print(fieldInvalid(key, value, 'must be a string'))
    }
    const { metadata } = resource
    if (metadata !== undefined) {
      try {
        resource['metadata'] = decode(metadata, this.#objectMeta).value
      } catch (error) {
        if (error instanceof DecodeError) return print(fieldInvalid('metadata', metadata, error.message))
        throw error
      }
    }
    const faults = [...new Set(embeddedErrors(resource, '').map(print))]
    return faults.length === 0 ? undefined : aggregate(faults)
  }

  #whole(value: JsonValue, schema: Schema): FieldError[] {
    if (!isJsonObject(value) && !Array.isArray(value)) return this.#valueErrors(value, schema)
    const holder: Schema = { type: 'object', properties: new Map([['value', schema]]) }
    const { unknownFields } = prune({ value }, holder, looseMetadata)
    const unknown = unknownFields.length > 0 ? [fieldInvalid('', value, 'must not have unknown fields')] : []
    let kept = value
    try {
      const pruned = prune({ value }, holder, this.#objectMeta).value['value'] as JsonObject | JsonValue[]
      // All that differs then is what ObjectMeta has not.
      if (unknown.length === 0) kept = pruned
    } catch (error) {
      if (!(error instanceof EmbeddedMetadataError)) throw error
      const { fault } = error
      return [...unknown, { ...fault, field: fault.field.replace(/^value\.?/, '') }]
    }
    const embedded = schema.embeddedResource && isJsonObject(kept) ? embeddedErrors(kept, '') : []
    return [...unknown, ...(embedded.length > 0 ? embedded : this.#valueErrors(kept, schema))]
  }

  #valueErrors(value: JsonValue, schema: Schema): FieldError[] {
    return [
      ...validateSchema(value as JsonObject, schema, { compilePattern: this.#compilePattern }),
      ...validateEmbedded(value, schema),
    ]
  }
}

function wayTo(key: string, parent: Schema, inMeta: readonly Step[] | undefined): readonly Step[] | undefined {
  if (parent.embeddedResource) return metaFields.has(key) ? [key] : undefined
  return inMeta && [...inMeta, key]
}
