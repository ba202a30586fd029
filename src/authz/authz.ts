/**
 * Who may do what. Decisions are synchronous: they are made from an index that follows the store, never from the store.
 */
import type { FieldSelector } from '../kube/field-selector.ts'
import type { LabelSelector } from '../kube/label-selector.ts'
import type { UserInfo } from '../kube/user.ts'

export interface ResourceAttributes {
  readonly verb: string
  readonly group: string
  readonly version?: string
  readonly resource: string
  readonly subresource?: string
  /** '' = cluster scope, or all namespaces. */
  readonly namespace: string
  /** '' = no particular object. */
  readonly name: string
  /** What of a collection is asked for, where an access review says so. RBAC can't tell. */
  readonly fieldSelector?: FieldSelector
  readonly labelSelector?: LabelSelector
}

export interface NonResourceAttributes {
  readonly verb: string
  readonly path: string
}

export type AuthzAttributes =
  | ({ readonly user: UserInfo } & ResourceAttributes & { readonly path?: undefined })
  | ({ readonly user: UserInfo } & NonResourceAttributes)

export interface AuthzDecision {
  readonly allowed: boolean
  /** Why allowed, or what went wrong on the way to 'no'; may be empty. */
  readonly reason: string
}

/** Asks the authorizers beyond RBAC. @throws StatusError InternalError if there is no answer, as upstream */
export type AskElsewhere = (attributes: AuthzAttributes) => Promise<AuthzDecision>

export interface ResourceRule {
  readonly verbs: readonly string[]
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly resourceNames?: readonly string[]
}

export interface NonResourceRule {
  readonly verbs: readonly string[]
  readonly nonResourceURLs: readonly string[]
}

export interface RuleSet {
  readonly resourceRules: readonly ResourceRule[]
  readonly nonResourceRules: readonly NonResourceRule[]
  readonly incomplete: boolean
  readonly evaluationError?: string
}

export interface Authorizer {
  authorize(attributes: AuthzAttributes): AuthzDecision
  /** What a user may do in a namespace, cluster-wide rules included. */
  rulesFor(user: UserInfo, namespace: string): RuleSet
}
