/**
 * `POST …/pods/<name>/binding`: a scheduler puts a pod on a node. What is stored is the pod.
 * @see BindingREST in pkg/registry/core/pod/storage/storage.go of Kubernetes 1.36
 */

import type { Clock } from '../../base/clock.ts'
import { cloneJson } from '../../kube/clone-json.ts'
import { type FieldError, fieldNotSupported, fieldRequired } from '../../kube/field-error.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import { conflict, invalid } from '../../kube/status-error.ts'
import { formatTime } from '../../kube/time.ts'
import type { KubeObject, Status } from '../../kube/types.ts'
import type { Registry, WriteScope } from '../../registry/registry.ts'
import type { Pod, PodCondition } from './types.ts'

interface Binding extends KubeObject {
  target?: { kind?: string; name?: string }
}

export interface PodWriteDeps {
  readonly registry: Pick<Registry, 'update' | 'delete' | 'get'>
  readonly podType: ResourceType
  readonly clock: Clock
}

export const success: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 }

/** `scope` is that of the request: it names the pod. @throws StatusError */
export async function bindPod(deps: PodWriteDeps, question: KubeObject, scope: WriteScope): Promise<Status> {
  const binding = question as Binding
  const { kind = '', name: node = '' } = binding.target ?? {}
  const errors: FieldError[] = []
  if (kind !== '' && kind !== 'Node') errors.push(fieldNotSupported('target.kind', kind, ['Node', '<empty>']))
  if (node === '') errors.push(fieldRequired('target.name'))
  if (errors.length > 0) throw invalid({ group: '', kind: 'Binding' }, scope.name, errors)
  const { uid, resourceVersion } = binding.metadata
  await deps.registry.update(
    { ...scope, type: deps.podType, subresource: 'binding' },
    (current) => cloneJson(assign(current, node, binding, formatTime(deps.clock.now()))),
    { preconditions: { ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) } },
  )
  return success
}

function assign(pod: Pod, node: string, binding: Binding, now: string): Pod {
  const resource = { group: '', resource: 'pods/binding' }
  const { name = '', deletionTimestamp } = pod.metadata
  if (deletionTimestamp !== undefined) {
    throw conflict(resource, name, `pod ${name} is being deleted, cannot be assigned to a host`)
  }
  const before = pod.spec?.nodeName ?? ''
  if (before !== '') throw conflict(resource, name, `pod ${name} is already assigned to node ${JSON.stringify(before)}`)
  const { labels, annotations } = binding.metadata
  const scheduled: PodCondition = { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: now }
  const others = (pod.status?.conditions ?? []).filter((c) => c.type !== scheduled.type)
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      ...(labels ? { labels: { ...pod.metadata.labels, ...labels } } : {}),
      ...(annotations ? { annotations: { ...pod.metadata.annotations, ...annotations } } : {}),
    },
    spec: { ...pod.spec, nodeName: node },
    status: { ...pod.status, conditions: [...others, scheduled] },
  }
}
