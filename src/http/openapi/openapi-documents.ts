/**
 * `/openapi/v2`, `/openapi/v3` and one path below it for each group version.
 *
 * Documents are large, so they are made when first asked for, and kept. One of version 3 lives until its own types
 * change; the one of version 2, which holds everything, until any do. The list of version 3 names a hash of each
 * document and so needs them all. They are made in slices, each once, however many ask for it meanwhile.
 * @see k8s.io/kube-openapi/pkg/handler and handler3
 */

import { createHash } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import { type Resumable, runInSlices } from '../../base/resumable.ts'
import { trimSlashes } from '../../base/trim-slashes.ts'
import type { Turns } from '../../base/turns.ts'
import { apiVersionOf } from '../../kube/gvk.ts'
import type { ResourceType, ResourceTypes } from '../../kube/resource-type.ts'
import { methodNotAllowed } from '../../kube/status-error.ts'
import type { JsonObject } from '../../kube/types.ts'
import type { ApiRequest, ApiResponse, Handler } from '../api.ts'
import { DefinitionNames, type TypeCatalog } from './definition-names.ts'
import { GnosticEncoder } from './gnostic-encoder.ts'
import { jsonParts } from './json-parts.ts'
import { makingOpenapiV2 } from './openapi-v2.ts'
import { makingOpenapiV3 } from './openapi-v3.ts'

export interface OpenapiDeps {
  readonly types: ResourceTypes
  readonly catalog: TypeCatalog
  readonly clock: Clock
  /** What the documents call themselves: `v1.36.3+borough.0.1.0`. */
  readonly version: string
  /** Documents are made in slices. */
  readonly turns: Turns
}

interface Document {
  readonly json: Uint8Array
  /** Upper-case hexadecimal SHA-512, without quotes. */
  readonly hash: string
  readonly madeAtMs: number
}

interface DocumentV2 extends Document {
  readonly protobuf: Uint8Array
}

interface GroupDocument extends Document {
  readonly types: readonly ResourceType[]
}

const jsonType = 'application/json'
const protobufV2Types = [
  'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
  'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
] as const
/** As long as a cache may be told to keep something. */
const yearMs = 365 * 24 * 3600 * 1000

const textEncoder = new TextEncoder()

export class OpenapiDocuments {
  readonly #deps: OpenapiDeps
  #names: DefinitionNames | undefined
  /** `api/v1`, `apis/apps/v1` → types, in discovery order. */
  #groups: ReadonlyMap<string, readonly ResourceType[]> | undefined
  readonly #v3 = new Map<string, GroupDocument>()
  #v3Index: Document | undefined
  #v2: DocumentV2 | undefined
  /** Being made, by what it is. */
  readonly #making = new Map<string, Promise<unknown>>()

  constructor(deps: OpenapiDeps) {
    this.#deps = deps
    deps.types.onChange(() => {
      this.#names = undefined
      this.#groups = undefined
      this.#v3Index = undefined
      this.#v2 = undefined
      this.#making.clear()
    })
  }

  /** The handler of a path; undefined if it is none of ours. */
  find(path: string): Handler | undefined {
    const trimmed = trimSlashes(path)
    if (trimmed === 'openapi/v2') return (request) => this.#respondV2(request)
    if (trimmed === 'openapi/v3') return (request) => this.#respondV3Index(request)
    if (!trimmed.startsWith('openapi/v3/')) return undefined
    const group = trimmed.slice('openapi/v3/'.length)
    return this.#served().has(group) ? (request) => this.#respondV3(group, request) : undefined
  }

  /** For the answer to an unknown path. */
  paths(): readonly string[] {
    return ['/openapi/v2', '/openapi/v3', ...[...this.#served().keys()].map((group) => `/openapi/v3/${group}`)]
  }

  #served(): ReadonlyMap<string, readonly ResourceType[]> {
    this.#groups ??= Map.groupBy(
      this.#deps.types.all(),
      (type) => `${type.group === '' ? 'api' : 'apis'}/${apiVersionOf(type)}`,
    )
    return this.#groups
  }

