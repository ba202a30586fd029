/**
 * A client whose writes are dry runs, and that remembers what each of them would have changed. What populates through
 * it populates nothing.
 */

import type { ApplyOptions, Client } from '../../client/client.ts'
import { findObject } from '../../client/find-object.ts'
import { apiVersionOf, type GroupVersionResource } from '../../kube/gvk.ts'
import type { Resource } from '../../kube/resource.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { PopulateDeps } from './populate.ts'

/** One object before and after; `before` undefined = it would be created. */
export interface DryRunChange {
  readonly before: KubeObject | undefined
  readonly after: KubeObject
}

export interface DryRun {
  readonly client: PopulateDeps['client']
  /** `RoleBinding/admin` */
  find(title: string): DryRunChange | undefined
}

/** For one pass over one namespace. */
export function startDryRun(client: Client): DryRun {
  const changes = new Map<string, DryRunChange>()
  const seen = new Map<string, KubeObject | undefined>()
  const placeOf = (resource: GroupVersionResource, name: string): string =>
    `${apiVersionOf(resource)}/${resource.resource}/${name}`

  const look = async <T extends KubeObject>(
    resource: Resource<T>,
    ref: { readonly namespace?: string; readonly name: string },
    options?: { readonly signal?: AbortSignal },
  ): Promise<T | undefined> => {
    const place = placeOf(resource, ref.name)
    if (seen.has(place)) return seen.get(place) as T | undefined
    const found = await findObject(client, resource, ref, options)
    seen.set(place, found)
    return found
  }

  return {
    find: (title) => changes.get(title),
    client: {
      discovery: client.discovery,
      async get(resource, ref, options) {
        const found = await look(resource, ref, options)
        // Asked again for its answer.
        return found ?? client.get(resource, ref, options)
      },
      async apply(resource, object, options: ApplyOptions) {
        const { namespace = '', name = '' } = object.metadata
        const before = await look(resource, { namespace, name }, options)
        const after = await client.apply(resource, object, { ...options, dryRun: true })
        changes.set(`${object.kind}/${name}`, { before, after })
        return after
      },
      async update(resource, object, options) {
        const before = seen.get(placeOf(resource, object.metadata.name ?? ''))
        // It would be created, as the apply before this says.
        if (before === undefined) return object
        const after = await client.update(resource, object, { ...options, dryRun: true })
        if (options?.dryRun !== true) changes.set(`${object.kind}/${object.metadata.name}`, { before, after })
        return after
      },
      async patch(resource, ref, patch, options) {
        // The server would judge it by the templates that are stored, and it is these that are planned.
        if (resource.group === '' && resource.resource === 'namespaces') return this.get(resource, ref, options)
        return client.patch(resource, ref, patch, { ...options, dryRun: true })
      },
      delete: (resource, ref, options) => client.delete(resource, ref, { ...options, dryRun: true }),
    },
  }
}
