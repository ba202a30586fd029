/**
 * `namespace-initializer-controller`: sees to it that no namespace waits for ever. It never initializes anything; it
 * looks at whose turn it is and acts where nobody else will:
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
import { aborted } from '../../base/aborted.ts'
import type { Clock } from '../../base/clock.ts'
import type { Client } from '../../client/client.ts'
import { Informer } from '../../client/informer.ts'
import type { ControllerSpec, ObjectKey, Source } from '../../controller/controller.ts'
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
}

/** Each is a commit under way: as many as a store likes to flush together, when a configuration lets thousands go. */
const workers = 256

export function initializerController(deps: InitializerControllerDeps): ControllerSpec {
  const { client, clock, events, onError, announce } = deps
  let merged: ReadonlyMap<string, NamespaceInitializer> = new Map()
  let enqueueNamespace: (name: string) => void = () => {}
  let enqueueAll = (): void => {}
  const turns = new Turns(clock)

  const initializing = new Informer({
    client,
    clock,
    resource: namespaceResource,
    fieldSelector: 'status.phase=Initializing',
    includeUninitialized: true,
    keep: withoutManagedFields,
    onError,
    onChange(next, old) {
      const name = (next ?? old)?.metadata.name ?? ''
      if (next === undefined) turns.end(name)
      else turns.seen(next as Namespace)
      enqueueNamespace(name)
    },
  })
  const configurations = new Informer({
    client,
    clock,
    resource: initializerConfigurationResource,
    onError,
    onChange() {
      const all = mergeConfigurations(configurations.values() as Iterable<NamespaceInitializerConfiguration>)
      merged = new Map(all.map((i) => [i.name, i]))
      enqueueAll()
    },
  })

  const warning = (namespace: Namespace, reason: string, message: string): EventRecord => ({
    object: inItself(namespace),
    namespace: namespace.metadata.name ?? '',
    type: 'Warning',
    reason,
    message,
  })

  /** `expect` the state that was judged: whoever changed it since brings the key back. */
  const change = async (
    { metadata }: Namespace,
    initializers: { readonly pending?: readonly { readonly name: string }[]; readonly result?: Status },
    outcome: TurnOutcome,
    signal: AbortSignal,
  ): Promise<boolean> => {
    const { name = '', uid = '', resourceVersion } = metadata
    try {
      announce?.(uid, outcome)
      await client.patch(
        namespaceResource,
        { name },
        { metadata: { resourceVersion }, spec: { initializers } },
        { signal },
      )
      return true
    } catch (error) {
      announce?.(uid, undefined)
      if (isNotFound(error) || isConflict(error)) return false
      throw error
    }
  }

  const goOnWithout = async (
    namespace: Namespace,
    outcome: 'skipped' | 'released',
    message: string,
    signal: AbortSignal,
  ): Promise<void> => {
    const pending = namespace.spec?.initializers?.pending ?? []
    if (await change(namespace, { pending: pending.slice(1) }, outcome, signal)) {
      const reason = outcome === 'skipped' ? 'InitializerSkipped' : 'InitializerReleased'
      events.recordSoon(warning(namespace, reason, message))
    }
  }

  const remove = async (namespace: Namespace, result: Status, signal: AbortSignal): Promise<void> => {
    const { name = '', uid = '' } = namespace.metadata
    const message = result.message ?? result.reason ?? 'initialization failed'
    await events.record(warning(namespace, 'InitializationFailed', message))
    try {
      await client.delete(namespaceResource, { name }, { preconditions: { uid }, signal })
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error
    }
  }

  const reconcile = async (
    { name }: ObjectKey,
    signal: AbortSignal,
  ): Promise<{ readonly requeueAfterMs: number } | undefined> => {
    const namespace = initializing.find('', name) as Namespace | undefined
    const initializers = namespace?.spec?.initializers
    if (namespace === undefined || initializers === undefined) return undefined
    if (namespace.metadata.deletionTimestamp !== undefined) return undefined
    if (initializers.result !== undefined) {
      await remove(namespace, initializers.result, signal)
      return undefined
    }
    const awaited = initializers.pending?.[0]?.name
    if (awaited === undefined || awaited === namespaceTemplateInitializer) return undefined
    const initializer = merged.get(awaited)
    if (initializer === undefined) {
      // Who wrote the list themselves has other ways to end it.
      if (namespace.metadata.annotations?.[givenInitializersAnnotation] === 'true') return undefined
      const message = `initializer ${awaited} is in no configuration any more: going on without it`
      await goOnWithout(namespace, 'released', message, signal)
      return undefined
    }
    const { timeoutSeconds, failurePolicy = 'Fail' } = initializer
    if (timeoutSeconds === undefined) return undefined
    const leftMs = turns.beganMs(namespace) + timeoutSeconds * 1000 - clock.now()
    if (leftMs > 0) return { requeueAfterMs: leftMs }
    const message = `initializer ${awaited} did not act within ${timeoutSeconds} seconds`
    if (failurePolicy === 'Ignore') {
      await goOnWithout(namespace, 'skipped', `${message}: going on without it`, signal)
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
    // The watch brings it back with the result on it, and then it is deleted: whoever watches sees why.
    await change(namespace, { result }, 'timeout', signal)
    return undefined
  }

  const source: Source = {
    async run(enqueue, signal) {
      let started = false
      enqueueNamespace = (name) => {
        if (started) enqueue({ namespace: '', name })
      }
      enqueueAll = () => {
        for (const { metadata } of initializing.values()) enqueueNamespace(metadata.name ?? '')
      }
      const running = [initializing.run(signal), configurations.run(signal)]
      // What is in no configuration is released, so all of them must be known first.
      await Promise.race([Promise.all([initializing.whenSynced(), configurations.whenSynced()]), aborted(signal)])
      started = true
      enqueueAll()
      await Promise.all(running)
    },
  }

  return { name: initializerControllerName, workers, sources: [source], reconciler: { reconcile } }
}

/** Who wrote which field is most of a new namespace, and nothing to us. */
function withoutManagedFields(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}
