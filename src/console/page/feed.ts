/** What the page shows of one kind: a list that is kept true by a watch, as a signal that changes once for a burst. */
import { type ReadonlySignal, signal } from '@preact/signals'
import { Backoff } from '../../base/backoff.ts'
import type { Clock } from '../../base/clock.ts'
import type { Client } from '../../client/client.ts'
import { Informer, type InformerOptions } from '../../client/informer.ts'
import { isWithoutMetadataForm } from '../../client/list-metadata.ts'
import { findStatusError, isForbidden, isNotFound } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import { fitObject } from './shapes.ts'
import { isUnreached } from './unreached.ts'
import { WatchBreaks } from './watch-breaks.ts'

export interface FeedState<T extends KubeObject> {
  /** False until the first list was had. */
  readonly ready: boolean
  readonly objects: readonly T[]
  /** The server does not let this user list or watch it, or has no such kind: its words. */
  readonly refused?: Error
  /** Why it could not be listed last, other than that the cluster was not reached; it is asked again. */
  readonly failing?: Error
}

export interface Feed<T extends KubeObject> {
  readonly state: ReadonlySignal<FeedState<T>>
  readonly stop: () => void
}

export interface FeedOptions
  extends Pick<InformerOptions, 'resource' | 'namespace' | 'fieldSelector' | 'labelSelector'> {
  /** Only that is asked for, and kept: what tenants put into ConfigMaps would fill the page, Secrets lie in it. */
  readonly metadataOnly?: boolean
}

/** Changes that come together are shown together. */
const burstMs = 50
/** How often a kind is listed that may be listed and not watched. */
const listAgainMs = 15_000

/** How often a refused list is asked for again: rights may be given back; then less and less often. */
const refusedMs = { base: 30_000, max: 300_000 }

/** @param findKept what was listed before: shown where the cluster can't be asked, until it can */
export function startFeed<T extends KubeObject>(
  client: Client,
  clock: Clock,
  options: FeedOptions,
  findKept: () => readonly T[] | undefined = () => undefined,
): Feed<T> {
  const state = signal<FeedState<T>>({ ready: false, objects: [] })
  const showKept = (): void => {
    const objects = state.value.ready ? undefined : findKept()
    if (objects !== undefined) state.value = { ready: true, objects }
  }
  const left = new AbortController()
  const refusals = new Backoff<'list'>(refusedMs.base, refusedMs.max)
  const refuse = (refused: Error): void => {
    // The same words again are no news to the views that act on them.
    if (state.peek().refused?.message !== refused.message) state.value = { ready: true, objects: [], refused }
    clock.after(refusals.next('list'), follow)
  }
  const breaks = new WatchBreaks(clock)
  const keep = options.metadataOnly ? metadataOf : withoutManagedFields
  let hasMetadataForm = true
  const follow = (): void => {
    if (left.signal.aborted) return
    const round = new AbortController()
    const signal = AbortSignal.any([left.signal, round.signal])
    let isDue = false
    const show = (): void => {
      isDue = false
      if (!informer.synced || signal.aborted) return
      refusals.forget('list')
      const failing = breaks.last === undefined ? {} : { failing: breaks.last }
      state.value = { ready: true, objects: [...informer.values()] as T[], ...failing }
    }
    const informer = new Informer({
      ...options,
      metadataOnly: options.metadataOnly === true && hasMetadataForm,
      client,
      clock,
      includeUninitialized: true,
      keep: (object) => keep(fitObject(options.resource, object)),
      onChange() {
        if (isDue) return
        isDue = true
        clock.after(burstMs, show)
      },
      onError(thrown) {
        const error = thrown instanceof Error ? thrown : new Error(String(thrown))
        // Of the page's own code: it would be asked again and again in silence.
        if (error instanceof ReferenceError) throwUncaught(error)
        if (options.metadataOnly && hasMetadataForm && isWithoutMetadataForm(options.resource, error)) {
          hasMetadataForm = false
          round.abort()
          return follow()
        }
        if (informer.synced && !isAnswer(error) && !isOfConnection(error)) breaks.note(error, show)
        if (informer.synced ? !isAnswer(error) : !(isForbidden(error) || isNotFound(error))) {
          showKept()
          if (!informer.synced && !isOfConnection(error)) state.value = { ...state.peek(), failing: error }
          return
        }
        // Where it was listed the watch alone is refused or fails, or the right was taken, which the next list says.
        if (informer.synced) show()
        round.abort()
        if (!informer.synced) return refuse(error)
        clock.after(listAgainMs, follow)
      },
    })
    void informer.run(signal)
    void informer.whenSynced().then(show)
  }
  follow()
  left.signal.addEventListener('abort', () => breaks.stop())
  return { state, stop: () => left.abort() }
}

/** The line at the top says so, and when it is over. */
const isOfConnection = (error: Error): boolean => isUnreached(error) || findStatusError(error)?.code === 401

/** The server's word on a watch. Of too many it says when to ask again, and that is soon. */
const isAnswer = (error: Error): boolean =>
  findStatusError(error) !== undefined && !isOfConnection(error) && findStatusError(error)?.code !== 429

function throwUncaught(error: Error): void {
  queueMicrotask(() => {
    throw error
  })
}

/** Half of most objects, and shown nowhere. */
function withoutManagedFields(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

function metadataOf(object: KubeObject): KubeObject {
  return { metadata: withoutManagedFields(object).metadata }
}
