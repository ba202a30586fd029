/**
 * Drops from a custom resource what its structural schema does not know, and says what. Inputs are never changed.
 * apiVersion, kind and metadata of the resource, and of resources embedded in it, are not the schema's business:
 * metadata is decoded as the ObjectMeta it is.
 * @see k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning/algorithm.go v0.36
 */

import { setMember } from '../../base/json-text.ts'
import { type FieldError, fieldInvalid } from '../field-error.ts'
import { isJsonObject } from '../json-value.ts'
import { printPath } from '../strict-json.ts'
import type { JsonObject, JsonValue } from '../types.ts'
import { type Decoded, DecodeError, decode } from './decode.ts'
import type { Schema } from './schema.ts'

const metaFields = new Set(['apiVersion', 'kind', 'metadata'])
const maxUnknown = 100

export interface Pruned {
  readonly value: JsonObject
  /** Paths of what was dropped, sorted; at most 100. */
  readonly unknownFields: readonly string[]
}

/** Metadata of a resource inside the resource is of the wrong types. */
export class EmbeddedMetadataError extends DecodeError {
  readonly fault: FieldError

  constructor(fault: FieldError, options: ErrorOptions) {
    super(`${fault.field}: ${fault.body}`, options)
    this.fault = fault
  }
}

/** A null that the schema does not allow, and has no default for. */
const isUnwanted = (value: JsonValue, { nullable, default: instead }: Schema): boolean =>
  value === null && nullable !== true && instead === undefined

class Pruner {
  readonly #path: (string | number)[] = []
  readonly unknown: string[] = []
  readonly #objectMeta: Schema
  readonly #keepsNulls: boolean

  constructor(objectMeta: Schema, keepsNulls: boolean) {
    this.#objectMeta = objectMeta
    this.#keepsNulls = keepsNulls
  }

  #at(key: string | number, value: JsonValue, schema: Schema | undefined): JsonValue {
    this.#path.push(key)
    const kept = this.value(value, schema)
    this.#path.pop()
    return kept
  }

  value(value: JsonValue, schema: Schema | undefined, embedded = schema?.embeddedResource === true): JsonValue {
    if (Array.isArray(value)) return this.#array(value, schema)
    if (!isJsonObject(value)) return value
    const keepsUnknown = schema?.preserveUnknownFields === true || schema?.type === 'any'
    let out: JsonObject | undefined
    for (const [key, child] of Object.entries(value)) {
      let kept: JsonValue | undefined = child
      if (embedded && key === 'metadata') kept = this.#metadata(child)
      else if (!(embedded && metaFields.has(key))) {
        const known = schema?.properties?.get(key) ?? schema?.additionalProperties
        if (known === true) continue
        if (known && isUnwanted(child, known)) kept = this.#keepsNulls ? child : undefined
        else if (known) kept = this.#at(key, child, known)
        else if (!keepsUnknown) kept = this.#drop(key)
      }
      if (kept === child) continue
      out ??= { ...value }
      if (kept === undefined) delete out[key]
      else setMember(out, key, kept)
    }
    return out ?? value
  }

  #metadata(value: JsonValue): JsonValue {
    const { value: kept, unknownFields } = this.#decoded(value)
    for (const field of unknownFields) this.#drop(`metadata.${field}`)
    return kept
  }

  #decoded(value: JsonValue): Decoded {
    try {
      return decode(value, this.#objectMeta)
    } catch (error) {
      if (!(error instanceof DecodeError) || this.#path.length === 0) throw error
      const field = printPath([...this.#path, 'metadata'])
      throw new EmbeddedMetadataError(fieldInvalid(field, value, error.message), { cause: error })
    }
  }

  #drop(key: string): undefined {
    if (this.unknown.length < maxUnknown) this.unknown.push(printPath([...this.#path, key]))
    return undefined
  }

  #array(value: JsonValue[], schema: Schema | undefined): JsonValue[] {
    // Below an unspecified part that is preserved nothing is known, so nothing is dropped.
    if (!schema?.items && (schema?.preserveUnknownFields || schema?.type === 'any')) return value
    let out: JsonValue[] | undefined
    for (const [i, item] of value.entries()) {
      const kept = this.#at(i, item, schema?.items)
      if (kept !== item) {
        out ??= value.slice()
        out[i] = kept
      }
    }
    return out ?? value
  }
}

/**
 * `value` is a whole custom resource, `objectMeta` the schema of metadata. A member that is null, and may not be, is as
 * good as absent; with `keepsNulls` it is left for validation to refuse.
 * @throws DecodeError for metadata of the wrong types
 */
export function prune(value: JsonObject, schema: Schema, objectMeta: Schema, keepsNulls = false): Pruned {
  const pruner = new Pruner(objectMeta, keepsNulls)
  const kept = pruner.value(value, schema, true) as JsonObject
  return { value: kept, unknownFields: pruner.unknown.sort() }
}
