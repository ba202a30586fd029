/**
 * Metadata tells of contents too: `kubectl apply` keeps in an annotation all that it was given, of a Secret as well,
 * and managed fields name its keys. Where the page asks for metadata alone, neither goes to the browser.
 */
import { lastAppliedAnnotation } from '../kube/apply/last-applied.ts'
import { isJsonObject } from '../kube/json-value.ts'
import { StatusError } from '../kube/status-error.ts'
import type { JsonObject, JsonValue } from '../kube/types.ts'

export const asksForMetadata = (accept: string | undefined): boolean => /;as=PartialObjectMetadata/.test(accept ?? '')

/** @param given an object, a list of objects, or what a watch sends of one; odd ones are left as they are */
export function withoutContents(given: JsonValue): JsonValue {
  if (!isJsonObject(given)) return given
  const { items, object, metadata } = given
  if (Array.isArray(items)) return { ...given, items: items.map(withoutContents) }
  if (isJsonObject(object)) return { ...given, object: withoutContents(object) }
  return isJsonObject(metadata) ? { ...given, metadata: withoutContentsOf(metadata) } : given
}

function withoutContentsOf({ managedFields: _, ...metadata }: JsonObject): JsonObject {
  const all = metadata['annotations']
  if (!isJsonObject(all)) return metadata
  const { [lastAppliedAnnotation]: _applied, ...annotations } = all
  return { ...metadata, annotations }
}

/** @throws StatusError it is no JSON */
export function bytesWithoutContents(bytes: Uint8Array): Uint8Array {
  try {
    return Buffer.from(JSON.stringify(withoutContents(JSON.parse(Buffer.from(bytes).toString()) as JsonValue)))
  } catch (cause) {
    throw new StatusError('the server sent something that is not JSON', { code: 502, cause })
  }
}
