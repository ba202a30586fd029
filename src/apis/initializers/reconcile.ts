/**
 * `namespace-initializer-controller`: sees to it that no namespace waits for ever. It never initializes anything; it
 * looks at whose turn it is and acts where no initializer will:
 *
 *   turn begins ──▶ its configuration is gone ───────────────▶ released: removed from the list, with an event
 *        │
 *        ├─ deadline, failurePolicy Ignore ──────────────────▶ skipped: removed from the list, with an event
 *        ├─ deadline, failurePolicy Fail ──▶ result is set ─┐
 *        └─ initializer reports a failure ──────────────────┴▶ namespace deleted, with an event
 *
 * It watches the namespaces that are being initialized and no others, and one timer per turn with a deadline: nothing
 * polls. A turn's beginning is read from the condition `Initializing`, so a restart does not start it anew.
 */
import type { Clock } from '../../base/clock.ts'
import type { Client } from '../../client/client.ts'
import type { ControllerSpec } from '../../controller/controller.ts'
import { Watches } from '../../controller/watches.ts'
import { nameOf, uidOf } from '../../kube/metadata.ts'
import { isConflict, isNotFound } from '../../kube/status-error.ts'
import type { KubeObject, Status } from '../../kube/types.ts'
import type { EventRecord, EventRecorder } from '../events/recorder.ts'
import { inItself } from '../namespaces/event-subject.ts'
import { type Namespace, namespaceResource } from '../namespaces/types.ts'
import { mergeConfigurations } from './configurations.ts'
import type { TurnOutcome } from './turn-observer.ts'
import { Turns } from './turns.ts'
import {
  givenInitializersAnnotation,
  initializerConfigurationResource,
  type NamespaceInitializer,
  type NamespaceInitializerConfiguration,
  namespaceTemplateInitializer,
} from './types.ts'

export const initializerControllerName = 'namespace-initializer-controller'

export interface InitializerControllerDeps {
  readonly client: Client
  readonly clock: Clock
  readonly events: EventRecorder
  readonly onError: (error: unknown) => void
  /** Told how a turn is about to end; undefined when it did not come to that. */
  readonly announce?: (uid: string, outcome: TurnOutcome | undefined) => void
  /** Told of each namespace that is being initialized, those that exist at the start among them. */
  readonly seen?: (name: string) => void
}

/** Each is a commit under way: as many as a store likes to flush together, when a configuration lets thousands go. */
const workers = 256

export function initializerController(deps: InitializerControllerDeps): ControllerSpec {
  const { clock } = deps
  const watches = new Watches(deps)
  const turns = new Turns(clock)
  const initializing = watches.on(
    {
      resource: namespaceResource,
      fieldSelector: 'status.phase=Initializing',
      includeUninitialized: true,
      keep: withoutManagedFields,
    },
    (next, old) => {
      const name = (next ?? old)?.metadata.name ?? ''
      if (next === undefined) turns.end(name)
      else turns.seen(next)
      deps.seen?.(name)
      return { namespace: '', name }
    },
  )
  let merged: ReadonlyMap<string, NamespaceInitializer> | undefined
  const configurations = watches.on({ resource: initializerConfigurationResource }, () => {
    merged = undefined
    return [...initializing.values()].map(({ metadata }) => ({ namespace: '', name: nameOf(metadata) }))
  })
  const configured = (name: string): NamespaceInitializer | undefined => {
    merged ??= new Map(
      mergeConfigurations(configurations.values() as Iterable<NamespaceInitializerConfiguration>).map((i) => [
        i.name,
        i,
      ]),
    )
    return merged.get(name)
  }
  const deadlines = new Deadlines(deps, turns, configured)
  return {
    name: initializerControllerName,
    workers,
    sources: [watches],
    reconciler: {
      reconcile: ({ name }, signal) => deadlines.enforce(initializing.find('', name), signal),
    },
  }
}

type Outcome = { readonly requeueAfterMs: number } | undefined

class Deadlines {
  readonly #deps: InitializerControllerDeps
  readonly #turns: Turns
  readonly #configured: (name: string) => NamespaceInitializer | undefined

