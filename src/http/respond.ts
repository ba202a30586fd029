/**
 * Answers. In JSON an object is its stored bytes with a head spliced on; every other form (pretty, YAML, protobuf,
 * tables, metadata only) is made from the parsed object, which costs more and is asked for less.
 */
import { afterPause, andThen, type Eventual } from '../base/eventual.ts'
import { runInSlices } from '../base/resumable.ts'
import type { Slice } from '../base/turns.ts'
import { columnsOf } from '../catalog/kinds/columns-of.ts'
import { apiVersionOf, type GroupVersionKind } from '../kube/gvk.ts'
import { printYaml, yamlBytesInSteps } from '../kube/print-yaml.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import { singleObject } from '../kube/stored-form.ts'
import { parseIncludeObject, renderTable, type Table, type TableRequest, tableHead, tableRow } from '../kube/table.ts'
import type { KubeObject, ListMeta, Status } from '../kube/types.ts'
import type { ListPage, StoredObject } from '../registry/registry.ts'
import type { ApiBody, ApiResponse } from './api.ts'
import { JsonLists, listMeta, type Reserve } from './json-list.ts'
import { type ListForm, objectForm, partialForm, valueForm } from './list-form.ts'
import { keptBytes, listStream, type SizedForm, sizedListStream, wholeList } from './list-stream.ts'
import { contentTypes, type Negotiated, type Offer, type View } from './negotiate.ts'

/** Kubernetes protobuf, whole messages with their envelope. */
export interface ProtobufEncoder {
  supports(gvk: GroupVersionKind): boolean
  encode(object: object, gvk: GroupVersionKind): Uint8Array
  /** A list is its head, its items and its tail. `gvk` is the kind of the items, `sizeBytes` the sum of their bytes. */
  encodeListHead(metadata: ListMeta, gvk: GroupVersionKind, sizeBytes: number): Uint8Array
  encodeListItem(object: object, gvk: GroupVersionKind): Uint8Array
  readonly listTail: Uint8Array
}

