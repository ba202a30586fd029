/**
 * Puts the default objects of a namespace back when a client deletes or changes them while the namespace lives. Content
 * of a namespace that is being deleted stays away: the create is refused.
 */
import type { Client } from '../../client/client.ts'
import type { Reconciler } from '../../controller/controller.ts'
import type { GroupVersionResource } from '../../kube/gvk.ts'
import { isAlreadyExists, isForbidden, isNotFound } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import { defaultServiceAccount, defaultServiceAccountOf, rootCaConfigMap, rootCaOf } from './default-objects.ts'

/** One thing that every namespace has, and who keeps it there. */
export interface DefaultObject {
  readonly controller: 'service-account-controller' | 'root-ca-cert-publisher'
  readonly resource: GroupVersionResource
  readonly name: string
  wanted(namespace: string): KubeObject
}

export function defaultObjects(caPem: string): readonly DefaultObject[] {
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
export function defaultObjectReconciler(
  client: Client,
  { resource, name: itsName, wanted }: DefaultObject,
): Reconciler {
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
          // The namespace is going or gone, or another client was faster: either way there is nothing left to do.
          if (!isForbidden(refusal) && !isNotFound(refusal) && !isAlreadyExists(refusal)) throw refusal
        })
      }
      return undefined
    },
  }
}
