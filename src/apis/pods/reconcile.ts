/**
 * The pod garbage collector: a pod that was given time to end is removed when the time is over, or as soon as its node
 * is gone. Where kubelets exist they are faster; no deletion waits for one that does not.
 *
 * Living pods of missing nodes are left alone (upstream removes them): without nodes, pods here are records.
 */
import type { Clock } from '../../base/clock.ts'
import type { Client } from '../../client/client.ts'
import type { Reconciler } from '../../controller/controller.ts'
import { isConflict, isNotFound } from '../../kube/status-error.ts'
import { parseTime } from '../../kube/time.ts'
import { type Pod, podResource } from './types.ts'

export const podCollectorName = 'pod-garbage-collector'

export interface PodCollectorDeps {
  readonly client: Client
  readonly clock: Clock
  readonly nodeExists: (name: string) => boolean
}

export function podCollector({ client, clock, nodeExists }: PodCollectorDeps): Reconciler {
  return {
    async reconcile({ namespace, name }, signal) {
      try {
        const pod: Pod = await client.get(podResource, { namespace, name }, { signal })
        const { deletionTimestamp, deletionGracePeriodSeconds = 0, uid = '' } = pod.metadata
        if (deletionTimestamp === undefined || deletionGracePeriodSeconds === 0) return undefined
        const leftMs = (parseTime(deletionTimestamp) ?? 0) - clock.now()
        if (leftMs > 0 && nodeExists(pod.spec?.nodeName ?? '')) return { requeueAfterMs: leftMs }
        await client.delete(podResource, { namespace, name }, { gracePeriodSeconds: 0, preconditions: { uid }, signal })
      } catch (error) {
        // Another client was faster, or it is another pod by now.
        if (!isNotFound(error) && !isConflict(error)) throw error
      }
      return undefined
    },
  }
}
