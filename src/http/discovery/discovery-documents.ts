/**
 * `/api`, `/apis`, `/apis/{group}`, `/api/{version}`, `/apis/{group}/{version}`.
 *
 * A document is made when first asked for and kept until the served types change. It knows no users: whether a user
 * may ask is settled before.
 */
import { trimSlashes } from '../../base/trim-slashes.ts'
import type { GroupVersionKind } from '../../kube/gvk.ts'
import type { ResourceTypes } from '../../kube/resource-type.ts'
import { methodNotAllowed, resourceNotFound } from '../../kube/status-error.ts'
import type { ApiRequest, ApiResponse, Handler } from '../api.ts'
import { jsonMediaType, type Negotiated, negotiate } from '../negotiate.ts'
import {
  type AggregatedDocument,
  type AggregatedVersion,
  aggregatedContentType,
  aggregatedDocument,
  aggregatedVersionIn,
} from './aggregated-documents.ts'
import { apiVersionsDocument, groupDocument, groupListDocument, resourceListDocument } from './classic-documents.ts'
import { type ServedGroup, servedGroups } from './served-groups.ts'

export interface DiscoveryDeps {
  readonly types: ResourceTypes
  /** Where clients inside the cluster reach this server: `10.0.0.1:6443`. */
  readonly serverAddress: () => string
  /** Writes what is not plain JSON: pretty, YAML, protobuf. */
  readonly render: (value: object, kind: GroupVersionKind, n: Negotiated) => ApiResponse
}

interface Document {
  readonly kind: GroupVersionKind
  readonly value: object
  readonly json: Uint8Array
}

const textEncoder = new TextEncoder()

export class DiscoveryDocuments {
  readonly #deps: DiscoveryDeps
  #groups: ReadonlyMap<string, ServedGroup> | undefined
  readonly #documents = new Map<string, Document>()
  readonly #aggregated = new Map<string, AggregatedDocument>()

  constructor(deps: DiscoveryDeps) {
    this.#deps = deps
    deps.types.onChange(() => this.#forget())
  }

  #forget(): void {
    this.#groups = undefined
    this.#documents.clear()
    this.#aggregated.clear()
  }

  /** The handler of a path, with or without slashes at its end; undefined if discovery has no such path. */
  find(path: string): Handler | undefined {
    const [root, first, second, ...more] = trimSlashes(path).split('/')
    if (more.length > 0) return undefined
    if (root === 'api' && second === undefined) {
      return first === undefined ? this.#root('api') : this.#resources('', first)
    }
    if (root === 'apis') {
      if (first === undefined) return this.#root('apis')
      return second === undefined ? this.#group(first) : this.#resources(first, second)
    }
    return undefined
  }

  /** Every path above, ascending: for the answer to an unknown one. */
  paths(): readonly string[] {
    const paths = ['/api', '/apis', '/apis/']
    for (const group of this.#served().values()) {
      const base = group.name === '' ? '/api' : `/apis/${group.name}`
      if (group.name !== '') paths.push(base)
      for (const { version } of group.versions) paths.push(`${base}/${version}`)
    }
    return paths.sort()
  }

  #served(): ReadonlyMap<string, ServedGroup> {
    this.#groups ??= new Map(servedGroups(this.#deps.types).map((group) => [group.name, group]))
    return this.#groups
  }

  #root(root: 'api' | 'apis'): Handler {
    return async (request) => {
      requireGet(request)
      const version = aggregatedVersionIn(request.headers['accept'])
      if (version !== undefined) return this.#respondAggregated(root, version, request)
      const document =
        root === 'api'
          ? this.#document('/api', 'APIVersions', () =>
              apiVersionsDocument(this.#served().get(''), this.#deps.serverAddress()),
            )
          : this.#document('/apis', 'APIGroupList', () => groupListDocument(this.#named()))
      const response = this.#respond(document, request)
      return { ...response, headers: { ...response.headers, vary: 'Accept' } }
    }
  }

  #group(name: string): Handler {
    const group = this.#served().get(name)
    if (group === undefined || name === '') return async () => pageNotFound
    return async (request) => {
      requireGet(request)
      return this.#respond(
        this.#document(`/apis/${name}`, 'APIGroup', () => groupDocument(group)),
        request,
      )
    }
  }

  #resources(name: string, version: string): Handler {
    const group = this.#served().get(name)
    const served = group?.versions.find((v) => v.version === version)
    // Upstream's servers form a chain; what none of them knows ends in a plain 404, and custom groups are the last.
    if (group === undefined || (served === undefined && group.custom)) return async () => pageNotFound
    return async (request) => {
      if (served === undefined) throw resourceNotFound()
      requireGet(request)
      const document = this.#document(`${name}/${version}`, 'APIResourceList', () =>
        resourceListDocument(name, served, this.#deps.types),
      )
      return this.#respond(document, request)
    }
  }

  /** All groups but the core, which has a document of its own. */
  #named(): readonly ServedGroup[] {
    return [...this.#served().values()].filter((group) => group.name !== '')
  }

  #document(key: string, kind: string, make: () => object): Document {
    let document = this.#documents.get(key)
    if (document === undefined) {
      const value = make()
      document = {
        kind: { group: '', version: 'v1', kind },
        value,
        json: textEncoder.encode(`${JSON.stringify(value)}\n`),
      }
      this.#documents.set(key, document)
    }
    return document
  }

  #respond(document: Document, request: ApiRequest): ApiResponse {
    const n = negotiate(request.headers, new URLSearchParams(request.query), () => ({ protobuf: true, views: [] }))
    if (n.format !== 'json' || n.pretty) return this.#deps.render(document.value, document.kind, n)
    return { status: 200, headers: { 'content-type': jsonMediaType }, body: document.json }
  }

  #respondAggregated(root: 'api' | 'apis', version: AggregatedVersion, request: ApiRequest): ApiResponse {
    const key = `${root} ${version}`
    let document = this.#aggregated.get(key)
    if (document === undefined) {
      const core = this.#served().get('')
      document = aggregatedDocument(root === 'apis' ? this.#named() : core ? [core] : [], version)
      this.#aggregated.set(key, document)
    }
    const headers = { etag: document.etag, vary: 'Accept', 'cache-control': 'public' }
    if (request.headers['if-none-match'] === document.etag) return { status: 304, headers, body: new Uint8Array() }
    return {
      status: 200,
      headers: { ...headers, 'content-type': aggregatedContentType(version) },
      body: document.json,
    }
  }
}

function requireGet(request: ApiRequest): void {
  if (request.method !== 'GET') throw methodNotAllowed()
}

const pageNotFound: ApiResponse = {
  status: 404,
  headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
  body: textEncoder.encode('404 page not found\n'),
}
