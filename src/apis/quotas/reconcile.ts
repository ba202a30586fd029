/**
 * `resourcequota-controller`: puts `status.hard` back to what is enforced when a client has written something else
 * there. What is used needs no controller: it is charged in the transaction of each change.
 */
import type { Client } from '../../client/client.ts'
import type { Reconciler } from '../../controller/controller.ts'
import { jsonEqual } from '../../kube/json-value.ts'
import { isConflict, isNotFound } from '../../kube/status-error.ts'
import { quotaResource, type ResourceQuota } from './types.ts'

export const quotaControllerName = 'resourcequota-controller'

export const showsWhatHolds = ({ spec, status }: ResourceQuota): boolean =>
  jsonEqual(spec?.hard ?? {}, status?.hard ?? {})

export function quotaReconciler(client: Client): Reconciler {
  return {
    async reconcile(key, signal) {
      try {
        const quota = (await client.get(quotaResource, key, { signal })) as ResourceQuota
        if (showsWhatHolds(quota)) return undefined
        const status = { ...quota.status, hard: quota.spec?.hard ?? {} }
        await client.update(quotaResource, { ...quota, status }, { subresource: 'status', signal })
      } catch (error) {
        // The change that came between brings the key back.
        if (!isNotFound(error) && !isConflict(error)) throw error
      }
      return undefined
    },
  }
}
