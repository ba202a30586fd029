/**
 * Bodies into objects: JSON, YAML or protobuf in; a private, typed, defaulted copy without unknown fields out.
 * Everything a client can send wrong is a 400 here, in the words of upstream's decoder.
 */
import { andThen, type Eventual } from '../base/eventual.ts'
import { afterPause, type Slice, type Turns } from '../base/turns.ts'
import { fieldInvalid } from '../kube/field-error.ts'
import { apiVersionOf, type GroupVersionKind, parseApiVersion } from '../kube/gvk.ts'
import { isJsonObject } from '../kube/json-value.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import { type Decoded, DecodeError, type Dialect, type Repeated, strictFaults } from '../kube/schema/decode.ts'
import { decodeObject } from '../kube/schema/decode-object.ts'
import { badRequest, invalid, type StatusError, unsupportedMediaType } from '../kube/status-error.ts'
import { JsonSyntaxError, type ParsedJson, parseJson } from '../kube/strict-json.ts'
import type { JsonObject, JsonValue, KubeObject } from '../kube/types.ts'
import { parseYaml, parseYamlInSlices } from '../kube/yaml-body.ts'
import type { ApiRequest, RequestContext } from './api.ts'
import { bodyMediaType, jsonMediaType, protobufMediaType, yamlMediaType } from './negotiate.ts'
import type { DeleteOptionsBody } from './verbs/delete-options.ts'
import { type FieldValidation, fieldValidationOf } from './verbs/options.ts'
import { warn } from './verbs/target.ts'

/** Upstream's limit. */
export const maxBodyBytes: number = 3 * 1024 * 1024

/** From here on a body takes long enough to make pauses. */
const longBodyBytes = 64 * 1024

export interface DecodeDeps {
  /** @throws StatusError BadRequest */
  readonly decodeProtobuf: (
    bytes: Uint8Array,
    assumed?: GroupVersionKind,
  ) => {
    readonly apiVersion: string
    readonly kind: string
    readonly object: object
  }
  /** False: the kind is JSON and YAML only. */
  readonly supportsProtobuf: (gvk: GroupVersionKind) => boolean
  readonly applyDefaults: (type: ResourceType, object: KubeObject) => KubeObject
  /** A long body is worked on in slices. */
  readonly turns: Turns
}

export type Parsed = ParsedJson

/** What else is known of a value than what it is. */
interface Found extends Repeated {
  /** False: a patch made it. */
  readonly isBody?: boolean
}

const textDecoder = new TextDecoder('utf-8', { fatal: true })
const deleteOptionsKind: GroupVersionKind = { group: '', version: 'v1', kind: 'DeleteOptions' }
const snippetBytes = 30

export class BodyDecoder {
  readonly #deps: DecodeDeps

  constructor(deps: DecodeDeps) {
    this.#deps = deps
  }

  /** The object of a POST or PUT; at once where the body has come along with its headers. @throws StatusError */
  decodeObject(request: ApiRequest, context: RequestContext, type: ResourceType): Eventual<KubeObject> {
    return andThen(this.#body(request, context), (bytes) => this.#object(bytes, request, context, type))
  }

  #body(request: ApiRequest, context: RequestContext): Eventual<Uint8Array> {
    return andThen(request.body(maxBodyBytes), (bytes) => {
      if (bytes.length > longBodyBytes) context.slice = this.#deps.turns.slice(context)
      return bytes
    })
  }

  #object(bytes: Uint8Array, request: ApiRequest, context: RequestContext, type: ResourceType): Eventual<KubeObject> {
    const mediaType = bodyMediaType(request.headers)
    const validation = fieldValidationOf(context.info.query)
    const protobuf = this.#deps.supportsProtobuf(type)
    if (mediaType === protobufMediaType && protobuf) {
      const { apiVersion, kind, object } = this.#deps.decodeProtobuf(bytes, type)
      checkKind({ apiVersion, kind }, type, bytes)
      return this.#deps.applyDefaults(type, withMetadata(object as JsonObject))
    }
    const parsing = parseBody(bytes, { mediaType, type, protobuf, duplicates: validation !== 'Ignore' }, context.slice)
    return andThen(parsing, (parsed) => this.#parsedObject(parsed, bytes, context, type, validation))
  }

