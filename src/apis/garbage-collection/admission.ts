/**
 * Who may name an owner. Off by default, as upstream: an object that a writer may not delete must not be made to go by
 * giving it an owner, and a dependent must not hold up the deletion of an owner whose finalizers the writer may not
 * set.
 * @see plugin/pkg/admission/gc/gc_admission.go of Kubernetes 1.36
 */
import type { AdmissionPlugin, Attributes } from '../../admission/admission.ts'
import type { Authorizer, AuthzAttributes, AuthzDecision } from '../../authz/authz.ts'
import { quote } from '../../kube/go-quote.ts'
import { parseApiVersion } from '../../kube/gvk.ts'
import { jsonEqual } from '../../kube/json-value.ts'
import type { ResourceTypes } from '../../kube/resource-type.ts'
import { forbidden } from '../../kube/status-error.ts'
import type { KubeObject, OwnerReference } from '../../kube/types.ts'

export interface OwnerReferencesDeps {
  readonly authorizer: Authorizer
  readonly types: ResourceTypes
}

const noOwners: readonly OwnerReference[] = []
const ownersOf = (object: KubeObject | undefined): readonly OwnerReference[] =>
  object?.metadata.ownerReferences ?? noOwners

export function ownerReferencesPermission(deps: OwnerReferencesDeps): AdmissionPlugin {
  return {
    name: 'OwnerReferencesPermissionEnforcement',
    // Kubelets may write the status of pods, and nothing else of them.
    handles: (operation, { group, resource }, subresource) =>
      (operation === 'CREATE' || operation === 'UPDATE') &&
      !(group === '' && resource === 'pods' && subresource === 'status') && ['validate'],
    validate(a) {
      const [owners, before] = [ownersOf(a.object), ownersOf(a.oldObject)]
      if ((owners.length === 0 && before.length === 0) || jsonEqual(owners, before)) return
      if (a.operation !== 'CREATE') checkDependent(deps, a)
      for (const owner of newlyBlocking(owners, before)) checkOwner(deps, a, owner)
    },
  }
}

/** References that hold up the deletion of an owner, and did not before. */
function newlyBlocking(owners: readonly OwnerReference[], before: readonly OwnerReference[]): OwnerReference[] {
  const known = new Set(before.filter((owner) => owner.blockOwnerDeletion === true).map(({ uid }) => uid))
  return owners.filter((owner) => owner.blockOwnerDeletion === true && !known.has(owner.uid))
}

/** @throws StatusError Forbidden */
function checkDependent({ authorizer }: OwnerReferencesDeps, a: Attributes): void {
  const { type, subresource, namespace, name, user } = a
  const { group, version, resource } = type
  const attributes: AuthzAttributes = {
    user,
    verb: 'delete',
    group,
    version,
    resource,
    subresource,
    namespace: type.namespaced ? namespace : '',
    name,
  }
  refuse(a, authorizer.authorize(attributes), "cannot set an ownerRef on a resource you can't delete: ")
}

/** @throws StatusError Forbidden */
function checkOwner({ authorizer, types }: OwnerReferencesDeps, a: Attributes, owner: OwnerReference): void {
  const { apiVersion, kind, name } = owner
  const gv = parseApiVersion(apiVersion)
  const type = gv && types.findKind({ ...gv, kind })
  if (type === undefined) {
    const none = `no matches for kind ${quote(kind)} in version ${quote(apiVersion)}`
    const why = 'cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion '
    throw forbidden(a.type, a.name, `${why}${apiVersion} Kind ${kind}: ${none}`)
  }
  const attributes: AuthzAttributes = {
    user: a.user,
    verb: 'update',
    group: type.group,
    version: type.version,
    resource: type.resource,
    subresource: 'finalizers',
    namespace: type.namespaced ? a.namespace : '',
    name,
  }
  const why = "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: "
  refuse(a, authorizer.authorize(attributes), why)
}

/** @throws StatusError Forbidden */
function refuse(a: Attributes, { allowed, reason }: AuthzDecision, why: string): void {
  if (!allowed) throw forbidden(a.type, a.name, `${why}${reason}, <nil>`)
}
