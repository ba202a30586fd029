/**
 * Kinds that are questions: created, answered, never stored. `authorization.k8s.io/v1` and `authentication.k8s.io/v1`.
 */
import type { Slice } from '../../base/turns.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { UserInfo } from '../../kube/user.ts'

export const authorizationGroup = 'authorization.k8s.io'
export const authenticationGroup = 'authentication.k8s.io'

/** Who asks, and what the URL says. */
export interface ReviewContext {
  readonly user: UserInfo
  /** '' for cluster-scoped kinds. */
  readonly namespace: string
  /** Of the object whose sub-resource it is (`serviceaccounts/x/token`); else ''. */
  readonly name: string
  /** Where the question is large: what takes long to judge it asks for pauses. */
  readonly slice?: Slice | undefined
  warn(text: string): void
}

/**
 * The answer to a create, to be sent with 201: the question, with a status. `question` is decoded and defaulted; it is
 * not changed. @throws StatusError
 */
export type ReviewHandler = (question: KubeObject, context: ReviewContext) => Promise<KubeObject>

/** One requirement of either selector. */
export interface SelectorRequirementSpec {
  readonly key?: string
  /** In, NotIn, Exists, DoesNotExist, or what newer clients know. */
  readonly operator?: string
  readonly values?: readonly string[]
}

/** FieldSelectorAttributes, LabelSelectorAttributes */
export interface SelectorAttributesSpec {
  /** The query parameter as it stands. */
  readonly rawSelector?: string
  readonly requirements?: readonly SelectorRequirementSpec[]
}

export interface ResourceAttributesSpec {
  readonly namespace?: string
  readonly verb?: string
  readonly group?: string
  readonly version?: string
  readonly resource?: string
  readonly subresource?: string
  readonly name?: string
  readonly fieldSelector?: SelectorAttributesSpec
  readonly labelSelector?: SelectorAttributesSpec
}

export interface NonResourceAttributesSpec {
  readonly path?: string
  readonly verb?: string
}

/** SelfSubjectAccessReviewSpec; SubjectAccessReviewSpec adds who. */
export interface AccessReviewSpec {
  readonly resourceAttributes?: ResourceAttributesSpec
  readonly nonResourceAttributes?: NonResourceAttributesSpec
  readonly user?: string
  readonly groups?: readonly string[]
  readonly uid?: string
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

export interface TokenReviewSpec {
  readonly token?: string
  readonly audiences?: readonly string[]
}

export interface TokenRequestSpec {
  readonly audiences?: readonly string[]
  readonly expirationSeconds?: number
  readonly boundObjectRef?: {
    readonly kind?: string
    readonly apiVersion?: string
    readonly name?: string
    readonly uid?: string
  }
}

/** Who bears the token; undefined or Unauthorized = no user that is known here. `audiences` absent = this server. */
export type AuthenticateToken = (credentials: {
  readonly bearerToken: string
  readonly audiences?: readonly string[]
}) => Promise<UserInfo | undefined>
