/**
 * The one implementation of `Client`: Kubernetes' REST conventions in JSON over any `Transport`.
 */

import { parseJsonText } from '../base/parse-json-text.ts'
import { Channel, type Stream } from '../base/stream.ts'
import { apiVersionOf, type GroupVersionResource } from '../kube/gvk.ts'
import type { Resource } from '../kube/resource.ts'
import { alreadyExists, isNotFound, StatusError, type StatusReason } from '../kube/status-error.ts'
import type { JsonObject, KubeList, KubeObject, Status } from '../kube/types.ts'
import type {
  ApplyOptions,
  Client,
  DeleteOptions,
  Discovery,
  ListOptions,
  ObjectRef,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './client.ts'
import { createDiscovery } from './discovery.ts'
import type { SharedEvent, Transport, TransportRequest, TransportResponse } from './transport.ts'
import { type OnWarning, warningsIn } from './warnings.ts'

/** Events a slow consumer may leave lying before the watch is cut off. */
const watchBuffer = 100_000

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Never changed. */
const noQuery = new URLSearchParams()
/** Upstream takes either for a list, and for a watch the one of objects. */
const metadataObjects = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'
const metadataLists = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'
const jsonHeaders = { 'content-type': 'application/json' }

/** A request but for what it has in common with all others. */
type Sent = Omit<TransportRequest, 'query' | 'headers'> &
  Partial<Pick<TransportRequest, 'query' | 'headers'>> & { readonly onWarning?: OnWarning }

export interface RestClientOptions {
  readonly transport: Transport
  /** Sent with every request; its first word is the field manager of plain writes. */
  readonly userAgent: string
  /** Told of each warning of the server, as often as it comes. */
  readonly onWarning?: OnWarning | undefined
}

export class RestClient implements Client {
  readonly #transport: Transport
  readonly #userAgent: string
  readonly #onWarning: OnWarning | undefined
  readonly discovery: Discovery

  constructor({ transport, userAgent, onWarning }: RestClientOptions) {
    this.#transport = transport
    this.#userAgent = userAgent
    this.#onWarning = onWarning
    this.discovery = createDiscovery((path) => this.request('GET', path))
  }

  async get<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<T> {
    return (await this.#json({ method: 'GET', path: pathOf(resource, ref), ...signalOf(options) })) as T
  }

  async list<T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}): Promise<KubeList<T>> {
    const query = selectorQuery(options)
    if (options.limit !== undefined) query.set('limit', String(options.limit))
    if (options.continue !== undefined) query.set('continue', options.continue)
    if (options.resourceVersionMatch !== undefined) query.set('resourceVersionMatch', options.resourceVersionMatch)
    const path = pathOf(resource, options)
    const headers = options.metadataOnly ? { accept: metadataLists } : {}
    const list = (await this.#json({ method: 'GET', path, query, headers, ...signalOf(options) })) as KubeList<T>
    // A list of the metadata of nothing has `items: null` upstream.
    return Array.isArray(list.items) ? list : { ...list, items: [] }
  }

  async create(resource: GroupVersionResource, object: KubeObject, options: WriteOptions = {}): Promise<KubeObject> {
    const { namespace, name } = object.metadata
    const ref = options.subresource === undefined ? { namespace } : { namespace, name }
    return this.#write('POST', pathOf(resource, ref, options.subresource), object, options)
  }

  async update(resource: GroupVersionResource, object: KubeObject, options: WriteOptions = {}): Promise<KubeObject> {
    return this.#write('PUT', pathOf(resource, refOf(object), options.subresource), object, options)
  }

  async patch(
    resource: GroupVersionResource,
    ref: ObjectRef,
    patch: object,
    options: WriteOptions = {},
  ): Promise<KubeObject> {
    const path = pathOf(resource, ref, options.subresource)
    return this.#write('PATCH', path, patch, options, 'application/merge-patch+json')
  }

  async apply(resource: GroupVersionResource, object: KubeObject, options: ApplyOptions): Promise<KubeObject> {
    const path = pathOf(resource, refOf(object), options.subresource)
    const mediaType = 'application/apply-patch+yaml'
    if (options.mustBeAbsent !== true) return this.#write('PATCH', path, object, options, mediaType, options)
    if (this.#transport.knowsIfNoneMatch !== true) await this.#requireAbsent(resource, refOf(object), options)
    return this.#write('PATCH', path, object, options, mediaType, options)
  }

  async delete(
    resource: GroupVersionResource,
    ref: ObjectRef,
    options: DeleteOptions = {},
  ): Promise<KubeObject | Status> {
    const body = deleteBody(options)
    return (await this.#json({ method: 'DELETE', path: pathOf(resource, ref), body, ...callOf(options) })) as
      | KubeObject
      | Status
  }

  async deleteCollection(
    resource: GroupVersionResource,
    list: ListOptions,
    options: DeleteOptions = {},
  ): Promise<KubeList> {
    const request: Sent = {
      method: 'DELETE',
      path: pathOf(resource, list),
      query: selectorQuery(list),
      body: deleteBody(options),
      headers: list.metadataOnly ? { accept: metadataLists } : {},
      ...callOf(options),
    }
    if (!options.isAnswerUnread) return (await this.#json(request)) as KubeList
    await this.#passOver((await this.#send(request)).body)
    return { apiVersion: 'v1', kind: 'List', metadata: {}, items: [] }
  }

  watch(resource: GroupVersionResource, options: WatchOptions): Stream<WatchEvent> {
    const query = selectorQuery(options)
    query.set('watch', 'true')
    if (options.allowWatchBookmarks) query.set('allowWatchBookmarks', 'true')
    if (options.sendInitialEvents) {
      query.set('sendInitialEvents', 'true')
      query.set('resourceVersionMatch', 'NotOlderThan')
    }
    const left = new AbortController()
    const channel = new Channel<WatchEvent>({ limit: watchBuffer, onClose: () => left.abort() })
    const signal = AbortSignal.any([options.signal, left.signal])
    const headers = options.metadataOnly ? { accept: metadataObjects } : {}
    void this.#follow(channel, { method: 'GET', path: pathOf(resource, options), query, headers, signal })
    return channel
  }

  async request(
    method: string,
    path: string,
    body?: unknown,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<unknown> {
    const [plain = '', query] = path.split('?', 2)
    return this.#json({
      method,
      path: plain,
      query: new URLSearchParams(query),
      ...(body === undefined ? {} : { body: encoder.encode(JSON.stringify(body)) }),
      ...signalOf(options),
    })
  }

  #write(
    method: string,
    path: string,
    body: object,
    options: WriteOptions,
    contentType = 'application/json',
    { force, mustBeAbsent }: Pick<ApplyOptions, 'force' | 'mustBeAbsent'> = {},
  ): Promise<KubeObject> {
    const query = writeQuery(options, force)
    const headers = { 'content-type': contentType, ...(mustBeAbsent ? { 'if-none-match': '*' } : {}) }
    const sent = this.#transport.sharesValues
      ? { value: body as JsonObject }
      : { body: encoder.encode(JSON.stringify(body)) }
    return this.#json({ method, path, query, ...sent, headers, ...callOf(options) }) as Promise<KubeObject>
  }

  async #requireAbsent(resource: GroupVersionResource, ref: ObjectRef, options: WriteOptions): Promise<void> {
    try {
      await this.get(resource, ref, signalOf(options))
    } catch (error) {
      if (isNotFound(error)) return
      throw error
    }
    throw alreadyExists(resource, ref.name)
  }

  async #json(request: Sent): Promise<unknown> {
    const response = await this.#send(request)
    if (response.shared !== undefined && 'object' in response.shared) return response.shared.object
    const { body } = response
    const text = decoder.decode(body instanceof Uint8Array ? body : await bytesOf(body))
    return text === '' ? undefined : parseJson(text)
  }

  /** To its end: an answer that breaks off is an error, and its connection is used again. */
  async #passOver(body: TransportResponse['body']): Promise<void> {
    if (body instanceof Uint8Array) return
    const pieces = body[Symbol.asyncIterator]()
    while (!(await pieces.next()).done);
  }

  async #send(request: Sent): Promise<TransportResponse> {
    const { query = noQuery, headers = request.body && jsonHeaders, onWarning = this.#onWarning } = request
    const response = await this.#transport.send({
      ...request,
      query,
      headers: { accept: 'application/json', 'user-agent': this.#userAgent, ...headers },
    })
    if (onWarning !== undefined) for (const text of warningsIn(response.header('warning') ?? '')) onWarning(text)
    if (response.status >= 400) throw errorOf(response.status, decoder.decode(await bytesOf(response.body)))
    return response
  }

  async #follow(channel: Channel<WatchEvent>, request: Sent): Promise<void> {
    try {
      const response = await this.#send({ ...request, streaming: true })
      const { body, shared } = response
      if (shared !== undefined && 'events' in shared) await followShared(channel, shared.events)
      else if (body instanceof Uint8Array) for (const event of eventsIn(decoder.decode(body))) channel.push(event)
      else await this.#followStream(channel, body)
      channel.close()
    } catch (error) {
      if (request.signal?.aborted) channel.close()
      else channel.close(error)
    }
  }

  async #followStream(channel: Channel<WatchEvent>, body: Stream<Uint8Array>): Promise<void> {
    const text = new TextDecoder()
    let rest = ''
    for await (const chunk of body) {
      const received = rest + text.decode(chunk, { stream: true })
      const end = received.lastIndexOf('\n') + 1
      rest = received.slice(end)
      for (const event of eventsIn(received.slice(0, end))) if (!channel.push(event)) return
    }
  }
}

