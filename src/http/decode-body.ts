/**
 * Bodies into objects: JSON, YAML or protobuf in; a private, typed, defaulted copy without unknown fields out.
 * Everything a client can send wrong is a 400 here, in the words of upstream's decoder.
 */
import { afterPause, andThen, type Eventual, isPending } from '../base/eventual.ts'
import type { Slice, Turns } from '../base/turns.ts'
import type { DeleteOptionsBody } from '../kube/delete-options.ts'
import { fieldInvalid } from '../kube/field-error.ts'
import { apiVersionOf, type GroupVersionKind, goTypeMeta, parseApiVersion } from '../kube/gvk.ts'
import { isExactNumber, isJsonObject } from '../kube/json-value.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import {
  type Decoded,
  DecodeError,
  type Dialect,
  jsonNameOf,
  type Repeated,
  strictFaults,
} from '../kube/schema/decode.ts'
import { decodeObject } from '../kube/schema/decode-object.ts'
import {
  badRequest,
  invalid,
  requestHasTooManyValues,
  type StatusError,
  unsupportedMediaType,
} from '../kube/status-error.ts'
import { JsonSyntaxError, type ParsedJson } from '../kube/strict-json.ts'
import type { JsonObject, JsonValue, Unvalidated } from '../kube/types.ts'
import { maxValues, TooManyValuesError } from '../kube/value-count.ts'
import { YamlSyntaxError } from '../kube/yaml-document.ts'
import type { ApiRequest, RequestAccount, RequestContext } from './api.ts'
import { bodyMediaType, jsonMediaType, protobufMediaType, yamlMediaType } from './negotiate.ts'
import { type HowToParseText, parseBodyText } from './parse-body-text.ts'
import { requestSlice } from './request-slice.ts'
import { awaitOutside } from './seats.ts'
import { noTypeMeta, unrecognized } from './unrecognized-body.ts'
import { type FieldValidation, fieldValidationOf } from './verbs/options.ts'
import { warn } from './verbs/target.ts'

/** Upstream's limit. */
export const maxBodyBytes: number = 3 * 1024 * 1024

const yamlMediaTypes: ReadonlySet<string> = new Set([yamlMediaType, 'application/apply-patch+yaml'])

/** While it comes in, the request holds no place among those that are worked on. @throws StatusError */
export function readBody(request: ApiRequest, context: RequestContext): Eventual<Uint8Array> {
  const body = request.body(maxBodyBytes)
  return isPending(body) ? awaitOutside(request, context, body) : body
}

/** From here on a body takes long enough to make pauses. */
const longBodyBytes = 64 * 1024
/** Two bytes of YAML can be a token, which takes 2 µs. */
const longYamlBytes = 8 * 1024

export interface DecodeDeps {
  readonly protobuf: ProtobufDecoder
  readonly catalog: {
    /** Fills in defaults in place where it can: the object is the decoder's own. */
    completeDefaults(type: ResourceType, object: Unvalidated): Unvalidated
  }
  /** A long body is worked on in slices. */
  readonly turns: Turns
}

export interface ProtobufDecoder {
  /** @throws StatusError BadRequest, TooManyValuesError */
  decode(
    bytes: Uint8Array,
    assumed?: GroupVersionKind,
  ): { readonly apiVersion: string; readonly kind: string; readonly object: object }
  /** False: the kind is JSON and YAML only. */
  supports(gvk: GroupVersionKind): boolean
}

export type Parsed = ParsedJson

/** What else is known of a value than what it is. */
interface Found extends Repeated {
  /** False: a patch made it. */
  readonly isBody?: boolean
}

const textDecoder = new TextDecoder('utf-8', { fatal: true })
const deleteOptionsKind: GroupVersionKind = { group: '', version: 'v1', kind: 'DeleteOptions' }

export class BodyDecoder {
  readonly #deps: DecodeDeps

  constructor(deps: DecodeDeps) {
    this.#deps = deps
  }

