/** In which objects there are pods to be judged, and whether a change of a pod is worth another look. */
import type { ResourceType } from '../../../kube/resource-type.ts'
import type { KubeObject } from '../../../kube/types.ts'
import type { JudgedContainer, JudgedPod } from './judged-pod.ts'

export type Judged = 'pod' | 'namespace' | 'controller'

/** By resource; where an object that makes pods has its template. */
const places: ReadonlyMap<string, { readonly group: string; readonly judged: Judged; readonly at: readonly string[] }> =
  new Map([
    ['namespaces', { group: '', judged: 'namespace', at: [] }],
    ['pods', { group: '', judged: 'pod', at: [] }],
    ['podtemplates', { group: '', judged: 'controller', at: ['template'] }],
    ['replicationcontrollers', { group: '', judged: 'controller', at: ['spec', 'template'] }],
    ['replicasets', { group: 'apps', judged: 'controller', at: ['spec', 'template'] }],
    ['deployments', { group: 'apps', judged: 'controller', at: ['spec', 'template'] }],
    ['statefulsets', { group: 'apps', judged: 'controller', at: ['spec', 'template'] }],
    ['daemonsets', { group: 'apps', judged: 'controller', at: ['spec', 'template'] }],
    ['jobs', { group: 'batch', judged: 'controller', at: ['spec', 'template'] }],
    ['cronjobs', { group: 'batch', judged: 'controller', at: ['spec', 'jobTemplate', 'spec', 'template'] }],
  ])

export function judgedOf({ group, resource }: Pick<ResourceType, 'group' | 'resource'>): Judged | undefined {
  const place = places.get(resource)
  return place?.group === group ? place.judged : undefined
}

/** Undefined where a template is left out, as a ReplicationController may. */
export function podIn({ resource }: Pick<ResourceType, 'resource'>, object: KubeObject): JudgedPod | undefined {
  let found: unknown = object
  for (const field of places.get(resource)?.at ?? []) found = (found as Record<string, unknown> | undefined)?.[field]
  return found as JudgedPod | undefined
}

/** What runs in it has changed: a container more or less, another image. Nothing else of a pod can. */
export function isOtherPod({ spec }: JudgedPod, { spec: before }: JudgedPod): boolean {
  return (
    areOthers(spec?.containers, before?.containers) ||
    areOthers(spec?.initContainers, before?.initContainers) ||
    (spec?.ephemeralContainers ?? []).some((container) => {
      const old = before?.ephemeralContainers?.find(({ name }) => name === container.name)
      return old === undefined || container.image !== old.image
    })
  )
}

const areOthers = (now: readonly JudgedContainer[] = [], before: readonly JudgedContainer[] = []): boolean =>
  now.length !== before.length || now.some(({ image }, i) => image !== before[i]?.image)