async function followShared(channel: Channel<WatchEvent>, batches: Stream<readonly SharedEvent[]>): Promise<void> {
  for await (const batch of batches) {
    for (const event of batch) {
      const told: WatchEvent =
        event.type === 'BOOKMARK'
          ? { type: 'BOOKMARK', object: { metadata: { resourceVersion: String(event.revision) } } }
          : { type: event.type, object: event.stored.object }
      if (!channel.push(told)) return
    }
  }
}

function* eventsIn(text: string): Iterable<WatchEvent> {
  for (const line of text.split('\n')) {
    if (line === '') continue
    const event = parseJson(line) as { type: string; object: unknown }
    if (event.type === 'ERROR') throw statusErrorOf(event.object as Status)
    yield event as WatchEvent
  }
}

function parseJson(text: string): unknown {
  try {
    return parseJsonText(text)
  } catch (cause) {
    throw new StatusError('the server sent something that is not JSON', { reason: 'InternalError', cause })
  }
}

async function bytesOf(body: TransportResponse['body']): Promise<Uint8Array> {
  if (body instanceof Uint8Array) return body
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** What a code means that came without a Status: a path that is not served is answered in plain text. */
const reasonByCode: Readonly<Record<number, StatusReason>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  429: 'TooManyRequests',
  503: 'ServiceUnavailable',
}

