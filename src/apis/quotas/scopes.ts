/**
 * Which objects a quota is about: all, or only pods and claims of a certain sort.
 * @see podMatchesScopeFunc, pvcMatchesScopeFunc in k8s.io/kubernetes/pkg/quota/v1/evaluator/core of 1.36
 */
import type { GroupResource } from '../../kube/gvk.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { Pod } from '../pods/types.ts'
import type { ResourceQuota, ScopeRequirement } from './types.ts'
import { isClaims, isPods } from './usage.ts'

export function scopesOf(quota: ResourceQuota): readonly ScopeRequirement[] {
  return [
    ...(quota.spec?.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' })),
    ...(quota.spec?.scopeSelector?.matchExpressions ?? []),
  ]
}

export function inScopes(scopes: readonly ScopeRequirement[], type: GroupResource, object: KubeObject): boolean {
  return scopes.every((scope) => {
    if (isPods(type)) return podInScope(scope, object)
    return isClaims(type) && scope.scopeName === 'VolumeAttributesClass' && claimInScope(scope, object)
  })
}

function podInScope(scope: ScopeRequirement, pod: Pod): boolean {
  const { activeDeadlineSeconds: deadline, priorityClassName } = (pod.spec ?? {}) as {
    activeDeadlineSeconds?: number
    priorityClassName?: string
  }
  switch (scope.scopeName) {
    case 'Terminating':
      return deadline !== undefined && deadline >= 0
    case 'NotTerminating':
      return deadline === undefined || deadline < 0
    case 'BestEffort':
      return pod.status?.['qosClass'] === 'BestEffort'
    case 'NotBestEffort':
      return pod.status?.['qosClass'] !== 'BestEffort'
    case 'PriorityClass':
      return selects(scope, priorityClassName || undefined)
    case 'CrossNamespacePodAffinity':
      return affinityCrossesNamespaces(pod)
    default:
      return false
  }
}

/** A claim is on its way from one class to another at times: it is in the scope if it is by any of them. */
function claimInScope(scope: ScopeRequirement, claim: KubeObject): boolean {
  const spec = (claim['spec'] ?? {}) as { volumeAttributesClassName?: string }
  const status = (claim['status'] ?? {}) as {
    currentVolumeAttributesClassName?: string
    modifyVolumeStatus?: { targetVolumeAttributesClassName?: string }
  }
  const names = [
    spec.volumeAttributesClassName,
    status.currentVolumeAttributesClassName,
    status.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ]
  const given = names.flatMap((name) => name || [])
  return given.length === 0 ? selects(scope, undefined) : given.some((name) => selects(scope, name))
}

function selects({ operator, values = [] }: ScopeRequirement, name: string | undefined): boolean {
  switch (operator) {
    case 'Exists':
      return name !== undefined
    case 'DoesNotExist':
      return name === undefined
    case 'In':
      return name !== undefined && values.includes(name)
    case 'NotIn':
      return name === undefined || !values.includes(name)
    default:
      return false
  }
}

interface AffinityTerm {
  namespaces?: string[]
  namespaceSelector?: object
}

interface Affinity {
  requiredDuringSchedulingIgnoredDuringExecution?: AffinityTerm[]
  preferredDuringSchedulingIgnoredDuringExecution?: { podAffinityTerm?: AffinityTerm }[]
}

function affinityCrossesNamespaces(pod: Pod): boolean {
  const { podAffinity, podAntiAffinity } = (pod.spec?.['affinity'] ?? {}) as {
    podAffinity?: Affinity
    podAntiAffinity?: Affinity
  }
  return [podAffinity, podAntiAffinity].some((affinity) => {
    const required = affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
    const preferred = affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []
    return [...required, ...preferred.flatMap((p) => p.podAffinityTerm ?? [])].some(
      (term) => (term.namespaces ?? []).length > 0 || term.namespaceSelector !== undefined,
    )
  })
}