/** Of stored objects. A list in compact JSON is copied from their bytes; in any other form it is made of values. */
const longCopyBytes = 4 * 1024 * 1024
const longListBytes = 64 * 1024
/** Longer lists are treated alike. */
const decidingBytes = Math.max(longCopyBytes, longListBytes, keptBytes)

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
  object(
    stored: StoredObject,
    n: Negotiated,
    query: URLSearchParams,
    status = 200,
    slice?: Slice,
  ): Eventual<ApiResponse> {
    if (n.view === 'object' && n.format === 'json' && !n.pretty) {
      return answer(status, n, singleObject(stored.type, stored.revision, stored, '\n'))
    }
    const { type } = stored
    if (slice === undefined) return this.made(type, stored.object, n, query, status)
    return andThen(stored.read(slice), (object) => {
      if (n.view === 'object' && n.format === 'yaml') {
        const printed = afterPause(slice, () => runInSlices(yamlBytesInSteps(object), slice))
        return andThen(printed, (pieces) => answer(status, n, pieces))
      }
      return afterPause(slice, () => this.made(type, object, n, query, status))
    })
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

  /**
   * `slice`: what a long list is made in, also while it is sent. `reserve` is told how much memory the list will take,
   * before it does. @throws what `reserve` throws
   */
  list(
    type: ResourceType,
    page: ListPage,
    n: Negotiated,
    query: URLSearchParams,
    slice: Slice,
    reserve: Reserve = () => {},
  ): Eventual<ApiResponse> {
    const isCopied = n.format === 'json' && !n.pretty && n.view === 'object'
    const sizeBytes = sizeOf(page)
    const isLong = sizeBytes > (isCopied ? longCopyBytes : longListBytes)
    // What is read often is short, and worth to be remembered.
    const read: Read = (stored) => (isLong ? stored.parsedOnce() : stored.object)
    if (n.format === 'protobuf') {
      if (isLong) reserve(Math.min(sizeBytes, keptBytes) + inTheMakingBytes)
      return this.#sized(this.#sizedForm(type, page, n, read), page, isLong ? slice : undefined, n)
    }
    if (isCopied && !isLong) {
      return answer(
        200,
        n,
        this.#lists.body(type, page, (bytes) => reserveLarge(reserve, bytes)),
      )
    }
    const form = this.#listForm(type, page, n, query, read)
    if (!isLong) return answer(200, n, wholeList(form, page.items))
    reserve(inTheMakingBytes)
    return answer(200, n, listStream(form, page.items, slice))
  }

  #listForm(type: ResourceType, page: ListPage, n: Negotiated, query: URLSearchParams, read: Read): ListForm {
    const metadata = listMeta(page)
    switch (n.view) {
      case 'table': {
        const request = this.#tableRequest(type, n, query)
        return valueForm(tableHead(request, metadata), 'rows', n, (i) => tableRow(request, read(i)))
      }
      case 'partial':
      case 'partialList': {
        const apiVersion = apiVersionOf(metaKind(n))
        const head = { kind: 'PartialObjectMetadataList', apiVersion, metadata }
        if (n.format === 'json' && !n.pretty && !type.conversion) return partialForm(head, apiVersion)
        return valueForm(head, 'items', n, (i) => partialObject(i, n))
      }
      case 'object': {
        const head = { kind: type.listKind, apiVersion: apiVersionOf(type), metadata }
        if (n.format === 'json' && !n.pretty) return objectForm(type, head)
        const shown = type.custom ? (o: KubeObject) => o : withoutTypeMeta
        return valueForm(head, 'items', n, (i) => shown(read(i)))
      }
    }
  }

  #sizedForm(type: ResourceType, page: ListPage, n: Negotiated, read: Read): SizedForm {
    const isObject = n.view === 'object'
    const kind = isObject ? type : { ...metaKind(n), kind: 'PartialObjectMetadata' }
    return {
      open: (sizeBytes) => this.#protobuf.encodeListHead(listMeta(page), kind, sizeBytes),
      item: (i) => this.#protobuf.encodeListItem(isObject ? read(i) : partialObject(i, n), kind),
      close: this.#protobuf.listTail,
    }
  }

  #sized(form: SizedForm, { items }: ListPage, slice: Slice | undefined, n: Negotiated): Eventual<ApiResponse> {
    if (slice) return sizedListStream(form, items, slice).then((body) => answer(200, n, body))
    const encoded = items.map((i) => form.item(i))
    const head = form.open(encoded.reduce((sum, { length }) => sum + length, 0))
    return answer(200, n, Buffer.concat([head, ...encoded, form.close]))
  }

  table(
    type: ResourceType,
    objects: readonly KubeObject[],
    metadata: ListMeta,
    n: Negotiated,
    query: URLSearchParams,
    withDefinitions = true,
  ): Table {
    return renderTable({ ...this.#tableRequest(type, n, query), objects, metadata, withDefinitions })
  }

  #tableRequest(type: ResourceType, n: Negotiated, query: URLSearchParams): TableRequest {
    return {
      columns: columnsOf(type),
      includeObject: parseIncludeObject(query.get('includeObject') ?? undefined),
      nowMs: this.#now(),
      version: n.viewVersion,
    }
  }
}

/** Lists that are smaller are not counted while they are made. */
const countedFromBytes = 64 * 1024

/** What there is of a long list at a time: a chunk, the objects that it is made of, and what the socket keeps of it. */
const inTheMakingBytes = 1024 * 1024

function reserveLarge(reserve: Reserve, bytes: number): void {
  if (bytes >= countedFromBytes) reserve(bytes)
}

export function partialObject({ metadata }: Pick<KubeObject, 'metadata'>, n: Negotiated): KubeObject {
  return { kind: 'PartialObjectMetadata', apiVersion: apiVersionOf(metaKind(n)), metadata }
}

export function metaKind(n: Negotiated): { group: string; version: string } {
  return { group: metaGroup, version: n.viewVersion }
}

type Read = (stored: StoredObject) => KubeObject

/** Not exact beyond what anything is decided by: to ask each of many items would hold the loop. */
function sizeOf({ items }: ListPage): number {
  let sizeBytes = 0
  for (const { storedSizeBytes } of items) {
    sizeBytes += storedSizeBytes
    if (sizeBytes > decidingBytes) break
  }
  return sizeBytes
}

function withoutTypeMeta({ kind: _kind, apiVersion: _apiVersion, ...rest }: KubeObject): object {
  return rest
}

function json(status: number, value: object, n: Negotiated): ApiResponse {
  const text = n.pretty ? JSON.stringify(value, null, 2) : JSON.stringify(value)
  return answer(status, n.format === 'json' ? n : { ...n, format: 'json' }, textEncoder.encode(`${text}\n`))
}

function answer(status: number, n: Negotiated, body: ApiBody): ApiResponse {
  return { status, headers: { 'content-type': contentTypes[n.format] }, body }
}
