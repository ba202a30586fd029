/**
 * The question to a conversion webhook and its answer: ConversionReview of apiextensions.k8s.io. Pure.
 * @see k8s.io/apiextensions-apiserver/pkg/apiserver/conversion/webhook_converter.go v0.36
 */
import { quote } from '../../kube/go-quote.ts'
import { isJsonObject } from '../../kube/json-value.ts'
import type { JsonObject, KubeObject, ObjectMeta } from '../../kube/types.ts'

const group = 'apiextensions.k8s.io'
const reviewKind = 'ConversionReview'
const knownVersions: readonly string[] = ['v1', 'v1beta1']

/** Words for what is wrong with an answer; the caller says about what. */
export class ConversionFault extends Error {
  override readonly name = 'ConversionFault'
  /** How the fault is joined to the object's kind: `<what> failed: …`, `<what> returned …`. */
  readonly verb: 'failed' | 'returned'

  constructor(verb: 'failed' | 'returned', message: string) {
    super(message)
    this.verb = verb
  }
}

export const conversionVersion = (versions: readonly string[]): string | undefined =>
  versions.find((v) => knownVersions.includes(v))

/** `objects` are JSON. */
export function conversionText(
  version: string,
  uid: string,
  desiredAPIVersion: string,
  objects: readonly string[],
): string {
  const asked = JSON.stringify({ uid, desiredAPIVersion }).slice(0, -1)
  const review = JSON.stringify({ kind: reviewKind, apiVersion: `${group}/${version}` }).slice(0, -1)
  return `${review},"request":${asked},"objects":[${objects.join(',')}]}}`
}

/** As many objects as were sent, in their order. @throws ConversionFault */
export function convertedObjects(review: unknown, version: string, uid: string, count: number): readonly unknown[] {
  const { kind, apiVersion, response } = (isJsonObject(review) ? review : {}) as Record<string, unknown>
  if (version === 'v1' && (kind !== reviewKind || apiVersion !== `${group}/v1`)) {
    throw new ConversionFault(
      'failed',
      `expected webhook response of ${group}/v1, Kind=${reviewKind}, got ${textOf(apiVersion)}, Kind=${textOf(kind)}`,
    )
  }
  if (!isJsonObject(response)) throw new ConversionFault('failed', 'no response provided')
  if (version === 'v1' && response['uid'] !== uid) {
    throw new ConversionFault('failed', `expected response.uid=${quote(uid)}, got ${quote(textOf(response['uid']))}`)
  }
  const { status, message } = isJsonObject(response['result']) ? response['result'] : ({} as JsonObject)
  if (status !== 'Success') {
    throw new ConversionFault(
      'failed',
      textOf(message) || `response.result.status was '${textOf(status)}', not 'Success'`,
    )
  }
  const objects = Array.isArray(response['convertedObjects']) ? response['convertedObjects'] : []
  if (objects.length !== count) {
    throw new ConversionFault('returned', `${objects.length} objects, expected ${count}`)
  }
  return objects
}

/** The converted object with the metadata that a webhook may not change put back. @throws ConversionFault */
export function checkedObject(original: KubeObject, given: unknown, desired: string, index: number): KubeObject {
  const fault = (why: string): ConversionFault =>
    new ConversionFault('returned', `invalid converted object at index ${index}: ${why}`)
  if (!isJsonObject(given)) throw fault(`invalid type, expected=object, got=${given === null ? 'null' : typeof given}`)
  const { apiVersion, kind } = given
  if (apiVersion !== desired) {
    throw fault(`invalid groupVersion (expected ${desired}, received ${textOf(apiVersion)})`)
  }
  if (kind !== original.kind) throw fault(`invalid kind (expected ${original.kind}, received ${textOf(kind)})`)
  const metadata = isJsonObject(given['metadata']) ? given['metadata'] : ({} as JsonObject)
  for (const [key, what] of [
    ['name', 'name'],
    ['namespace', 'namespace'],
    ['uid', 'UID'],
  ] as const) {
    const before = original.metadata[key] ?? ''
    const after = textOf(metadata[key])
    if (before !== after) throw fault(`must have the same ${what}: ${before} != ${after}`)
  }
  if (!isJsonObject(given['metadata'])) throw invalidMetadata(index, 'missing metadata in converted object')
  return { ...given, metadata: restore(original.metadata, metadata, index) }
}

const invalidMetadata = (index: number, why: string): ConversionFault =>
  new ConversionFault('returned', `invalid metadata in object at index ${index}: ${why}`)

/** Labels and annotations are the webhook's; all else is as it was. */
function restore(original: ObjectMeta, given: JsonObject, index: number): ObjectMeta {
  const { labels: _labels, annotations: _annotations, ...kept } = original
  const metadata: ObjectMeta = kept
  for (const field of ['labels', 'annotations'] as const) {
    const value = given[field]
    if (value === undefined || value === null) continue
    if (!isJsonObject(value)) throw invalidMetadata(index, `invalid metadata.${field} in converted object`)
    for (const [key, text] of Object.entries(value)) {
      if (typeof text !== 'string') {
        throw invalidMetadata(
          index,
          `metadata.${field}[${key}] must be a string, but is ${typeof text} in converted object`,
        )
      }
    }
    metadata[field] = value as Record<string, string>
  }
  return metadata
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
