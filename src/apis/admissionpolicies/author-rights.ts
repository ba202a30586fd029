/**
 * Who writes a policy with parameters, or a binding that refers to some, must be allowed to read them: else expressions
 * and their messages would tell what the author may not see. Members of `system:masters` pass.
 *
 *   policies   `get` on all objects of the kind
 *   bindings   `get` on the object that is named, or `list` on those that are selected
 *
 * What is unchanged is not asked about again. This is the `validate` half of admission: the object is known to be
 * valid.
 * @see pkg/registry/admissionregistration/{validating,mutating}admissionpolicy{,binding}/authz.go of Kubernetes 1.36
 */
import type { AdmissionPlugin, Attributes } from '../../admission/admission.ts'
import type { Authorizer } from '../../authz/authz.ts'
import { fieldForbidden } from '../../kube/field-error.ts'
import { type GroupVersionResource, parseApiVersion } from '../../kube/gvk.ts'
import { jsonEqual } from '../../kube/json-value.ts'
import type { Resource } from '../../kube/resource.ts'
import type { ResourceType, ResourceTypes } from '../../kube/resource-type.ts'
import { invalid } from '../../kube/status-error.ts'
import { mastersGroup, type UserInfo } from '../../kube/user.ts'
import type { Lister } from '../../registry/registry.ts'
import {
  bindingResource,
  mutatingBindingResource,
  mutatingPolicyResource,
  type ParamKind,
  type Policy,
  type PolicyBinding,
  policyResource,
} from './types.ts'

export interface PolicyAuthorDeps {
  readonly authorizer: Authorizer
  readonly lister: Lister
  readonly types: ResourceTypes
}

/** The policies that bindings of each resource name. */
const policiesOf: ReadonlyMap<string, Resource<Policy>> = new Map<string, Resource<Policy>>([
  [bindingResource.resource, policyResource],
  [mutatingBindingResource.resource, mutatingPolicyResource],
])
const policies: ReadonlySet<string> = new Set([policyResource.resource, mutatingPolicyResource.resource])

export function policyAuthors(deps: PolicyAuthorDeps): AdmissionPlugin {
  return {
    name: 'AdmissionPolicyAuthors',
    handles: (operation, { group, resource }, subresource) =>
      group === policyResource.group &&
      (operation === 'CREATE' || operation === 'UPDATE') &&
      subresource === '' &&
      (policies.has(resource) || policiesOf.has(resource)),
    validate(a) {
      if (a.object === undefined || a.user.groups.includes(mastersGroup)) return
      const of = policiesOf.get(a.type.resource)
      if (of === undefined) checkPolicy(deps, a, a.object)
      else checkBinding(deps, a, a.object, deps.types.find(of))
    },
  }
}

function checkPolicy({ authorizer, types }: PolicyAuthorDeps, a: Attributes, { metadata, spec }: Policy): void {
  const kind = spec?.paramKind
  if (kind === undefined || jsonEqual(kind, (a.oldObject as Policy | undefined)?.spec?.paramKind)) return
  const { user } = a
  if (authorizer.authorize({ user, verb: 'get', ...resourceOf(kind, types), namespace: '*', name: '*' }).allowed) return
  const why =
    `user ${printUser(user)} must have "get" permission on all objects of the referenced paramKind ` +
    `(kind=${kind.kind}, apiVersion=${kind.apiVersion})`
  throw invalid(a.type, metadata.name ?? '', [fieldForbidden('spec.paramKind', why)])
}

function checkBinding(
  { authorizer, lister, types }: PolicyAuthorDeps,
  a: Attributes,
  { metadata, spec }: PolicyBinding,
  policyType: ResourceType<Policy> | undefined,
): void {
  const ref = spec?.paramRef
  const before = (a.oldObject as PolicyBinding | undefined)?.spec
  if (ref === undefined || (jsonEqual(ref, before?.paramRef) && spec?.policyName === before?.policyName)) return
  const policyName = spec?.policyName ?? ''
  const policy = policyType && lister.find(policyType, '', policyName)?.object
  const kind = policy?.spec?.paramKind
  // Its kind is unknown: a user who may read everything may read it.
  const what = kind ? resourceOf(kind, types) : everything
  const { user } = a
  const { name = '', namespace = '' } = ref
  const verb = name === '' ? 'list' : 'get'
  if (authorizer.authorize({ user, verb, ...what, namespace, name }).allowed) return
  const mayNotReadAll =
    `to determine minimum required permissions and user ${printUser(user)} does not have "${verb}" permission ` +
    'for all groups, versions and resources'
  const why =
    policy === undefined
      ? `unable to get policy ${policyName} ${mayNotReadAll}`
      : kind && what.resource === '*'
        ? `unable to resolve paramKind &{${kind.apiVersion} ${kind.kind}} ${mayNotReadAll}`
        : `user ${printUser(user)} does not have "${verb}" permission on the object referenced by paramRef`
  throw invalid(a.type, metadata.name ?? '', [fieldForbidden('spec.paramRef', why)])
}

const everything: GroupVersionResource = { group: '*', version: '*', resource: '*' }

/** All resources of the group version if no kind of that name is served. */
function resourceOf({ apiVersion = '', kind = '' }: ParamKind, types: ResourceTypes): GroupVersionResource {
  const gv = parseApiVersion(apiVersion)
  return gv ? { ...gv, resource: types.findKind({ ...gv, kind })?.resource ?? '*' } : everything
}

/** As Go prints it: `&{alice  [devs system:authenticated] map[]}`. */
function printUser({ username, uid = '', groups, extra = {} }: UserInfo): string {
  const more = Object.keys(extra)
    .sort()
    .map((key) => `${key}:[${(extra[key] ?? []).join(' ')}]`)
  return `&{${username} ${uid} [${groups.join(' ')}] map[${more.join(' ')}]}`
}
