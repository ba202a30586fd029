/**
 * `authorizer.group('apps').resource('deployments').namespace('a').check('create').allowed()`: whether a user may do
 * something. Who decides is brought by the caller, and answers at once.
 * @see k8s.io/apiserver/pkg/cel/library/authz.go v0.36
 */
import { authenticatedGroup, type UserInfo } from '../../kube/user.ts'
import { type Library, method } from '../functions.ts'
import { CelError, OpaqueValue } from '../values.ts'

export interface ResourceCheck {
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
}

export interface CheckDecision {
  readonly allowed: boolean
  readonly reason: string
}

export type Permission = ResourceCheck | { readonly path: string }

/** Asks whether a user may do it. */
export type AskPermission = (user: UserInfo, verb: string, what: Permission) => CheckDecision

abstract class Part extends OpaqueValue {
  /** Questions are equal only if they are the same one. */
  equals(other: OpaqueValue): boolean {
    return other === this
  }
}

export class AuthorizerValue extends Part {
  override readonly typeName = 'kubernetes.authorization.Authorizer'
  readonly user: UserInfo
  readonly ask: AskPermission
  constructor(user: UserInfo, ask: AskPermission) {
    super()
    this.user = user
    this.ask = ask
  }
}

class PathValue extends Part {
  override readonly typeName = 'kubernetes.authorization.PathCheck'
  readonly of: AuthorizerValue
  readonly path: string
  constructor(of: AuthorizerValue, path: string) {
    super()
    this.of = of
    this.path = path
  }
}

class GroupValue extends Part {
  override readonly typeName = 'kubernetes.authorization.GroupCheck'
  readonly of: AuthorizerValue
  readonly group: string
  constructor(of: AuthorizerValue, group: string) {
    super()
    this.of = of
    this.group = group
  }
}

export class ResourceValue extends Part {
  override readonly typeName = 'kubernetes.authorization.ResourceCheck'
  readonly of: AuthorizerValue
  readonly what: ResourceCheck
  constructor(of: AuthorizerValue, what: ResourceCheck) {
    super()
    this.of = of
    this.what = what
  }
  with(change: Partial<ResourceCheck>): ResourceValue {
    return new ResourceValue(this.of, { ...this.what, ...change })
  }
}

class DecisionValue extends Part {
  override readonly typeName = 'kubernetes.authorization.Decision'
  readonly decision: CheckDecision
  constructor(decision: CheckDecision) {
    super()
    this.decision = decision
  }
}

const [authorizer, path, group, resource, decision] = [
  'Authorizer',
  'PathCheck',
  'GroupCheck',
  'ResourceCheck',
  'Decision',
].map((name) => `kubernetes.authorization.${name}`) as [string, string, string, string, string]

const dnsName = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/

function asServiceAccount(of: AuthorizerValue, namespace: string, name: string): AuthorizerValue {
  if (!dnsName.test(name) || name.length > 253) throw new CelError('Invalid service account name')
  if (!dnsName.test(namespace) || namespace.length > 63) throw new CelError('Invalid service account namespace')
  const user: UserInfo = {
    username: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, authenticatedGroup],
  }
  return new AuthorizerValue(user, of.ask)
}

export const authorizerLibrary: Library = [
  method('authorizer_path', 'path', [`${authorizer}, string`, path], (of: AuthorizerValue, p: string) => {
    if (p === '') throw new CelError('path must not be empty')
    return new PathValue(of, p)
  }),
  method('authorizer_group', 'group', [`${authorizer}, string`, group], (of: AuthorizerValue, g: string) => {
    return new GroupValue(of, g)
  }),
  method(
    'authorizer_serviceaccount',
    'serviceAccount',
    [`${authorizer}, string, string`, authorizer],
    asServiceAccount,
  ),
  method('groupcheck_resource', 'resource', [`${group}, string`, resource], (g: GroupValue, name: string) => {
    return new ResourceValue(g.of, { group: g.group, resource: name, subresource: '', namespace: '', name: '' })
  }),
  method(
    'resourcecheck_subresource',
    'subresource',
    [`${resource}, string`, resource],
    (r: ResourceValue, s: string) => {
      return r.with({ subresource: s })
    },
  ),
  method('resourcecheck_namespace', 'namespace', [`${resource}, string`, resource], (r: ResourceValue, n: string) => {
    return r.with({ namespace: n })
  }),
  method('resourcecheck_name', 'name', [`${resource}, string`, resource], (r: ResourceValue, n: string) => {
    return r.with({ name: n })
  }),
  // Our authorizer knows no selectors; without them it may only say no where it could say yes.
  method('resourcecheck_field_selector', 'fieldSelector', [`${resource}, string`, resource], (r: ResourceValue) => r),
  method('resourcecheck_label_selector', 'labelSelector', [`${resource}, string`, resource], (r: ResourceValue) => r),
  method('pathcheck_check', 'check', [`${path}, string`, decision], ({ of, path: p }: PathValue, verb: string) => {
    return new DecisionValue(of.ask(of.user, verb, { path: p }))
  }),
  method(
    'resourcecheck_check',
    'check',
    [`${resource}, string`, decision],
    ({ of, what }: ResourceValue, verb: string) => {
      return new DecisionValue(of.ask(of.user, verb, what))
    },
  ),
  method('decision_errored', 'errored', [decision, 'bool'], () => false),
  method('decision_error', 'error', [decision, 'string'], () => ''),
  method('decision_allowed', 'allowed', [decision, 'bool'], (d: DecisionValue) => d.decision.allowed),
  method('decision_reason', 'reason', [decision, 'string'], (d: DecisionValue) => d.decision.reason),
]
