/** The words of the matrix: what a request is about, what is known of the server, what must be answered. */
import type { Binding, Role } from '../../src/kube/rbac.ts'

export interface Question {
  readonly method: string
  /** `watch=true` in the query. */
  readonly watch: boolean
  /** `watch/` or `list/` after the version. */
  readonly legacy?: 'watch' | 'list'
  readonly group: string
  readonly version: string
  /** `namespaces/{under}/` stands before the resource, with an empty name perhaps. */
  readonly under?: string
  /** Resource, name, sub-resource, and what else follows. */
  readonly parts: readonly string[]
  /** `fieldSelector=metadata.name={pinned}` */
  readonly pinned?: string
}

/** About no resource: discovery, health, the version. */
export interface DocumentQuestion {
  readonly method: string
  readonly document: string
}

export type AnyQuestion = Question | DocumentQuestion

/** What authorization is asked about: an object, a collection, or a path. */
export interface Attributes {
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
}

export type Asked = Attributes | { readonly verb: string; readonly path: string }

/** As discovery shows it. */
export interface ServedType {
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly kind: string
  readonly namespaced: boolean
  readonly custom: boolean
  readonly verbs: readonly string[]
  /** Name → verbs. */
  readonly subresources: ReadonlyMap<string, readonly string[]>
}

/** As the API shows it to an administrator. */
export interface Policy {
  readonly clusterRoles: readonly Role[]
  readonly clusterBindings: readonly Binding[]
  readonly roles: readonly Role[]
  readonly bindings: readonly Binding[]
}

/** What there is to see, and how the server was started. */
export interface Facts {
  readonly policy: Policy
  findType(group: string, version: string, resource: string): ServedType | undefined
  hasGroup(group: string): boolean
  /** Names of objects; of a namespaced type in that namespace, '' = in all. */
  namesOf(type: ServedType, namespace: string): readonly string[]
  readonly namespaces: readonly string[]
  /** Namespace → its creator, for those that wait for an initializer. */
  readonly initializing: ReadonlyMap<string, string>
  readonly listsOwnNamespaces: boolean
}

export interface Refused {
  readonly is: 'refused'
  readonly code: number
  /** Absent = in whatever words. */
  readonly message?: string
  readonly details?: object
}

export interface Allowed {
  readonly is: 'allowed'
  /** The objects that the answer must show, no fewer and no more. */
  readonly shows?: readonly string[]
  /** No write succeeds as long as the namespace initializes. */
  readonly waits?: boolean
}

export type Verdict = Refused | Allowed