  /** The object of a POST or PUT. @throws StatusError */
  async decodeObject(request: ApiRequest, context: RequestContext, type: ResourceType): Promise<Unvalidated> {
    const bytes = await this.#body(request, context)
    const { slice } = context
    const mediaType = bodyMediaType(request.headers)
    const { query } = context.info
    const validation = query.size === 0 ? 'Warn' : fieldValidationOf(query)
    let object: JsonObject
    if (mediaType === protobufMediaType && this.#deps.protobuf.supports(type)) {
      const decoded = this.#protobuf(bytes, type)
      checkKind(decoded, type, bytes)
      object = decoded.object as JsonObject
    } else {
      if (mediaType !== jsonMediaType) this.#checkMediaType(mediaType, type)
      const { account } = request
      const parsing = parseBody(bytes, { mediaType, type, duplicates: validation !== 'Ignore', account }, slice)
      const body = isPending(parsing) ? await parsing : parsing
      const value = objectOfKind(body.value, bytes, type)
      if (slice !== undefined) await slice.pause()
      object = fitType(value, type, context, { ...body, isBody: true, validation })
    }
    if (slice !== undefined) await slice.pause()
    return this.#deps.catalog.completeDefaults(type, withMetadata(object))
  }

  #body(request: ApiRequest, context: RequestContext): Eventual<Uint8Array> {
    return andThen(readBody(request, context), (bytes) => {
      const isYaml = bytes.length > longYamlBytes && yamlMediaTypes.has(bodyMediaType(request.headers))
      if (!isYaml && bytes.length <= longBodyBytes) return bytes
      // Our own code does not wait: clients may wait for it.
      const begun = context.longWork?.begin(request, context) ?? requestSlice(this.#deps.turns, request, context)
      return andThen(begun, (slice) => {
        context.slice = slice
        return bytes
      })
    })
  }

  /** @throws StatusError UnsupportedMediaType */
  #checkMediaType(mediaType: string, type: ResourceType): void {
    if (mediaType === jsonMediaType || mediaType === yamlMediaType) return
    const text = [jsonMediaType, yamlMediaType]
    throw unsupportedMediaType(this.#deps.protobuf.supports(type) ? [...text, protobufMediaType] : text)
  }

