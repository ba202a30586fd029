/**
 * Keeps the mandatory and the suggested objects in the store as they should be: when the controllers begin to run, and
 * each minute from then on.
 * @see k8s.io/kubernetes/pkg/registry/flowcontrol/rest/storage_flowcontrol.go v1.36
 */
import type { Client } from '../../client/client.ts'
import type { ObjectKey, Reconciler } from '../../controller/controller.ts'
import type { BootstrapWrite } from '../../flowcontrol/flowcontrol.ts'
import type { GroupVersionResource } from '../../kube/gvk.ts'
import { isAlreadyExists, isConflict, isNotFound } from '../../kube/status-error.ts'

/** The field manager of all bootstrap objects. */
export const bootstrapManager = 'api-priority-and-fairness-config-producer-v1'

const periodMs = 60_000

export const bootstrapKey: ObjectKey = { namespace: '', name: 'bootstrap-objects' }

/** @param plan the writes that are missing now, by kind */
export function bootstrapReconciler(
  client: Client,
  plan: () => readonly (readonly [GroupVersionResource, readonly BootstrapWrite[]])[],
): Reconciler {
  return {
    async reconcile(_key, signal) {
      for (const [resource, writes] of plan()) {
        for (const write of writes) await carryOut(client, resource, write, signal)
      }
      return { requeueAfterMs: periodMs }
    },
  }
}

async function carryOut(
  client: Client,
  resource: GroupVersionResource,
  write: BootstrapWrite,
  signal: AbortSignal,
): Promise<void> {
  const options = { fieldManager: bootstrapManager, signal }
  try {
    if (write.verb === 'delete') {
      const { name, resourceVersion } = write
      const preconditions = resourceVersion === undefined ? {} : { preconditions: { resourceVersion } }
      await client.delete(resource, { name }, { ...preconditions, signal })
    } else await client[write.verb](resource, write.object, options)
  } catch (error) {
    // An operator was faster; in a minute it is looked at again.
    if (!isAlreadyExists(error) && !isConflict(error) && !isNotFound(error)) throw error
  }
}
