/**
 * Metadata tells of contents too: `kubectl apply` keeps in an annotation all that it was given, of a Secret as well,
 * and managed fields name its keys. Where the page asks for metadata alone, neither goes to the browser, nor anything
 * else of an object, should a server or what stands before it not know that form and send all of it.
 */
import { parseJsonText } from '../base/parse-json-text.ts'
import { lastAppliedAnnotation } from '../kube/apply/last-applied.ts'
import { isJsonObject } from '../kube/json-value.ts'
import { StatusError } from '../kube/status-error.ts'
import type { JsonObject, JsonValue } from '../kube/types.ts'

export const asksForMetadata = (accept: string | undefined): boolean => /;as=PartialObjectMetadata/.test(accept ?? '')

/** @param given an object, a list of objects, or what a watch sends of one; what is none of them is left as it is */
export function withoutContents(given: JsonValue): JsonValue {
  if (!isJsonObject(given)) return given
  const { items, type, object } = given
  if (Array.isArray(items)) return { ...formOf(given), items: items.map(metadataOf) }
  if (type === undefined || !isJsonObject(object)) return metadataOf(given)
  // What a watch ended with is a Status.
  return { type, object: type === 'ERROR' ? object : metadataOf(object) }
}

function metadataOf(given: JsonValue): JsonValue {
  if (!isJsonObject(given)) return given
  const { metadata } = given
  return isJsonObject(metadata) ? { ...formOf(given), metadata: withoutContentsOf(metadata) } : formOf(given)
}

const formOf = (given: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(given).filter(([name]) => formFields.has(name)))

const formFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata'])

function withoutContentsOf({ managedFields: _, ...metadata }: JsonObject): JsonObject {
  const all = metadata['annotations']
  if (!isJsonObject(all)) return metadata
  const { [lastAppliedAnnotation]: _applied, ...annotations } = all
  return { ...metadata, annotations }
}

/** @throws StatusError it is no JSON */
export function bytesWithoutContents(bytes: Uint8Array): Uint8Array {
  try {
    return Buffer.from(JSON.stringify(withoutContents(parseJsonText(Buffer.from(bytes).toString()) as JsonValue)))
  } catch (cause) {
    throw new StatusError('the server sent something that is not JSON', { code: 502, cause })
  }
}
