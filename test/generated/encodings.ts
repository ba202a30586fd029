/** An object as the body of a request. */
import { stringify } from 'yaml'
import type { ProtobufCodec } from '../../src/catalog/protobuf/protobuf-codec.ts'
import { isExactNumber } from '../../src/kube/json-value.ts'
import type { JsonObject, JsonValue } from '../../src/kube/types.ts'
import type { Subject } from './subjects.ts'

export interface Body {
  readonly type: string
  readonly body: string | Uint8Array
}

/** undefined = it can't be said in this encoding. */
export type Encode = (subject: Subject, object: JsonObject) => Body | undefined

export const inJson: Encode = (_, object) => ({ type: 'application/json', body: JSON.stringify(object) })

export const inYaml: Encode = (_, object) => ({ type: 'application/yaml', body: yamlText(object) })

/** Strings are quoted, so that none is taken for another type. */
export const yamlText = (value: JsonValue): string =>
  stringify(withIntegers(value), { defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN', lineWidth: 0 })

function withIntegers(value: JsonValue): unknown {
  if (isExactNumber(value)) return BigInt(JSON.stringify(value))
  if (Array.isArray(value)) return value.map(withIntegers)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withIntegers(member)]))
}

/**
 * A value of another type than its field has no bytes in protobuf, so the codec refuses it, or writes what it takes it
 * for: both are as good as any other bytes that a client may send.
 */
export const inProtobuf =
  (codec: ProtobufCodec): Encode =>
  ({ gvk, isCustom }, object) => {
    if (isCustom || !codec.supports(gvk)) return undefined
    try {
      return { type: 'application/vnd.kubernetes.protobuf', body: codec.encode(object, gvk) }
    } catch {
      return undefined
    }
  }
