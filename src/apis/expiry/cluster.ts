/** Ends of namespaces on another cluster, which are seen by a watch. */

import { aborted } from '../../base/aborted.ts'
import { Informer } from '../../client/informer.ts'
import type { ControllerSpec } from '../../controller/controller.ts'
import type { KubeObject } from '../../kube/types.ts'
import { namespaceResource } from '../namespaces/types.ts'
import { ExpiryClock } from './expiry-clock.ts'
import { ExpirySchedule, type NamespaceFeed } from './expiry-schedule.ts'
import { type ExpiryControllerDeps, expiryController } from './reconcile.ts'

export interface ClusterExpiryDeps
  extends Omit<ExpiryControllerDeps, 'expiryClock' | 'feed' | 'schedule' | 'isJudgedByServer' | 'expired'> {
  /** Failures that the watch recovers from. */
  readonly onError: (error: unknown) => void
}

/** For each time that its process leads. */
export function expiryOfCluster({ onError, ...deps }: ClusterExpiryDeps): ControllerSpec {
  const { client, clock } = deps
  let changed: Parameters<NamespaceFeed['subscribe']>[0] | undefined
  const informer = new Informer({
    client,
    clock,
    resource: namespaceResource,
    onError,
    keep: withoutManagedFields,
    onChange: (next, old) => changed?.((next ?? old)?.metadata.name ?? '', next),
  })
  const feed: NamespaceFeed = {
    existing: () => informer.values(),
    find: (name) => informer.find('', name),
    subscribe(listener) {
      changed = listener
      return () => {
        changed = undefined
      }
    },
    async ready(signal) {
      await Promise.race([informer.whenSynced(), aborted(signal)])
    },
  }
  const schedule = new ExpirySchedule(feed, clock)
  const controller = expiryController({
    ...deps,
    expiryClock: new ExpiryClock(clock),
    feed,
    schedule,
    isJudgedByServer: false,
  })
  const watch = { run: (_enqueue: unknown, signal: AbortSignal) => informer.run(signal) }
  return { ...controller, sources: [watch, ...controller.sources] }
}

/** Who wrote which field is most of a namespace, and nothing to us. */
function withoutManagedFields(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}
