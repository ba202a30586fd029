/**
 * The shapes every Kubernetes object shares. Objects travel as plain JSON values; what is in `spec` is known to the
 * schema of its kind, not to TypeScript.
 */

export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue }
export type JsonObject = { [key: string]: JsonValue }

export interface OwnerReference {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean
  blockOwnerDeletion?: boolean
}

export interface ManagedFieldsEntry {
  manager?: string
  operation?: string
  apiVersion?: string
  time?: string
  fieldsType?: string
  fieldsV1?: JsonObject
  subresource?: string
}

export interface ObjectMeta {
  name?: string
  generateName?: string
  namespace?: string
  selfLink?: string
  uid?: string
  resourceVersion?: string
  generation?: number
  creationTimestamp?: string | null
  deletionTimestamp?: string
  deletionGracePeriodSeconds?: number
  labels?: Record<string, string>
  annotations?: Record<string, string>
  ownerReferences?: OwnerReference[]
  finalizers?: string[]
  managedFields?: ManagedFieldsEntry[]
}

declare const notValidated: unique symbol

export interface KubeObject {
  apiVersion?: string
  kind?: string
  metadata: ObjectMeta
  [field: string]: unknown
  /** Keeps what is not validated yet from being taken for an object. Exists for the type checker only. */
  readonly [notValidated]?: false
}

/**
 * An object between decoding and validation. The decoder has made sure of the types of its fields, and has put a zero
 * value where a list or a map holds null, as Go's does. But every field may be absent or null, whatever validation will
 * say to that: defaulting, mutating admission and strategies run before it, so they get this type. It can't be cast to
 * `T`; `assumeValid` (`unvalidated.ts`) makes a `T` of it where the registry validates.
 */
export type Unvalidated<T extends KubeObject = KubeObject> = {
  [K in keyof T as K extends 'apiVersion' | 'kind' | 'metadata' | typeof notValidated ? never : K]?: MaybeAbsent<T[K]>
} & {
  apiVersion?: string
  kind?: string
  metadata: ObjectMeta
  readonly [notValidated]: true
}

/** Below the top of an unvalidated object: structs without any required field, fields that may be null. */
export type MaybeAbsent<V> = V extends readonly (infer Item)[]
  ? readonly NonNullable<MaybeAbsent<Item>>[] | null
  : V extends object
    ? { [K in keyof V]?: MaybeAbsent<V[K]> } | null
    : V | null

export interface ListMeta {
  resourceVersion?: string
  continue?: string
  remainingItemCount?: number
}

export interface KubeList<T extends KubeObject = KubeObject> {
  apiVersion: string
  kind: string
  metadata: ListMeta
  items: T[]
}

export interface StatusCause {
  reason?: string
  message?: string
  field?: string
}

export interface StatusDetails {
  name?: string
  group?: string
  kind?: string
  uid?: string
  causes?: StatusCause[]
  retryAfterSeconds?: number
}

/** metav1.Status */
export interface Status {
  kind: 'Status'
  apiVersion: 'v1'
  metadata: ListMeta
  status: 'Success' | 'Failure'
  message?: string
  reason?: string
  details?: StatusDetails
  code?: number
}

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
