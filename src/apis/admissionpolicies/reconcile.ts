/** `validatingadmissionpolicy-status-controller`: writes what the check of types found into the status of a policy. */
import type { Client } from '../../client/client.ts'
import type { Reconciler } from '../../controller/controller.ts'
import type { ResourceTypes } from '../../kube/resource-type.ts'
import { isConflict, isNotFound } from '../../kube/status-error.ts'
import { typeWarnings } from './type-check.ts'
import { type AdmissionPolicy, policyResource } from './types.ts'

export const policyControllerName = 'validatingadmissionpolicy-status-controller'

export const isChecked = ({ metadata, status }: AdmissionPolicy): boolean =>
  status?.typeChecking !== undefined && status.observedGeneration === metadata.generation

export function policyReconciler(client: Client, types: ResourceTypes): Reconciler {
  return {
    async reconcile(key, signal) {
      try {
        const policy = (await client.get(policyResource, key, { signal })) as AdmissionPolicy
        if (isChecked(policy)) return undefined
        const expressionWarnings = typeWarnings(policy, types)
        const { generation } = policy.metadata
        const status = {
          ...policy.status,
          ...(generation === undefined ? {} : { observedGeneration: generation }),
          typeChecking: expressionWarnings.length === 0 ? {} : { expressionWarnings },
        }
        await client.update(policyResource, { ...policy, status }, { subresource: 'status', signal })
      } catch (error) {
        // The change that came between brings the key back.
        if (!isNotFound(error) && !isConflict(error)) throw error
      }
      return undefined
    },
  }
}