  #parsedObject(
    parsed: Parsed,
    bytes: Uint8Array,
    context: RequestContext,
    type: ResourceType,
    validation: FieldValidation,
  ): Eventual<KubeObject> {
    if (!isJsonObject(parsed.value)) {
      throw unrecognized(type, `json: cannot unmarshal ${goType(parsed.value)} into Go value of type struct`, bytes)
    }
    // As Go reads it: the core group may be written as what it is, nothing before a slash.
    if (type.group === '' && parsed.value['apiVersion'] === `/${type.version}`)
      parsed.value['apiVersion'] = type.version
    checkKind(parsed.value, type, bytes)
    const { value } = parsed
    return afterPause(context.slice, () => this.settle(value, { ...parsed, isBody: true }, context, type, validation))
  }

  /**
   * Types checked, unknown fields dropped (and reported as the caller wishes), defaults filled: for bodies, and for
   * what a patch made.
   */
  settle(
    value: JsonObject,
    found: Found,
    context: RequestContext,
    type: ResourceType,
    validation: FieldValidation,
    dialect: Dialect = 'json',
  ): KubeObject {
    const { value: object, unknownFields } = decoded(value, type, dialect)
    if (validation !== 'Ignore') {
      const faults = strictFaults(found, unknownFields, found.isBody && !type.custom ? value : undefined)
      if (faults.length > 0 && validation === 'Strict') {
        throw badRequest(`${cannotHandle(type)}: strict decoding error: ${faults.join(', ')}`)
      }
      for (const fault of faults) warn(context, fault)
    }
    return this.#deps.applyDefaults(type, withMetadata(object))
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
      return this.#deps.decodeProtobuf(bytes, deleteOptionsKind).object as DeleteOptionsBody
    }
    const protobuf = this.#deps.supportsProtobuf(type)
    const how = { mediaType, type: deleteOptionsKind, protobuf, duplicates: false }
    const { value } = await parseBody(bytes, how, context.slice)
    if (!isJsonObject(value)) throw badRequest('the body of a DELETE must be a DeleteOptions object')
    const kind = value['kind']
    if (kind !== undefined && kind !== 'DeleteOptions' && kind !== '') {
      throw badRequest(`the body of a DELETE must be a DeleteOptions object, not a ${JSON.stringify(kind)}`)
    }
    return checkedDeleteOptions(value)
  }

  /** A patch as sent. JSON for the three JSON kinds of patch, YAML or JSON for apply. @throws StatusError BadRequest */
  async parsePatch(request: ApiRequest, context: RequestContext, isApply: boolean, report: boolean): Promise<Parsed> {
    const bytes = await this.#body(request, context)
    const text = utf8(bytes)
    if (isApply) {
      try {
        return await yamlOf(text, context.slice)
      } catch (error) {
        throw badRequest(
          'error decoding YAML: error converting YAML to JSON: ' +
            `${error instanceof Error ? error.message : String(error)}`,
        )
      }
    }
    try {
      return parseJson(text, { duplicates: report })
    } catch (error) {
      if (error instanceof JsonSyntaxError) throw badRequest(`error decoding patch: ${error.message}`)
      throw error
    }
  }
}

const cannotHandle = ({ kind, version }: ResourceType): string =>
  `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}`

function decoded(value: JsonObject, type: ResourceType, dialect: Dialect): Decoded {
  try {
    return decodeObject(value, type, dialect)
  } catch (error) {
    if (error instanceof DecodeError) throw badRequest(`${cannotHandle(type)}: ${error.message}`)
    throw error
  }
}

interface HowToParse {
  readonly mediaType: string
  readonly type: Pick<ResourceType, 'kind'>
  /** Whether the kind can be sent as such. */
  readonly protobuf: boolean
  /** Whether keys that repeat are to be found. */
  readonly duplicates: boolean
}

