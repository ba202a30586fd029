/**
 * Puts back what a namespace was born with when somebody deletes it while the namespace lives. Content of a namespace
 * that is going away stays away: the create is refused.
 */
import type { Client } from '../../client/client.ts'
import type { Reconciler } from '../../controller/controller.ts'
import { isAlreadyExists, isForbidden, isNotFound } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import { defaultServiceAccount, defaultServiceAccountOf, rootCaConfigMap, rootCaOf } from './birth.ts'

export const serviceAccountResource = { group: '', version: 'v1', resource: 'serviceaccounts' } as const
export const configMapResource = { group: '', version: 'v1', resource: 'configmaps' } as const

export interface BirthRepairDeps {
  readonly client: Client
  readonly caPem: string
}

/** Keys are namespaces' names. */
export function birthReconciler({ client, caPem }: BirthRepairDeps): Reconciler {
  const ensure = async (
    resource: typeof serviceAccountResource | typeof configMapResource,
    wanted: KubeObject,
    signal: AbortSignal,
  ): Promise<void> => {
    const ref = { namespace: wanted.metadata.namespace ?? '', name: wanted.metadata.name ?? '' }
    try {
      const found = await client.get(resource, ref, { signal })
      if (wanted['data'] === undefined || JSON.stringify(found['data']) === JSON.stringify(wanted['data'])) return
      await client.patch(resource, ref, { data: wanted['data'] }, { signal })
    } catch (error) {
      if (!isNotFound(error)) throw error
      await client.create(resource, wanted, { signal }).catch((refusal: unknown) => {
        // Gone or going, or somebody was faster: either way there is nothing left to do.
        if (!isForbidden(refusal) && !isNotFound(refusal) && !isAlreadyExists(refusal)) throw refusal
      })
    }
  }

  return {
    async reconcile({ name }, signal) {
      await ensure(serviceAccountResource, defaultServiceAccountOf(name), signal)
      await ensure(configMapResource, rootCaOf(name, caPem), signal)
      return undefined
    },
  }
}

export const bornWith: ReadonlySet<string> = new Set([
  `serviceaccounts/${defaultServiceAccount}`,
  `configmaps/${rootCaConfigMap}`,
])
