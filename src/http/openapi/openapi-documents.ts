/**
 * `/openapi/v2`, `/openapi/v3` and one path below it for each group version.
 *
 * Documents are large, so they are made when first asked for, and kept. One of version 3 lives until its own types
 * change; the one of version 2, which holds everything, until any do. The list of version 3 names a hash of each
 * document and so needs them all: it makes them one by one and lets others run in between.
 * @see k8s.io/kube-openapi/pkg/handler and handler3
 */
import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../../base/clock.ts'
import { apiVersionOf } from '../../kube/gvk.ts'
import type { ResourceType, ResourceTypes } from '../../kube/resource-type.ts'
import { methodNotAllowed } from '../../kube/status-error.ts'
import type { JsonObject } from '../../kube/types.ts'
import type { ApiRequest, ApiResponse, Handler } from '../api.ts'
import { DefinitionNames, type TypeCatalog } from './definition-names.ts'
import { GnosticEncoder } from './gnostic-encoder.ts'
import { openapiV2 } from './openapi-v2.ts'
import { openapiV3 } from './openapi-v3.ts'

export interface OpenapiDeps {
  readonly types: ResourceTypes
  readonly catalog: TypeCatalog
  readonly clock: Clock
  /** What the documents call themselves: `v1.36.3+borough.0.1.0`. */
  readonly version: string
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

  constructor(deps: OpenapiDeps) {
    this.#deps = deps
    deps.types.onChange(() => {
      this.#names = undefined
      this.#groups = undefined
      this.#v3Index = undefined
      this.#v2 = undefined
    })
  }

  /** The handler of a path; undefined if it is none of ours. */
  find(path: string): Handler | undefined {
    const trimmed = path.replace(/^\/+|\/+$/g, '')
    if (trimmed === 'openapi/v2') return async (request) => this.#respondV2(request)
    if (trimmed === 'openapi/v3') return (request) => this.#respondV3Index(request)
    if (!trimmed.startsWith('openapi/v3/')) return undefined
    const group = trimmed.slice('openapi/v3/'.length)
    return this.#served().has(group) ? async (request) => this.#respondV3(group, request) : undefined
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

  #document(value: JsonObject): Document {
    const json = textEncoder.encode(JSON.stringify(value))
    const hash = createHash('sha512').update(json).digest('hex').toUpperCase()
    return { json, hash, madeAtMs: this.#deps.clock.now() }
  }

  #groupDocument(group: string): Document {
    const types = this.#served().get(group) ?? []
    const kept = this.#v3.get(group)
    if (kept && kept.types.length === types.length && kept.types.every((type, i) => type === types[i])) return kept
    const value = openapiV3(types, this.#deps.catalog, this.#definitionNames(), this.#deps.version)
    const made = this.#document(value)
    // Unchanged in spite of it all: keep what caches may have, and its date.
    const document = { ...(kept?.hash === made.hash ? kept : made), types }
    this.#v3.set(group, document)
    return document
  }

  async #respondV3Index(request: ApiRequest): Promise<ApiResponse> {
    requireRead(request)
    const index = this.#v3Index ?? (await this.#makeV3Index())
    return respond(request, index, index.json, { 'content-type': jsonType })
  }

  async #makeV3Index(): Promise<Document> {
    const paths: JsonObject = {}
    const groups = this.#served()
    for (const group of groups.keys()) {
      paths[group] = { serverRelativeURL: urlOf(group, this.#groupDocument(group)) }
      await setImmediate()
    }
    const index = this.#document({ paths })
    // Types may have come or gone meanwhile: then this is right for who asked and wrong for the next.
    if (groups === this.#groups) {
      this.#v3Index = index
      for (const group of this.#v3.keys()) if (!groups.has(group)) this.#v3.delete(group)
    }
    return index
  }

  #respondV3(group: string, request: ApiRequest): ApiResponse {
    requireRead(request)
    if (chooseType(request, [jsonType]) === undefined) return notAcceptable
    const document = this.#groupDocument(group)
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

  #respondV2(request: ApiRequest): ApiResponse {
    requireRead(request)
    const type = chooseType(request, [jsonType, ...protobufV2Types])
    if (type === undefined) return notAcceptable
    const document = this.#documentV2(type !== jsonType)
    const [body, contentType] = type === jsonType ? [document.json, type] : [document.protobuf, protobufV2Types[0]]
    return respond(request, document, body, { 'content-type': contentType, vary: 'Accept-Encoding, Accept' })
  }

  /** The protobuf is made only where it is wanted; it is empty otherwise. */
  #documentV2(withProtobuf: boolean): DocumentV2 {
    let document = this.#v2
    if (document === undefined || (withProtobuf && document.protobuf.length === 0)) {
      const { types, catalog, version } = this.#deps
      // The parsed form is not kept: it is larger than both encodings.
      const value = openapiV2(types.all(), catalog, this.#definitionNames(), version)
      const protobuf = withProtobuf ? new GnosticEncoder().encode(value) : new Uint8Array()
      document = { ...(document ?? this.#document(value)), protobuf }
      this.#v2 = document
    }
    return document
  }
}

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
