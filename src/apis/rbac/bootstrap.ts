/**
 * Brings the default roles and bindings into the store: makes what is missing, adds what was taken out, leaves what was
 * added. One list of roles, one of bindings, then only the differences, all at once. Objects annotated
 * `rbac.authorization.kubernetes.io/autoupdate: "false"` are the operator's and stay as they are.
 * @see k8s.io/component-helpers/auth/rbac/reconciliation v1.36
 */
import type { Client } from '../../client/client.ts'
import type { ControllerRules } from '../../feature/feature.ts'
import type { GroupVersionResource } from '../../kube/gvk.ts'
import { jsonEqual } from '../../kube/json-value.ts'
import {
  type Binding,
  type ClusterRole,
  clusterRoleBindingsResource,
  clusterRolesResource,
  roleBindingsResource,
  rolesResource,
  type Subject,
} from '../../kube/rbac.ts'
import { isAlreadyExists, isConflict, isNotFound } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import { isAggregated } from './aggregation.ts'
import { bootstrapSystemRoleBindings, bootstrapSystemRoles, clusterPolicy } from './bootstrap-policy.ts'
import { autoUpdateAnnotation } from './bootstrap-rules.ts'
import { compactRules, missingPermissions } from './rule-cover.ts'

export interface BootstrapWrite {
  readonly verb: 'create' | 'update' | 'delete'
  readonly resource: GroupVersionResource
  readonly object: KubeObject
}

/** What belongs to one scope: the cluster, or a namespace of the system. */
export interface DefaultPolicy {
  readonly roleResource: GroupVersionResource
  readonly roles: readonly ClusterRole[]
  readonly bindingResource: GroupVersionResource
  readonly bindings: readonly Binding[]
  /** Absent for the cluster. */
  readonly namespace?: string
}

export const defaultClusterPolicy = (controllers: ControllerRules): DefaultPolicy => ({
  roleResource: clusterRolesResource,
  bindingResource: clusterRoleBindingsResource,
  ...clusterPolicy(controllers),
})

export const systemPolicy: DefaultPolicy = {
  roleResource: rolesResource,
  roles: bootstrapSystemRoles,
  bindingResource: roleBindingsResource,
  bindings: bootstrapSystemRoleBindings,
  namespace: 'kube-system',
}

export interface BootstrapOptions {
  readonly policy: DefaultPolicy
  /** Acts as a member of `system:masters`. */
  readonly client: Client
  /** Carries out one write; all are started together. Default: through `client`. */
  readonly write?: (write: BootstrapWrite) => Promise<unknown>
  readonly signal?: AbortSignal
}

/** Another replica may do the same at this moment: then look again. */
const attempts = 5

/** Answers how many objects were written. */
export async function bootstrapRbac(options: BootstrapOptions): Promise<number> {
  const { client, signal, policy } = options
  const request = signal ? { signal } : {}
  const scope = policy.namespace === undefined ? request : { ...request, namespace: policy.namespace }
  const write = options.write ?? ((w) => writeThrough(client, w, request))
  for (let attempt = 1; ; attempt++) {
    const [roles, bindings] = await Promise.all([
      client.list(policy.roleResource, scope),
      client.list(policy.bindingResource, scope),
    ])
    const plan = planBootstrap(policy, roles.items, bindings.items as Binding[])
    const outcomes = await Promise.allSettled(plan.map(write))
    const failures = outcomes.flatMap((o) => (o.status === 'rejected' ? [o.reason as unknown] : []))
    if (failures.length === 0 && !plan.some((w) => w.verb === 'delete')) return plan.length
    const fatal = failures.find((e) => !isAlreadyExists(e) && !isConflict(e) && !isNotFound(e))
    if (fatal !== undefined || attempt === attempts) {
      throw new Error('the default RBAC roles could not be written', { cause: fatal ?? failures[0] })
    }
  }
}

function writeThrough(client: Client, { verb, resource, object }: BootstrapWrite, request: object): Promise<unknown> {
  if (verb === 'create') return client.create(resource, object, request)
  if (verb === 'update') return client.update(resource, object, request)
  const { name = '', namespace } = object.metadata
  return client.delete(resource, namespace === undefined ? { name } : { name, namespace }, request)
}

/**
 * What must be written. A binding to another role is deleted first: roleRef can't change; the next look makes it anew.
 */
export function planBootstrap(
  policy: DefaultPolicy,
  roles: readonly ClusterRole[],
  bindings: readonly Binding[],
): BootstrapWrite[] {
  const writes: BootstrapWrite[] = []
  const plan = <T extends KubeObject>(
    resource: GroupVersionResource,
    wanted: readonly T[],
    existing: readonly T[],
    merge: (existing: T, wanted: T) => T | 'replace',
  ): void => {
    const byName = new Map(existing.map((object) => [object.metadata.name, object]))
    for (const object of wanted) {
      const found = byName.get(object.metadata.name)
      if (found === undefined) writes.push({ verb: 'create', resource, object })
      else if (found.metadata.annotations?.[autoUpdateAnnotation] !== 'false') {
        const merged = merge(found, object)
        if (merged === 'replace') writes.push({ verb: 'delete', resource, object })
        else if (!jsonEqual(merged, found)) {
          // The items of a list come without their kind.
          const { apiVersion, kind } = object
          writes.push({ verb: 'update', resource, object: { ...merged, apiVersion, kind } as T })
        }
      }
    }
  }
  plan(policy.roleResource, policy.roles, roles, mergeRole)
  plan(policy.bindingResource, policy.bindings, bindings, mergeBinding)
  return writes
}

function mergeRole(existing: ClusterRole, wanted: ClusterRole): ClusterRole {
  const merged = mergeMetadata(existing, wanted)
  if (isAggregated(wanted)) {
    const kept = existing.aggregationRule?.clusterRoleSelectors ?? []
    const selectors = wanted.aggregationRule?.clusterRoleSelectors ?? []
    const added = selectors.filter((selector) => !kept.some((known) => jsonEqual(known, selector)))
    return added.length === 0 ? merged : { ...merged, aggregationRule: { clusterRoleSelectors: [...kept, ...added] } }
  }
  const missing = compactRules(missingPermissions(existing.rules ?? [], wanted.rules ?? []))
  return missing.length === 0 ? merged : { ...merged, rules: [...(existing.rules ?? []), ...missing] }
}

function mergeBinding(existing: Binding, wanted: Binding): Binding | 'replace' {
  const { kind, name } = existing.roleRef
  if (kind !== wanted.roleRef.kind || name !== wanted.roleRef.name) return 'replace'
  const merged = mergeMetadata(existing, wanted)
  const kept = existing.subjects ?? []
  const added = (wanted.subjects ?? []).filter((subject) => !kept.some((known) => sameSubject(known, subject)))
  return added.length === 0 ? merged : { ...merged, subjects: [...kept, ...added] }
}

const sameSubject = (a: Subject, b: Subject): boolean =>
  a.kind === b.kind && a.name === b.name && (a.namespace ?? '') === (b.namespace ?? '')

/** Adds labels and annotations that are missing; what the operator has set to something else stays. */
function mergeMetadata<T extends KubeObject>(existing: T, wanted: T): T {
  const labels = { ...wanted.metadata.labels, ...existing.metadata.labels }
  const annotations = { ...wanted.metadata.annotations, ...existing.metadata.annotations }
  return { ...existing, metadata: { ...existing.metadata, labels, annotations } }
}