  #definitionNames(): DefinitionNames {
    this.#names ??= new DefinitionNames(this.#deps.types, this.#deps.catalog)
    return this.#names
  }

  *#document(value: JsonObject): Resumable<Document> {
    const digest = createHash('sha512')
    const parts: Uint8Array[] = []
    for (const text of jsonParts(value)) {
      const part = textEncoder.encode(text)
      digest.update(part)
      parts.push(part)
      yield
    }
    return { json: Buffer.concat(parts), hash: digest.digest('hex').toUpperCase(), madeAtMs: this.#deps.clock.now() }
  }

  /** Who asks for what is being made is given that. */
  #once<T>(what: string, make: () => Promise<T>): Promise<T> {
    const known = this.#making.get(what) as Promise<T> | undefined
    if (known !== undefined) return known
    const made = make().finally(() => {
      if (this.#making.get(what) === made) this.#making.delete(what)
    })
    this.#making.set(what, made)
    return made
  }

  async #groupDocument(group: string): Promise<Document> {
    const types = this.#served().get(group) ?? []
    const kept = this.#v3.get(group)
    if (kept && sameTypes(kept.types, types)) return kept
    const making = this.#makingGroup(types, this.#definitionNames())
    const made = await runInSlices(making, this.#deps.turns.slice())
    // Unchanged in spite of it all: keep what caches may have, and its date.
    const document = { ...(kept?.hash === made.hash ? kept : made), types }
    // Types may have come or gone meanwhile: then this is right for who asked and wrong for the next.
    if (sameTypes(this.#served().get(group) ?? [], types)) this.#v3.set(group, document)
    return document
  }

  *#makingGroup(types: readonly ResourceType[], names: DefinitionNames): Resumable<Document> {
    const { catalog, version } = this.#deps
    return yield* this.#document(yield* makingOpenapiV3(types, catalog, names, version))
  }

  async #respondV3Index(request: ApiRequest): Promise<ApiResponse> {
    requireRead(request)
    const index = this.#v3Index ?? (await this.#once('index', () => this.#makeV3Index()))
    return respond(request, index, index.json, { 'content-type': jsonType })
  }

  async #makeV3Index(): Promise<Document> {
    const paths: JsonObject = {}
    const groups = this.#served()
    for (const group of groups.keys()) {
      paths[group] = { serverRelativeURL: urlOf(group, await this.#groupDocument(group)) }
    }
    const index = await runInSlices(this.#document({ paths }), this.#deps.turns.slice())
    // Types may have come or gone meanwhile: then this is right for who asked and wrong for the next.
    if (groups === this.#groups) {
      this.#v3Index = index
      for (const group of this.#v3.keys()) if (!groups.has(group)) this.#v3.delete(group)
    }
    return index
  }

  async #respondV3(group: string, request: ApiRequest): Promise<ApiResponse> {
    requireRead(request)
    if (chooseType(request, [jsonType]) === undefined) return notAcceptable
    const document = await this.#once(group, () => this.#groupDocument(group))
    const headers: Record<string, string> = { 'content-type': jsonType, vary: 'Accept' }
    const asked = new URLSearchParams(request.query).get('hash')
    if (asked !== null && asked !== '') {
      if (asked !== document.hash) {
        return { status: 301, headers: { vary: 'Accept', location: urlOf(group, document) }, body: new Uint8Array() }
      }
      headers['cache-control'] = 'public, immutable'
      headers['expires'] = new Date(this.#deps.clock.now() + yearMs).toUTCString()
    }
    return respond(request, document, document.json, headers)
  }

  async #respondV2(request: ApiRequest): Promise<ApiResponse> {
    requireRead(request)
    const type = chooseType(request, [jsonType, ...protobufV2Types])
    if (type === undefined) return notAcceptable
    const withProtobuf = type !== jsonType
    const document = await this.#once(`v2 ${withProtobuf}`, () => this.#documentV2(withProtobuf))
    const [body, contentType] = type === jsonType ? [document.json, type] : [document.protobuf, protobufV2Types[0]]
    return respond(request, document, body, { 'content-type': contentType, vary: 'Accept-Encoding, Accept' })
  }

  /** The protobuf is made only where it is wanted; it is empty otherwise. */
  async #documentV2(withProtobuf: boolean): Promise<DocumentV2> {
    const known = this.#v2
    if (known !== undefined && (!withProtobuf || known.protobuf.length > 0)) return known
    const names = this.#definitionNames()
    const document = await runInSlices(this.#makingV2(names, withProtobuf, known), this.#deps.turns.slice())
    // As above: else it is right for who asked alone.
    if (names === this.#names) this.#v2 = document
    return document
  }

  /** The parsed form is not kept: it is larger than both encodings. */
  *#makingV2(names: DefinitionNames, withProtobuf: boolean, known: DocumentV2 | undefined): Resumable<DocumentV2> {
    const { types, catalog, version } = this.#deps
    const value = yield* makingOpenapiV2(types.all(), catalog, names, version)
    const protobuf = withProtobuf ? yield* new GnosticEncoder().encoding(value) : new Uint8Array()
    return { ...(known ?? (yield* this.#document(value))), protobuf }
  }
}

const sameTypes = (some: readonly ResourceType[], others: readonly ResourceType[]): boolean =>
  some.length === others.length && some.every((type, i) => type === others[i])

const urlOf = (group: string, { hash }: Document): string => `/openapi/v3/${group}?hash=${hash}`

function respond(
  request: ApiRequest,
  document: Document,
  body: Uint8Array,
  headers: Readonly<Record<string, string>>,
): ApiResponse {
  const etag = `"${document.hash}"`
  const all = { ...headers, etag, 'last-modified': new Date(document.madeAtMs).toUTCString() }
  const known = request.headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  if (known?.includes(etag)) return { status: 304, headers: all, body: new Uint8Array() }
  return { status: 200, headers: all, body }
}

const notAcceptable: ApiResponse = { status: 406, headers: {}, body: new Uint8Array() }

function requireRead(request: ApiRequest): void {
  if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed()
}

/** The first type of the caller's that is among ours; JSON for who does not care. */
function chooseType(request: ApiRequest, ours: readonly string[]): string | undefined {
  const accept = request.headers['accept'] ?? ''
  if (accept === '') return jsonType
  for (const clause of accept.split(',')) {
    const mediaType = (clause.split(';')[0] ?? '').trim().toLowerCase()
    if (mediaType === '*/*' || mediaType === 'application/*') return jsonType
    if (ours.includes(mediaType)) return mediaType
  }
  return undefined
}
