/**
 * Answers. In JSON an object is its stored bytes with a head spliced on; every other form (pretty, YAML, protobuf,
 * tables, metadata only) is made from the parsed object, which costs more and is asked for less.
 */
import { apiVersionOf, type GroupVersionKind } from '../kube/gvk.ts'
import { printYaml } from '../kube/print-yaml.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import { singleObject } from '../kube/stored-form.ts'
import { columnsOf } from '../kube/tables/columns-of.ts'
import { parseIncludeObject, renderTable, type Table } from '../kube/tables/table.ts'
import type { KubeObject, ListMeta, Status } from '../kube/types.ts'
import type { ListPage, StoredObject } from '../registry/registry.ts'
import type { ApiResponse } from './api.ts'
import { JsonLists, listMeta, type Reserve } from './json-list.ts'
import { contentTypeOf, type Negotiated, type Offer, type View } from './negotiate.ts'

/** Kubernetes protobuf, whole messages with their envelope. */
export interface ProtobufEncoder {
  supports(gvk: GroupVersionKind): boolean
  encode(object: object, gvk: GroupVersionKind): Uint8Array
  /** `items` one by one, so that a long list is never held twice. */
  encodeList(items: Iterable<KubeObject>, metadata: ListMeta, gvk: GroupVersionKind): Uint8Array
}

const textEncoder = new TextEncoder()

export const metaGroup = 'meta.k8s.io'
const statusKind: GroupVersionKind = { group: '', version: 'v1', kind: 'Status' }

export class Renderer {
  readonly #protobuf: ProtobufEncoder
  readonly #now: () => number
  readonly #lists = new JsonLists()

  constructor(deps: {
    readonly protobuf: ProtobufEncoder
    readonly now: () => number
  }) {
    this.#protobuf = deps.protobuf
    this.#now = deps.now
  }

  /** What a type can be read as. */
  offer(type: ResourceType, views: readonly View[]): Offer {
    return { protobuf: this.#protobuf.supports(type), views }
  }

  /** One object in the view asked for. */
  object(stored: StoredObject, n: Negotiated, query: URLSearchParams, status = 200): ApiResponse {
    if (n.view === 'object' && n.format === 'json' && !n.pretty) {
      return answer(status, n, singleObject(stored.type, stored.revision, stored.bytes, '\n'))
    }
    return this.made(stored.type, stored.object, n, query, status)
  }

  /** An object that is not stored in this form, in the view asked for. */
  made(type: ResourceType, object: KubeObject, n: Negotiated, query: URLSearchParams, status = 200): ApiResponse {
    switch (n.view) {
      case 'object':
        return this.value(object, type, n, status)
      case 'table':
        return this.value(this.table(type, [object], {}, n, query), { ...metaKind(n), kind: 'Table' }, n, status)
      case 'partial':
      case 'partialList':
        return this.value(partialObject(object, n), { ...metaKind(n), kind: 'PartialObjectMetadata' }, n, status)
    }
  }

  /** A value that is not stored: a review, a token, an option object. */
  value(object: object, gvk: GroupVersionKind, n: Negotiated, status = 200): ApiResponse {
    switch (n.format) {
      case 'json':
        return json(status, object, n)
      case 'yaml':
        return answer(status, n, textEncoder.encode(printYaml(object)))
      case 'protobuf':
        return answer(status, n, this.#protobuf.encode(object, gvk))
    }
  }

  /** What an error says. */
  status(status: Status, n: Negotiated): ApiResponse {
    const code = status.code ?? 200
    const retry = status.details?.retryAfterSeconds
    const { headers, body } = this.value(status, statusKind, { ...n, view: 'object' }, code)
    return {
      status: code,
      headers: {
        ...headers,
        ...(retry === undefined || retry <= 0 ? {} : { 'retry-after': String(retry) }),
        ...(code === 403 ? { 'x-content-type-options': 'nosniff' } : {}),
      },
      body,
    }
  }

  /** `reserve` is told how much memory a large list will take, before it does. @throws what `reserve` throws */
  list(
    type: ResourceType,
    page: ListPage,
    n: Negotiated,
    query: URLSearchParams,
    reserve: Reserve = () => {},
  ): ApiResponse {
    const metadata = listMeta(page)
    const isStoredBytes = n.view === 'object' && n.format === 'json' && !n.pretty
    if (!isStoredBytes) reserveLarge(reserve, costOf(n) * sizeOf(page))
    switch (n.view) {
      case 'table':
        return this.value(
          this.table(type, [...objectsOf(page)], metadata, n, query),
          { ...metaKind(n), kind: 'Table' },
          n,
        )
      case 'partial':
      case 'partialList': {
        const items = page.items.map((i) => partialObject(i.object, n))
        const list = { kind: 'PartialObjectMetadataList', apiVersion: apiVersionOf(metaKind(n)), metadata, items }
        return this.value(list, { ...metaKind(n), kind: 'PartialObjectMetadataList' }, n)
      }
      case 'object': {
        if (isStoredBytes)
          return answer(
            200,
            n,
            this.#lists.body(type, page, (bytes) => reserveLarge(reserve, bytes)),
          )
        if (n.format === 'protobuf') {
          return answer(200, n, this.#protobuf.encodeList(objectsOf(page), metadata, type))
        }
        const items = page.items.map((i) => (type.custom ? i.object : withoutTypeMeta(i.object)))
        return this.value({ kind: type.listKind, apiVersion: apiVersionOf(type), metadata, items }, type, n)
      }
    }
  }

  table(
    type: ResourceType,
    objects: readonly KubeObject[],
    metadata: ListMeta,
    n: Negotiated,
    query: URLSearchParams,
    withDefinitions = true,
  ): Table {
    return renderTable({
      columns: columnsOf(type),
      objects,
      metadata,
      includeObject: parseIncludeObject(query.get('includeObject') ?? undefined),
      nowMs: this.#now(),
      version: n.viewVersion,
      withDefinitions,
    })
  }
}

/** Lists that are smaller are not counted while they are made. */
const countedFromBytes = 64 * 1024

function reserveLarge(reserve: Reserve, bytes: number): void {
  if (bytes >= countedFromBytes) reserve(bytes)
}

const sizeOf = (page: ListPage): number => page.items.reduce((sum, { storedBytes }) => sum + storedBytes.length, 0)

/** Memory that a list made from objects takes while it is made, per stored byte: rough, and rather too much. */
function costOf({ format, view }: Negotiated): number {
  if (format === 'yaml') return 4
  return view === 'object' && format === 'protobuf' ? 2 : 3
}

export function partialObject(object: KubeObject, n: Negotiated): KubeObject {
  return { kind: 'PartialObjectMetadata', apiVersion: apiVersionOf(metaKind(n)), metadata: object.metadata }
}

export function metaKind(n: Negotiated): { group: string; version: string } {
  return { group: metaGroup, version: n.viewVersion }
}

function* objectsOf(page: ListPage): Iterable<KubeObject> {
  for (const item of page.items) yield item.object
}

function withoutTypeMeta({ kind: _kind, apiVersion: _apiVersion, ...rest }: KubeObject): object {
  return rest
}

function json(status: number, value: object, n: Negotiated): ApiResponse {
  const text = n.pretty ? JSON.stringify(value, null, 2) : JSON.stringify(value)
  return answer(status, n.format === 'json' ? n : { ...n, format: 'json' }, textEncoder.encode(`${text}\n`))
}

function answer(status: number, n: Negotiated, body: Uint8Array | readonly Uint8Array[]): ApiResponse {
  return { status, headers: { 'content-type': contentTypeOf(n) }, body }
}
