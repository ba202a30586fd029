/**
 * Objects at rest and on the wire. Stored is JSON without TypeMeta and without resourceVersion, and it always begins
 * with `{"metadata":{`. So every answer is a short head plus the stored bytes from position 13 on: nothing is ever
 * serialised again for a reader.
 *
 *   stored        {"metadata":{"name":"a",…},"spec":{…}}
 *   single        {"kind":"K","apiVersion":"v1","metadata":{"resourceVersion":"7","name":"a",…},"spec":{…}}
 *   list item     {"metadata":{"resourceVersion":"7","name":"a",…},"spec":{…}}      (custom resources: with TypeMeta)
 *   watch line    {"type":"ADDED","object":{"kind":…}}\n
 */
import { parseJsonText } from '../base/parse-json-text.ts'
import type { Resumable } from '../base/resumable.ts'
import { apiVersionOf } from './gvk.ts'
import { parsingInPieces } from './json-pieces.ts'
import { printingJson } from './printing-json.ts'
import type { Conversion } from './resource-type.ts'
import { parseJson, parsingJson } from './strict-json.ts'
import type { KubeObject, ObjectMeta } from './types.ts'

/** What heads are made of. A `ResourceType` is one. */
export interface TypeHead {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly custom: boolean
  readonly conversion?: Conversion
}

const opening = '{"metadata":{'
const openingLength: number = opening.length

/** The order in which upstream prints ObjectMeta. */
const metadataKeys = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'managedFields',
] as const satisfies readonly (keyof ObjectMeta)[]

/** Absent, and what Go's `omitempty` leaves out. */
function isOmitted(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true
  if (typeof value !== 'object') return false
  if (Array.isArray(value)) return value.length === 0
  for (const _ in value) return false
  return true
}

function addStoredMetadata(metadata: Record<string, unknown>, given: ObjectMeta): void {
  for (let i = 0; i < metadataKeys.length; i++) {
    const key = metadataKeys[i] as (typeof metadataKeys)[number]
    const value = given[key]
    if (!isOmitted(value) && !(key === 'generation' && value === 0)) metadata[key] = value
  }
}

/**
 * The stored form. Metadata fields that are empty or unknown are dropped; everything else keeps its order.
 * `type` is what the object is one of; without it the object is taken as it is.
 * @throws TypeError for metadata without a name: such an object has no place in the store.
 */
export function encodeStored(shown: KubeObject, type?: Pick<TypeHead, 'conversion'>): Uint8Array {
  // A buffer of its own, not a slice of the pool: it is kept for long. Not zeroed first: every byte is written.
  const text = JSON.stringify(storedMembers(shown, type))
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  if (bytes.length === text.length) bytes.write(text, 'latin1')
  else bytes.write(text)
  return bytes
}

/** The same of a large one, with places for a pause. */
export function* encodingStored(shown: KubeObject, type?: Pick<TypeHead, 'conversion'>): Resumable<Uint8Array> {
  const members = storedMembers(shown, type)
  yield
  return yield* printingJson(members)
}

function storedMembers(shown: KubeObject, type: Pick<TypeHead, 'conversion'> | undefined): Record<string, unknown> {
  const object = type?.conversion ? type.conversion.toStored(shown) : shown
  if (!object.metadata.name) throw new TypeError('an object without a name can not be stored')
  const metadata: Record<string, unknown> = {}
  addStoredMetadata(metadata, object.metadata)
  const stored: Record<string, unknown> = { metadata }
  for (const key in object) {
    if (key !== 'metadata' && key !== 'kind' && key !== 'apiVersion') stored[key] = object[key]
  }
  if (type?.conversion?.storedVersion !== undefined) stored['apiVersion'] = type.conversion.storedVersion
  return stored
}

const longDigits = /[0-9]{16}/

const quoteMark = 0x22
const backslash = 0x5c
const openingBrace = 0x7b
const closingBrace = 0x7d

/**
 * Where the metadata of stored bytes ends, its brace included: it stands first, so a reader that wants no more than
 * that need not parse the rest.
 */
export function metadataEnd(bytes: Uint8Array): number {
  let depth = 1
  for (let at = openingLength; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quoteMark) {
      for (at++; bytes[at] !== quoteMark && at < bytes.length; at++) if (bytes[at] === backslash) at++
    } else if (byte === openingBrace) depth++
    else if (byte === closingBrace && --depth === 0) return at + 1
  }
  throw new TypeError('stored bytes without an end of their metadata')
}

/** The metadata that `parseStored` would answer, for types without a conversion. `end`: see `metadataEnd`. */
export function parseStoredMetadata(bytes: Uint8Array, end: number, revision: number): ObjectMeta {
  const rest = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8', openingLength, end)
  const text = `{${versionHead(revision)}${rest}`
  return (longDigits.test(rest) ? parseJson(text).value : parseJsonText(text)) as ObjectMeta
}

/** A new object, complete with TypeMeta and (unless the revision is 0) resourceVersion. */
export function parseStored(bytes: Uint8Array, type: TypeHead, revision: number): KubeObject {
  const text = storedText(bytes, type, revision)
  // Numbers beyond 2^53 need the careful parser; a run of so many digits is rare.
  const object = (longDigits.test(text) ? parseJson(text).value : parseJsonText(text)) as KubeObject
  return type.conversion ? type.conversion.fromStored(object) : object
}