  constructor(
    deps: InitializerControllerDeps,
    turns: Turns,
    configured: (name: string) => NamespaceInitializer | undefined,
  ) {
    this.#deps = deps
    this.#turns = turns
    this.#configured = configured
  }

  async enforce(namespace: Namespace | undefined, signal: AbortSignal): Promise<Outcome> {
    const initializers = namespace?.spec?.initializers
    if (namespace === undefined || initializers === undefined) return undefined
    if (namespace.metadata.deletionTimestamp !== undefined) return undefined
    if (initializers.result !== undefined) return this.#remove(namespace, initializers.result, signal)
    const awaited = initializers.pending?.[0]?.name
    if (awaited === undefined || awaited === namespaceTemplateInitializer) return undefined
    const initializer = this.#configured(awaited)
    if (initializer === undefined) return this.#release(namespace, awaited, signal)
    return this.#judge(namespace, initializer, signal)
  }

  async #release(namespace: Namespace, awaited: string, signal: AbortSignal): Promise<undefined> {
    // A client that gave the list itself has other ways to end it.
    if (namespace.metadata.annotations?.[givenInitializersAnnotation] === 'true') return
    const message = `initializer ${awaited} is in no configuration any more: going on without it`
    await this.#goOnWithout(namespace, 'released', message, signal)
  }

  async #judge(namespace: Namespace, initializer: NamespaceInitializer, signal: AbortSignal): Promise<Outcome> {
    const { name, timeoutSeconds, failurePolicy = 'Fail' } = initializer
    if (timeoutSeconds === undefined) return undefined
    const leftMs = this.#turns.beganMs(namespace) + timeoutSeconds * 1000 - this.#deps.clock.now()
    if (leftMs > 0) return { requeueAfterMs: leftMs }
    const message = `initializer ${name} did not act within ${timeoutSeconds} seconds`
    if (failurePolicy === 'Ignore') {
      await this.#goOnWithout(namespace, 'skipped', `${message}: going on without it`, signal)
      return undefined
    }
    const result: Status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      reason: 'Timeout',
      message,
      code: 504,
    }
    // The watch brings it back with the result on it, and then it is deleted: watchers see why.
    await this.#change(namespace, { result }, 'timeout', signal)
    return undefined
  }

  /** Applies to the state that was judged: any change since then brings the key back. False = it did not apply. */
  async #change(
    { metadata }: Namespace,
    initializers: { readonly pending?: readonly { readonly name: string }[]; readonly result?: Status },
    outcome: TurnOutcome,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { resourceVersion } = metadata
    const name = nameOf(metadata)
    const uid = uidOf(metadata)
    try {
      this.#deps.announce?.(uid, outcome)
      await this.#deps.client.patch(
        namespaceResource,
        { name },
        { metadata: { resourceVersion }, spec: { initializers } },
        { signal },
      )
      return true
    } catch (error) {
      this.#deps.announce?.(uid, undefined)
      if (isNotFound(error) || isConflict(error)) return false
      throw error
    }
  }

  async #goOnWithout(
    namespace: Namespace,
    outcome: 'skipped' | 'released',
    message: string,
    signal: AbortSignal,
  ): Promise<void> {
    const pending = namespace.spec?.initializers?.pending ?? []
    if (await this.#change(namespace, { pending: pending.slice(1) }, outcome, signal)) {
      const reason = outcome === 'skipped' ? 'InitializerSkipped' : 'InitializerReleased'
      this.#deps.events.recordSoon(warning(namespace, reason, message))
    }
  }

  async #remove(namespace: Namespace, result: Status, signal: AbortSignal): Promise<undefined> {
    const { client, events } = this.#deps
    const name = nameOf(namespace.metadata)
    const uid = uidOf(namespace.metadata)
    const message = result.message ?? result.reason ?? 'initialization failed'
    await events.record(warning(namespace, 'InitializationFailed', message))
    try {
      await client.delete(namespaceResource, { name }, { preconditions: { uid }, signal })
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error
    }
  }
}

const warning = (namespace: Namespace, reason: string, message: string): EventRecord => ({
  object: inItself(namespace),
  namespace: nameOf(namespace.metadata),
  type: 'Warning',
  reason,
  message,
})

/** Who wrote which field is most of a new namespace, and nothing to us. */
function withoutManagedFields(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}