  #protobuf(bytes: Uint8Array, assumed: GroupVersionKind): ReturnType<ProtobufDecoder['decode']> {
    try {
      return this.#deps.protobuf.decode(bytes, assumed)
    } catch (error) {
      throw error instanceof TooManyValuesError ? requestHasTooManyValues(maxValues) : error
    }
  }

  /** What a patch made, as the body of a PUT would be. Takes `value` over: defaults are filled in place. */
  settle(
    value: JsonObject,
    found: Found,
    context: RequestContext,
    type: ResourceType,
    validation: FieldValidation,
    dialect: Dialect = 'json',
    slice: Slice | undefined = context.slice,
  ): Eventual<Unvalidated> {
    const object = fitType(value, type, context, { ...found, validation, dialect })
    return afterPause(slice, () => this.#deps.catalog.completeDefaults(type, withMetadata(object)))
  }

  /** The body of a DELETE; undefined if there is none. @throws StatusError */
  async decodeDeleteOptions(
    request: ApiRequest,
    context: RequestContext,
    type: ResourceType,
  ): Promise<DeleteOptionsBody | undefined> {
    const bytes = await this.#body(request, context)
    if (bytes.length === 0) return undefined
    const mediaType = bodyMediaType(request.headers)
    if (mediaType === protobufMediaType) {
      return checkedDeleteOptions(this.#protobuf(bytes, deleteOptionsKind).object as JsonObject)
    }
    this.#checkMediaType(mediaType, type)
    const how = { mediaType, type: deleteOptionsKind, duplicates: false, account: request.account }
    const { value } = await parseBody(bytes, how, context.slice)
    if (!isJsonObject(value)) throw badRequest('the body of a DELETE must be a DeleteOptions object')
    const kind = value['kind']
    if (kind !== undefined && kind !== 'DeleteOptions' && kind !== '') {
      throw badRequest(`the body of a DELETE must be a DeleteOptions object, not a ${JSON.stringify(kind)}`)
    }
    return checkedDeleteOptions(value)
  }

  /** A patch as sent. JSON for the three JSON kinds of patch, YAML or JSON for apply. @throws StatusError BadRequest */
  async parsePatch(
    request: ApiRequest,
    context: RequestContext,
    { isApply, report, most = maxValues }: HowToParsePatch,
  ): Promise<Parsed> {
    const bytes = await this.#body(request, context)
    const text = utf8(bytes)
    const yamlFault = (fault: string): StatusError =>
      badRequest(`error decoding YAML: error converting YAML to JSON: ${fault}`)
    const { account } = request
    const how = { duplicates: isApply || report, maxValues: most, account }
    if (isApply) return parsed(text, { form: 'yaml', ...how }, context.slice, yamlFault)
    const jsonFault = (fault: string): StatusError => badRequest(`error decoding patch: ${fault}`)
    return parsed(text, { form: 'json', ...how }, context.slice, jsonFault)
  }
}

const cannotHandle = ({ kind, version }: ResourceType): string =>
  `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}`

interface HowToFit extends Found {
  readonly validation: FieldValidation
  readonly dialect?: Dialect
}

/** Types checked, unknown fields dropped, and reported as the client wishes. @throws StatusError BadRequest */
function fitType(value: JsonObject, type: ResourceType, context: RequestContext, how: HowToFit): JsonObject {
  const { validation, dialect = 'json', isBody = false, duplicates, repeats } = how
  const { value: object, unknownFields } = decodeTyped(value, type, dialect)
  const isSound = unknownFields.length === 0 && duplicates.length === 0 && repeats === undefined
  if (validation === 'Ignore' || isSound) return object
  const faults = strictFaults(how, unknownFields, isBody && !type.custom ? value : undefined)
  if (faults.length > 0 && validation === 'Strict') {
    throw badRequest(`${cannotHandle(type)}: strict decoding error: ${faults.join(', ')}`)
  }
  for (const fault of faults) warn(context, fault)
  return object
}

function decodeTyped(value: JsonObject, type: ResourceType, dialect: Dialect): Decoded {
  try {
    return decodeObject(value, type, dialect)
  } catch (error) {
    if (error instanceof DecodeError) throw badRequest(`${cannotHandle(type)}: ${error.message}`)
    throw error
  }
}

interface HowToParsePatch {
  readonly isApply: boolean
  /** Whether keys that repeat are to be found. */
  readonly report: boolean
  /** How many values it may have. */
  readonly most?: number
}

interface HowToParse {
  readonly mediaType: string
  readonly type: Pick<ResourceType, 'kind'>
  /** Whether keys that repeat are to be found. */
  readonly duplicates: boolean
  readonly account: RequestAccount | undefined
}

/** At once where it is short. @throws StatusError */
function parseBody(bytes: Uint8Array, how: HowToParse, slice: Slice | undefined): Eventual<Parsed> {
  const { mediaType, type, duplicates, account } = how
  const form = mediaType === jsonMediaType ? 'json' : 'yaml'
  const refusal = (fault: string): StatusError => unrecognized(type, form === 'yaml' ? fault : noTypeMeta(fault), bytes)
  return parsed(utf8(bytes), { form, duplicates, maxValues, account }, slice, refusal)
}

/** @throws StatusError 413 for too many values, else what `refusal` makes of the parser's words */
function parsed(
  text: string,
  how: HowToParseText,
  slice: Slice | undefined,
  refusal: (fault: string) => StatusError,
): Eventual<Parsed> {
  const refused = (error: unknown): unknown => {
    if (error instanceof TooManyValuesError) return requestHasTooManyValues(how.maxValues)
    if (error instanceof JsonSyntaxError || error instanceof YamlSyntaxError) return refusal(error.message)
    return error
  }
  try {
    const parsing = parseBodyText(text, how, slice)
    if (!isPending(parsing)) return parsing
    return parsing.catch((error: unknown) => {
      throw refused(error)
    })
  } catch (error) {
    throw refused(error)
  }
}

function utf8(bytes: Uint8Array): string {
  try {
    return textDecoder.decode(bytes)
  } catch {
    throw badRequest('the body of the request is not valid UTF-8')
  }
}

/** What old clients call a body that has not changed since: kubectl drain up to 1.21 sends this. */
const olderName: Readonly<Record<string, string>> = { 'policy/v1 Eviction': 'policy/v1beta1' }

/** A whole object of the type, as far as its apiVersion and kind tell. @throws StatusError */
function objectOfKind(value: JsonValue, bytes: Uint8Array, type: ResourceType): JsonObject {
  if (!isJsonObject(value)) {
    const problem = `json: cannot unmarshal ${foundIn(value)} into Go value of type ${goTypeMeta}`
    throw unrecognized(type, noTypeMeta(problem), bytes)
  }
  // As Go reads it: the core group may be written as what it is, nothing before a slash.
  if (type.group === '' && value['apiVersion'] === `/${type.version}`) value['apiVersion'] = type.version
  checkKind(typeMetaOf(value, type, bytes), type, bytes)
  return value
}

interface TypeMeta {
  /** '' = absent. */
  readonly apiVersion: string
  readonly kind: string
  readonly metadata?: unknown
}

/**
 * Go reads both before anything else, into texts; of two that are none it tells the first.
 * @throws StatusError BadRequest
 */
function typeMetaOf(body: JsonObject, type: ResourceType, bytes: Uint8Array): TypeMeta {
  const apiVersion = body['apiVersion'] ?? ''
  const kind = body['kind'] ?? ''
  if (typeof apiVersion === 'string' && typeof kind === 'string')
    return { apiVersion, kind, metadata: body['metadata'] }
  const isNoText = (key: string): boolean =>
    (key === 'apiVersion' || key === 'kind') && typeof (body[key] ?? '') !== 'string'
  const field = Object.keys(body).find(isNoText) ?? ''
  const problem = `json: cannot unmarshal ${foundIn(body[field])} into Go struct field .${field} of type string`
  throw unrecognized(type, noTypeMeta(problem), bytes)
}

/** Absent apiVersion and kind are taken from the URL, for built-in kinds. @throws StatusError BadRequest */
function checkKind(given: TypeMeta, type: ResourceType, body: Uint8Array): void {
  const expected = apiVersionOf(type)
  const { apiVersion, kind } = given
  if (!kind || !apiVersion) {
    if (type.custom && !kind) {
      throw badRequest(`Object 'Kind' is missing in '${Buffer.from(body).toString('utf8').slice(0, 1024)}'`)
    }
    if (type.custom) {
      throw badRequest(
        `the API version in the data (${apiVersion}) does not match the expected API version ` + `(${expected})`,
      )
    }
  }
  if (kind && kind !== type.kind && type.custom && apiVersion === expected) {
    const name = (given.metadata as { name?: unknown } | undefined)?.name
    throw invalid({ group: type.group, kind }, typeof name === 'string' ? name : '', [
      fieldInvalid('kind', kind, `must be ${type.kind}`),
    ])
  }
  if (kind && kind !== type.kind) {
    const version = JSON.stringify(parseApiVersion(apiVersion)?.version ?? type.version)
    throw badRequest(
      `${kind} in version ${version} cannot be handled as a ${type.kind}: no kind ` +
        `${JSON.stringify(kind)} is expected here`,
    )
  }
  if (apiVersion && apiVersion !== expected && apiVersion !== olderName[`${expected} ${type.kind}`]) {
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
    )
  }
}

