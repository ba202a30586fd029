/**
 * Puts back what a namespace was born with when somebody deletes or changes it while the namespace lives. Content of a
 * namespace that is going away stays away: the create is refused.
 */
import type { Client } from '../../client/client.ts'
import type { Reconciler } from '../../controller/controller.ts'
import type { GroupVersionResource } from '../../kube/gvk.ts'
import { isAlreadyExists, isForbidden, isNotFound } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import { defaultServiceAccount, defaultServiceAccountOf, rootCaConfigMap, rootCaOf } from './birth.ts'

/** One thing that every namespace has, and who keeps it there. */
export interface Birthright {
  readonly controller: 'service-account-controller' | 'root-ca-cert-publisher'
  readonly resource: GroupVersionResource
  readonly name: string
  wanted(namespace: string): KubeObject
}

export function birthrights(caPem: string): readonly Birthright[] {
  return [
    {
      controller: 'service-account-controller',
      resource: { group: '', version: 'v1', resource: 'serviceaccounts' },
      name: defaultServiceAccount,
      wanted: defaultServiceAccountOf,
    },
    {
      controller: 'root-ca-cert-publisher',
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      name: rootCaConfigMap,
      wanted: (namespace) => rootCaOf(namespace, caPem),
    },
  ]
}

/** Keys are names of namespaces. */
export function birthrightReconciler(client: Client, { resource, name: itsName, wanted }: Birthright): Reconciler {
  return {
    async reconcile({ name: namespace }, signal) {
      const object = wanted(namespace)
      const ref = { namespace, name: itsName }
      try {
        const found = await client.get(resource, ref, { signal })
        const { data } = object
        if (data !== undefined && JSON.stringify(found['data']) !== JSON.stringify(data)) {
          await client.patch(resource, ref, { data }, { signal })
        }
      } catch (error) {
        if (!isNotFound(error)) throw error
        await client.create(resource, object, { signal }).catch((refusal: unknown) => {
          // The namespace is going or gone, or somebody was faster: either way there is nothing left to do.
          if (!isForbidden(refusal) && !isNotFound(refusal) && !isAlreadyExists(refusal)) throw refusal
        })
      }
      return undefined
    },
  }
}