/** The same of a long one, with places for a pause. */
export function* parsingStored(bytes: Uint8Array, type: TypeHead, revision: number): Resumable<KubeObject> {
  const text = storedText(bytes, type, revision)
  const parsed = longDigits.test(text) ? (yield* parsingJson(text)).value : yield* parsingInPieces(text)
  const object = parsed as unknown as KubeObject
  return type.conversion ? type.conversion.fromStored(object) : object
}

function storedText(bytes: Uint8Array, type: TypeHead, revision: number): string {
  const rest = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8', openingLength)
  // An apiVersion among the stored bytes comes later, so it wins.
  return singleHead(type, revision, type.conversion?.unmarkedVersion) + rest
}

/**
 * What `parseStored` makes of what `encodeStored` makes of `object`, without the way through text. It shares parts with
 * `object`, which must be JSON throughout as `parseJson` reads it. Only for types without a conversion.
 */
export function asStored(object: KubeObject, type: TypeHead, revision: number): KubeObject {
  const apiVersion = apiVersionOf(type)
  const metadata: Record<string, unknown> = revision === 0 ? {} : { resourceVersion: String(revision) }
  addStoredMetadata(metadata, object.metadata)
  const { kind } = type
  const stored: KubeObject = type.custom ? { apiVersion, kind, metadata } : { kind, apiVersion, metadata }
  for (const key in object) {
    if (key !== 'metadata' && key !== 'kind' && key !== 'apiVersion' && object[key] !== undefined)
      stored[key] = object[key]
  }
  return stored
}

/** An object of one served type as another one of the same storage shows it. */
export function shownAs(object: KubeObject, from: TypeHead, to: TypeHead): KubeObject {
  const {
    kind: _kind,
    apiVersion: _apiVersion,
    ...stored
  } = from.conversion ? from.conversion.toStored(object) : object
  const typed = { kind: to.kind, apiVersion: apiVersionOf(to), ...stored } as KubeObject
  return to.conversion ? to.conversion.fromStored(typed) : typed
}

/** Everything before the stored bytes from position 13 on. ASCII: kinds and groups are DNS-like names. */
function singleHead(type: TypeHead, revision: number, version?: string): string {
  return `${version === undefined ? ownHead(type) : typeHead(type, version)}${versionHead(revision)}`
}

function typeHead({ kind, custom }: TypeHead, version: string): string {
  const [ofKind, ofVersion] = [`"kind":${JSON.stringify(kind)}`, `"apiVersion":${JSON.stringify(version)}`]
  return `{${custom ? `${ofVersion},${ofKind}` : `${ofKind},${ofVersion}`},"metadata":{`
}

const ownHeads = new WeakMap<TypeHead, string>()

/** The same for all objects of a type. */
function ownHead(type: TypeHead): string {
  let head = ownHeads.get(type)
  if (head === undefined) ownHeads.set(type, (head = typeHead(type, apiVersionOf(type))))
  return head
}

function versionHead(revision: number): string {
  return revision === 0 ? '' : `"resourceVersion":"${revision}",`
}

/** Stored bytes, as a stored object gives them out without a copy of its own. */
export interface StoredBytes {
  readonly sizeBytes: number
  /** Copies from `from` on; answers how many bytes that were. */
  copyTo(target: Uint8Array, at: number, from: number): number
}

function splice(head: string, stored: StoredBytes, tail: string): Uint8Array {
  const whole = Buffer.allocUnsafe(head.length + stored.sizeBytes - openingLength + tail.length)
  whole.write(head, 0, 'latin1')
  const end = head.length + stored.copyTo(whole, head.length, openingLength)
  if (tail !== '') whole.write(tail, end, 'latin1')
  return whole
}

/** One object and `end`. Revision 0 (a dry run) leaves resourceVersion out. */
export function singleObject(type: TypeHead, revision: number, stored: StoredBytes, end: '' | '\n' = ''): Uint8Array {
  return splice(singleHead(type, revision), stored, end)
}

/** Head of a list item; what follows it is `bytes.subarray(storedRestOffset)`, so that lists copy each byte once. */
export function listItemHead(type: TypeHead, revision: number): string {
  return type.custom ? singleHead(type, revision) : `${opening}${versionHead(revision)}`
}

/** As `listItemHead`, of an item that is shown as metadata only; what follows is the stored metadata, and a brace. */
export function partialItemHead(apiVersion: string, revision: number): string {
  const typeMeta = `"kind":"PartialObjectMetadata","apiVersion":${JSON.stringify(apiVersion)}`
  return `{${typeMeta},"metadata":{${versionHead(revision)}`
}

/** Where the part of the stored bytes begins that follows a head. */
export const storedRestOffset: number = openingLength

export function listItem(type: TypeHead, revision: number, stored: StoredBytes): Uint8Array {
  return splice(listItemHead(type, revision), stored, '')
}

/** A line of a JSON watch stream, line end included. */
export function watchLine(
  event: 'ADDED' | 'MODIFIED' | 'DELETED',
  type: TypeHead,
  revision: number,
  stored: StoredBytes,
): Uint8Array {
  return splice(`{"type":"${event}","object":${singleHead(type, revision)}`, stored, '}\n')
}