function errorOf(code: number, text: string): StatusError {
  try {
    const status = parseJsonText(text) as Status
    if (status?.kind === 'Status') return statusErrorOf(status)
  } catch {
    // Not every server in the way speaks Kubernetes: the text is all there is.
  }
  const reason = reasonByCode[code]
  const message = text.trim() || `the server answered ${code}`
  return new StatusError(message, { code, ...(reason === undefined ? {} : { reason }) })
}

function statusErrorOf(status: Status): StatusError {
  return new StatusError(status.message ?? 'the server did not say why', {
    ...(status.reason === undefined ? {} : { reason: status.reason as StatusReason }),
    code: status.code ?? 500,
    ...(status.details === undefined ? {} : { details: status.details }),
    ...(status.metadata?.continue === undefined ? {} : { continueToken: status.metadata.continue }),
  })
}

/** Path of an object, or of a collection where there is no name. */
export function pathOf(
  resource: GroupVersionResource,
  ref: { readonly namespace?: string | undefined; readonly name?: string | undefined },
  subresource?: string,
): string {
  let path = resource.group === '' ? `/api/${resource.version}` : `/apis/${apiVersionOf(resource)}`
  if (ref.namespace) path += `/namespaces/${encodeURIComponent(ref.namespace)}`
  path += `/${resource.resource}`
  if (ref.name) path += `/${encodeURIComponent(ref.name)}`
  if (subresource) path += `/${subresource}`
  return path
}

const place = (namespace: string | undefined): { namespace?: string } => (namespace ? { namespace } : {})

function refOf(object: KubeObject): ObjectRef {
  return { ...place(object.metadata.namespace), name: object.metadata.name ?? '' }
}

function signalOf(options: { readonly signal?: AbortSignal }): { signal?: AbortSignal } {
  return options.signal === undefined ? {} : { signal: options.signal }
}

function callOf({ signal, onWarning }: Pick<WriteOptions, 'signal' | 'onWarning'>): Pick<Sent, 'signal' | 'onWarning'> {
  if (onWarning === undefined) return signal === undefined ? {} : { signal }
  return { onWarning, ...(signal === undefined ? {} : { signal }) }
}

function writeQuery(options: WriteOptions, force = false): URLSearchParams {
  const { fieldManager, dryRun = false, isStrict = false, includeUninitialized = false } = options
  if (fieldManager === undefined && !dryRun && !isStrict && !force && !includeUninitialized) return noQuery
  const query = new URLSearchParams()
  if (fieldManager !== undefined) query.set('fieldManager', fieldManager)
  if (dryRun) query.set('dryRun', 'All')
  if (isStrict) query.set('fieldValidation', 'Strict')
  if (force) query.set('force', 'true')
  if (includeUninitialized) query.set('includeUninitialized', 'true')
  return query
}

function selectorQuery(options: {
  readonly labelSelector?: string
  readonly fieldSelector?: string
  readonly resourceVersion?: string
  readonly includeUninitialized?: boolean
}): URLSearchParams {
  const query = new URLSearchParams()
  if (options.labelSelector) query.set('labelSelector', options.labelSelector)
  if (options.fieldSelector) query.set('fieldSelector', options.fieldSelector)
  if (options.resourceVersion !== undefined) query.set('resourceVersion', options.resourceVersion)
  if (options.includeUninitialized) query.set('includeUninitialized', 'true')
  return query
}

function deleteBody({ propagationPolicy, gracePeriodSeconds, preconditions, dryRun }: DeleteOptions): Uint8Array {
  return encoder.encode(
    JSON.stringify({
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      propagationPolicy,
      gracePeriodSeconds,
      preconditions,
      ...(dryRun ? { dryRun: ['All'] } : {}),
    }),
  )
}
