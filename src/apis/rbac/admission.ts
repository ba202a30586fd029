/**
 * The escalation check on roles and the bind check on bindings.
 *
 *   roles      the writer holds every rule, or verb `escalate` on the role
 *   bindings   the writer holds every rule of the role referred to, or verb `bind` on it
 *
 * Members of `system:masters` pass. Upstream checks between mutation and validation; here it is the `validate` half,
 * because then no later mutation can slip past it. So an invalid role is 422 first, where upstream may say 403.
 *
 * @see k8s.io/kubernetes/pkg/registry/rbac/{clusterrole,role,clusterrolebinding,rolebinding}/policybased v1.36
 */
import type { AdmissionPlugin, Attributes } from '../../admission/admission.ts'
import type { Authorizer } from '../../authz/authz.ts'
import { jsonEqual } from '../../kube/json-value.ts'
import { type Binding, type ClusterRole, type PolicyRule, type Role, type RoleRef, rbacGroup } from '../../kube/rbac.ts'
import { forbidden, notFound } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import { mastersGroup } from '../../kube/user.ts'
import { escalationRefusal } from './escalation.ts'

export interface RbacAdmissionDeps {
  readonly authorizer: Authorizer
  /** Synchronous, from the cache; namespace '' = a ClusterRole. */
  readonly findRole: (namespace: string, name: string) => Role | undefined
}

const roleResources: ReadonlySet<string> = new Set(['roles', 'clusterroles'])
const bindingResources: ReadonlySet<string> = new Set(['rolebindings', 'clusterrolebindings'])

const everything: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
]

export function rbacAdmission(deps: RbacAdmissionDeps): AdmissionPlugin {
  return {
    name: 'RbacEscalation',
    handles: (operation, type, subresource) =>
      operation !== 'DELETE' &&
      subresource === '' &&
      type.group === rbacGroup &&
      (roleResources.has(type.resource) || bindingResources.has(type.resource)),
    validate(attributes) {
      const { object, oldObject, user } = attributes
      if (object === undefined || user.groups.includes(mastersGroup)) return
      if (oldObject !== undefined && changesCollectionFieldsAlone(object, oldObject)) return
      if (roleResources.has(attributes.type.resource)) checkRole(deps, attributes, object)
      else checkBinding(deps, attributes, object as Binding)
    },
  }
}

function checkRole({ authorizer }: RbacAdmissionDeps, a: Attributes, role: ClusterRole): void {
  const { namespace, user } = a
  const { resource } = a.type
  const name = role.metadata.name ?? a.name
  const verb = { user, verb: 'escalate', group: rbacGroup, version: 'v1', resource, namespace, name }
  if (authorizer.authorize(verb).allowed) return
  const refusal = escalationRefusal(authorizer, user, namespace, role.rules ?? [])
  if (refusal !== undefined) throw forbidden(a.type, name, refusal)
  const old = a.oldObject
  const aggregates = resource === 'clusterroles' && (gathers(role) || (old !== undefined && gathers(old)))
  if (aggregates && escalationRefusal(authorizer, user, '', everything) !== undefined) {
    throw forbidden(a.type, name, 'must have cluster-admin privileges to use the aggregationRule')
  }
}

const gathers = (role: ClusterRole): boolean => (role.aggregationRule?.clusterRoleSelectors ?? []).length > 0

function checkBinding({ authorizer, findRole }: RbacAdmissionDeps, a: Attributes, binding: Binding): void {
  const { namespace, user } = a
  const resource = resourceOf(binding.roleRef)
  const name = binding.roleRef.name
  const verb = { user, verb: 'bind', group: rbacGroup, version: 'v1', resource, namespace, name }
  if (authorizer.authorize(verb).allowed) return
  const role = findRole(resource === 'clusterroles' ? '' : namespace, name)
  if (role === undefined) throw notFound({ group: rbacGroup, resource }, name)
  const refusal = escalationRefusal(authorizer, user, namespace, role.rules ?? [])
  if (refusal !== undefined) throw forbidden(a.type, binding.metadata.name ?? a.name, refusal)
}

const resourceOf = (ref: RoleRef): string => (ref.kind === 'ClusterRole' ? 'clusterroles' : 'roles')

/** The garbage collector writes ownerReferences and finalizers of objects whose rights it lacks. */
function changesCollectionFieldsAlone(next: KubeObject, old: KubeObject): boolean {
  const rest = (object: KubeObject): unknown => {
    const { ownerReferences, finalizers, managedFields, resourceVersion, generation, ...metadata } = object.metadata
    return { ...object, metadata }
  }
  const collected = (object: KubeObject): unknown => [
    object.metadata.ownerReferences ?? [],
    object.metadata.finalizers ?? [],
  ]
  return jsonEqual(rest(next), rest(old)) && !jsonEqual(collected(next), collected(old))
}