function withMetadata(object: JsonObject): Unvalidated {
  const metadata = object['metadata']
  return (isJsonObject(metadata) ? object : { ...object, metadata: {} }) as unknown as Unvalidated
}

const foundIn = (value: JsonValue | undefined): string => (value === null ? 'null' : jsonNameOf(value ?? null))

/** @throws StatusError BadRequest for a field of the wrong type */
function checkedDeleteOptions(value: JsonObject): DeleteOptionsBody {
  const want = (field: string, type: string, ok: boolean): void => {
    if (!ok) {
      const given = value[field] ?? null
      // Go tells a number that is too large for the field, and of others that they are numbers.
      const found = isExactNumber(given) ? `number ${given.rawJSON}` : jsonNameOf(given)
      throw badRequest(`json: cannot unmarshal ${found} into Go struct field DeleteOptions.${field} of type ${type}`)
    }
  }
  const { gracePeriodSeconds, propagationPolicy, orphanDependents, preconditions, dryRun } = value
  const present = (v: JsonValue | undefined): boolean => v !== undefined && v !== null
  if (present(gracePeriodSeconds)) want('gracePeriodSeconds', 'int64', Number.isSafeInteger(gracePeriodSeconds))
  if (present(propagationPolicy)) want('propagationPolicy', 'string', typeof propagationPolicy === 'string')
  if (present(orphanDependents)) want('orphanDependents', 'bool', typeof orphanDependents === 'boolean')
  if (present(preconditions)) want('preconditions', 'v1.Preconditions', isJsonObject(preconditions))
  if (present(dryRun)) {
    want('dryRun', '[]string', Array.isArray(dryRun) && dryRun.every((d) => typeof d === 'string'))
  }
  const options: Record<string, unknown> = {}
  for (const [key, v] of Object.entries({
    gracePeriodSeconds,
    propagationPolicy,
    orphanDependents,
    preconditions,
    dryRun,
  })) {
    if (present(v)) options[key] = v
  }
  return options as DeleteOptionsBody
}
