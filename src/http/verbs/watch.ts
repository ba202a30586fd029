/**
 * watch: one line per event, frames shared by all watchers that want the same form. The write path waits for no
 * watcher: the registry's stream is bounded and ends with an error for one that is too slow.
 */

import { Chunks } from '../../base/chunks.ts'
import type { Stream } from '../../base/stream.ts'
import type { Slice } from '../../base/turns.ts'
import { type FieldTerm, parseFieldSelector, printFieldSelector, requiredField } from '../../kube/field-selector.ts'
import { apiVersionOf, type GroupVersionKind } from '../../kube/gvk.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import { badRequest, findStatusError, internalError, notAcceptable } from '../../kube/status-error.ts'
import { watchLine } from '../../kube/stored-form.ts'
import type { WatchEventType } from '../../kube/types.ts'
import type { RegistryEvent, WatchQuery } from '../../registry/registry.ts'
import { flowOfCaller } from '../flow-of.ts'
import { contentTypes, jsonMediaType, type Negotiated, negotiate, protobufMediaType } from '../negotiate.ts'
import { isTrue } from '../request-info.ts'
import type { Target } from '../resolution.ts'
import { metaKind, partialObject } from '../respond.ts'
import { waitingBytes } from '../seats.ts'
import { checkIncludeObject, waitingOf } from './read.ts'
import { given, integer } from './target.ts'
import type { PermitOf, VerbDeps, VerbHandler } from './verb.ts'

/** Length-prefixed protobuf frames. */
export interface WatchEventEncoder {
  encodeWatchEvent(type: WatchEventType, object: object, gvk: GroupVersionKind): Uint8Array
}

export interface WatchDeps extends VerbDeps {
  readonly protobufEvents: WatchEventEncoder
  readonly permitOf: PermitOf
  /** 0 ≤ x < 1 */
  readonly random: () => number
}

const nothing = new Uint8Array(0)

/** Without `timeoutSeconds` a watch lasts between this and twice as long, so that watches do not end all at once. */
const minWatchMs = 30 * 60_000

/** YAML has no frames. */
const streamedMediaTypes = [`${jsonMediaType};stream=watch`, `${protobufMediaType};stream=watch`]

export function watchVerb(deps: WatchDeps): VerbHandler {
  const { registry, renderer, visibility, permitOf, random } = deps
  return async (request, context, target) => {
    const { query } = context.info
    const n = negotiate(request.headers, query, () => renderer.offer(target.type, ['table', 'partial']))
    if (n.format === 'yaml') throw notAcceptable(streamedMediaTypes)
    checkIncludeObject(query)
    request.account?.charge(waitingBytes)
    const seconds = integer(query, 'timeoutSeconds')
    // As upstream: less than nothing is over already.
    const timeoutMs = seconds ? Math.max(0, seconds * 1000) : minWatchMs * (1 + random())
    const events = await registry.watch(target.type, {
      caughtUp: context.caughtUp === true,
      namespace: target.namespace,
      ...given('labelSelector', query),
      ...fieldSelector(query, target),
      ...given('resourceVersion', query),
      ...given('resourceVersionMatch', query),
      ...(query.has('sendInitialEvents') ? { sendInitialEvents: isTrue(query.get('sendInitialEvents')) } : {}),
      allowWatchBookmarks: isTrue(query.get('allowWatchBookmarks')),
      ...visibility(target, context),
      timeoutMs,
      ...waitingOf(request, context),
      flow: flowOfCaller(context.user.username, request.remoteAddress),
      permit: permitOf(target, context),
    })
    if (request.sharing !== undefined && n.view === 'object') {
      return { status: 200, headers: {}, body: nothing, shared: { events } }
    }
    const frames = framesOf(deps, target.type, n, query)
    const mediaType = contentTypes[n.format]
    const contentType = n.format === 'protobuf' ? `${mediaType};stream=watch` : mediaType
    return {
      status: 200,
      headers: { 'content-type': contentType },
      body: new FrameStream(events, frames, () => deps.turns.slice(context)),
    }
  }
}

/**
 * A path that names one object watches that one, so a field selector must name it too: by the name it was authorized.
 * @throws StatusError BadRequest
 */
function fieldSelector(query: URLSearchParams, { name }: Target): Pick<WatchQuery, 'fieldSelector'> {
  const asked = given('fieldSelector', query)
  if (name === '') return asked
  if (asked.fieldSelector === undefined) return { fieldSelector: printFieldSelector([nameIs(name)]) }
  if (requiredField(parseFieldSelector(asked.fieldSelector), 'metadata.name') === name) return asked
  throw badRequest("fieldSelector metadata.name doesn't match requested name")
}

