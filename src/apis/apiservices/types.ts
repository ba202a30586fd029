/**
 * APIService objects of the `Local` kind: one for each group version that this server itself serves. Nothing is proxied
 * to others; the objects are there for clients that look at them to learn what is served and in which order.
 * @see k8s.io/kube-aggregator/pkg/apis/apiregistration v0.36
 */
import type { GroupVersionResource } from '../../kube/gvk.ts'
import type { ResourceTypes } from '../../kube/resource-type.ts'
import type { KubeObject } from '../../kube/types.ts'

export const apiServicesResource: GroupVersionResource = {
  group: 'apiregistration.k8s.io',
  version: 'v1',
  resource: 'apiservices',
}

/** An object with this label belongs to us: `onstart` for built-in group versions, `true` for custom ones. */
export const managedLabel = 'kube-aggregator.kubernetes.io/automanaged'

export interface ApiServiceSpec {
  readonly group: string
  readonly version: string
  readonly groupPriorityMinimum: number
  readonly versionPriority: number
}

export interface ServedGroupVersion {
  /** `v1.apps`; that of the core is `v1.`. */
  readonly name: string
  readonly custom: boolean
  readonly spec: ApiServiceSpec
}

const customVersionPriority = 100
/** As upstream: 15 for the only version of a group, 15 more for each one it precedes. */
const versionPriorityStep = 15

/** By name, in discovery order. @param groupPriority Higher comes first in discovery. */
export function servedGroupVersions(
  types: ResourceTypes,
  groupPriority: (group: string) => number,
): ReadonlyMap<string, ServedGroupVersion> {
  const versions = new Map<string, Map<string, boolean>>()
  for (const { group, version, custom } of types.all()) {
    const known = versions.get(group) ?? new Map<string, boolean>()
    versions.set(group, known.set(version, (known.get(version) ?? true) && custom))
  }
  const served = new Map<string, ServedGroupVersion>()
  for (const [group, known] of versions) {
    let rank = known.size
    for (const [version, custom] of known) {
      const versionPriority = custom ? customVersionPriority : versionPriorityStep * rank
      rank--
      const name = `${version}.${group}`
      const spec = { group, version, groupPriorityMinimum: groupPriority(group), versionPriority }
      served.set(name, { name, custom, spec })
    }
  }
  return served
}

export function localApiService({ name, custom, spec }: ServedGroupVersion): KubeObject {
  return {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name, labels: { [managedLabel]: custom ? 'true' : 'onstart' } },
    spec: { ...spec },
  }
}

/** What is served here is always available. */
export const isAvailable = (object: KubeObject): boolean => {
  const { conditions } = (object['status'] ?? {}) as { conditions?: { type?: string; status?: string }[] }
  return conditions?.some((c) => c.type === 'Available' && c.status === 'True') ?? false
}

export const availableStatus = (now: string): object => ({
  conditions: [
    {
      type: 'Available',
      status: 'True',
      lastTransitionTime: now,
      reason: 'Local',
      message: 'Local APIServices are always available',
    },
  ],
})