/** At once but for long YAML. @throws StatusError */
function parseBody(bytes: Uint8Array, how: HowToParse, slice: Slice | undefined): Eventual<Parsed> {
  const { mediaType, type, protobuf, duplicates } = how
  const accepted = protobuf ? [jsonMediaType, yamlMediaType, protobufMediaType] : [jsonMediaType, yamlMediaType]
  if (mediaType !== jsonMediaType && mediaType !== yamlMediaType) throw unsupportedMediaType(accepted)
  const text = utf8(bytes)
  const refusal = (error: unknown): StatusError => {
    const problem = error instanceof Error ? error.message : String(error)
    return unrecognized(type, `json parse error: ${problem}`, bytes)
  }
  try {
    const parsed = mediaType === jsonMediaType ? parseJson(text, { duplicates }) : yamlOf(text, slice)
    if (!(parsed instanceof Promise)) return parsed
    return parsed.catch((error: unknown) => {
      throw refusal(error)
    })
  } catch (error) {
    throw refusal(error)
  }
}

const yamlOf = (text: string, slice: Slice | undefined): Eventual<Parsed> =>
  slice === undefined ? parseYaml(text) : parseYamlInSlices(text, slice)

function utf8(bytes: Uint8Array): string {
  try {
    return textDecoder.decode(bytes)
  } catch {
    throw badRequest('the body of the request is not valid UTF-8')
  }
}

function unrecognized(type: Pick<ResourceType, 'kind'>, problem: string, bytes: Uint8Array): StatusError {
  return badRequest(
    `the object provided is unrecognized (must be of type ${type.kind}): couldn't get version/kind; ` +
      `${problem} (${snippet(bytes)})`,
  )
}

/** The beginning of the body: as text if it looks like JSON, else as hex. */
function snippet(bytes: Uint8Array): string {
  if (bytes.length === 0) return '<empty>'
  const head = Buffer.from(bytes.subarray(0, snippetBytes))
  const text = head[0] === 0x7b ? head.toString('utf8') : head.toString('hex')
  return bytes.length > snippetBytes ? `${text} ...` : text
}

/** What old clients call a body that has not changed since: kubectl drain up to 1.21 sends this. */
const olderName: Readonly<Record<string, string>> = { 'policy/v1 Eviction': 'policy/v1beta1' }

/** Absent apiVersion and kind are taken from the URL, for built-in kinds. @throws StatusError BadRequest */
function checkKind(
  given: { readonly apiVersion?: unknown; readonly kind?: unknown; readonly metadata?: unknown },
  type: ResourceType,
  body: Uint8Array,
): void {
  const expected = apiVersionOf(type)
  const { apiVersion, kind } = given
  if (!kind || !apiVersion) {
    if (type.custom && !kind) {
      throw badRequest(`Object 'Kind' is missing in '${Buffer.from(body).toString('utf8').slice(0, 1024)}'`)
    }
    if (type.custom) {
      throw badRequest(
        `the API version in the data (${String(apiVersion ?? '')}) does not match the expected API version ` +
          `(${expected})`,
      )
    }
  }
  if (kind && kind !== type.kind && type.custom && apiVersion === expected) {
    const name = (given.metadata as { name?: unknown } | undefined)?.name
    throw invalid({ group: type.group, kind: String(kind) }, typeof name === 'string' ? name : '', [
      fieldInvalid('kind', kind, `must be ${type.kind}`),
    ])
  }
  if (kind && kind !== type.kind) {
    const version = JSON.stringify(parseApiVersion(String(apiVersion ?? ''))?.version ?? type.version)
    throw badRequest(
      `${String(kind)} in version ${version} cannot be handled as a ${type.kind}: no kind ` +
        `${JSON.stringify(kind)} is expected here`,
    )
  }
  if (apiVersion && apiVersion !== expected && apiVersion !== olderName[`${expected} ${type.kind}`]) {
    throw badRequest(
      `the API version in the data (${String(apiVersion)}) does not match the expected API version (${expected})`,
    )
  }
}

function withMetadata(object: JsonObject): KubeObject {
  const metadata = object['metadata']
  return (isJsonObject(metadata) ? object : { ...object, metadata: {} }) as unknown as KubeObject
}

function goType(value: JsonValue): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/** @throws StatusError BadRequest for a field of the wrong type */
function checkedDeleteOptions(value: JsonObject): DeleteOptionsBody {
  const want = (field: string, type: string, ok: boolean): void => {
    if (!ok) {
      const given = goType(value[field] ?? null).replace('boolean', 'bool')
      throw badRequest(`json: cannot unmarshal ${given} into Go struct field DeleteOptions.${field} of type ${type}`)
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