const nameIs = (value: string): FieldTerm => ({ field: 'metadata.name', operator: '=', value })

interface Frames {
  event(event: RegistryEvent): Uint8Array
  error(status: object): Uint8Array
}

const textEncoder = new TextEncoder()
const line = (value: object): Uint8Array => textEncoder.encode(`${JSON.stringify(value)}\n`)

function framesOf(deps: WatchDeps, type: ResourceType, n: Negotiated, query: URLSearchParams): Frames {
  const { renderer, protobufEvents } = deps
  const viewKind =
    n.view === 'object' ? type : { ...metaKind(n), kind: n.view === 'table' ? 'Table' : 'PartialObjectMetadata' }
  const encode = (event: WatchEventType, object: object, gvk: GroupVersionKind = viewKind): Uint8Array =>
    n.format === 'protobuf' ? protobufEvents.encodeWatchEvent(event, object, gvk) : line({ type: event, object })

  let first = true
  const view = (event: Exclude<RegistryEvent, { type: 'BOOKMARK' }>): object => {
    const { object } = event.stored
    switch (n.view) {
      case 'object':
        return object
      case 'partial':
      case 'partialList':
        return partialObject(object, n)
      case 'table': {
        const metadata = { resourceVersion: object.metadata.resourceVersion ?? '' }
        const table = renderer.table(type, [object], metadata, n, query, first)
        first = false
        return table
      }
    }
  }

  const memoKey = `${n.format} ${n.view} ${apiVersionOf(type)}`
  return {
    event(event) {
      if (event.type === 'BOOKMARK') return encode('BOOKMARK', bookmark(type, n, event))
      const { stored } = event
      // A table's first frame differs from the rest, and its cells age: not shared.
      if (n.view === 'table') return encode(event.type, view(event))
      return event.memo(memoKey, () =>
        n.view === 'object' && n.format === 'json'
          ? watchLine(event.type, stored.type, stored.revision, stored)
          : encode(event.type, view(event)),
      )
    },
    error: (status) => encode('ERROR', status, { group: '', version: 'v1', kind: 'Status' }),
  }
}

function bookmark(
  type: ResourceType,
  n: Negotiated,
  event: { readonly revision: number; readonly initialEventsEnd: boolean },
): object {
  const metadata = {
    resourceVersion: String(event.revision),
    ...(event.initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
  }
  switch (n.view) {
    case 'object':
      return { kind: type.kind, apiVersion: apiVersionOf(type), metadata }
    case 'partial':
    case 'partialList':
      return { kind: 'PartialObjectMetadata', apiVersion: apiVersionOf(metaKind(n)), metadata }
    case 'table':
      return {
        kind: 'Table',
        apiVersion: apiVersionOf(metaKind(n)),
        metadata: { resourceVersion: metadata.resourceVersion },
        columnDefinitions: null,
        rows: event.initialEventsEnd
          ? [{ cells: [], object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata } }]
          : [],
      }
  }
}

/** A batch of more events is one that a slow reader let pile up, or the state with which a watch begins. */
const fewEvents = 32

/** Event batches as bytes: one chunk per batch, several of a large one. A failure becomes the last frame. */
class FrameStream implements Stream<Uint8Array> {
  readonly #events: Stream<readonly RegistryEvent[]>
  readonly #frames: Frames

  readonly #slice: () => Slice

  constructor(events: Stream<readonly RegistryEvent[]>, frames: Frames, slice: () => Slice) {
    this.#events = events
    this.#frames = frames
    this.#slice = slice
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for await (const batch of this.#events) {
        if (batch.length === 1) yield this.#frames.event(batch[0] as RegistryEvent)
        else if (batch.length > 1) yield* this.#chunks(batch)
      }
    } catch (error) {
      const status = findStatusError(error) ?? internalError('the watch broke', error)
      yield this.#frames.error(status.toStatus())
    }
  }

  /** What a slow client keeps waiting is a chunk, not all that happened: the frames of the rest are made later. */
  async *#chunks(batch: readonly RegistryEvent[]): AsyncGenerator<Uint8Array> {
    const slice = batch.length > fewEvents ? this.#slice() : undefined
    const out = new Chunks()
    for (const event of batch) {
      out.bytes(this.#frames.event(event))
      if (out.isFull) yield out.take()
      const pause = slice?.pause()
      if (pause) await pause
    }
    if (!out.isEmpty) yield out.take()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#events[Symbol.asyncDispose]() as Promise<void>
  }
}
