/**
 * What stands between a valid request and the store.
 *
 * All `mutate` halves run first, in the order of the list in `app/catalog.ts`; then the object is validated; then all
 * `validate` halves; then all `decide` halves, inside the compare-and-swap loop, as often as a guard is lost.
 */
import type { KubeObject } from '../kube/types.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import type { UserInfo } from '../kube/user.ts'
import type { Guard, Write } from '../storage/storage.ts'

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE'

export interface Attributes {
  readonly operation: Operation
  readonly type: ResourceType
  readonly subresource: string
  /** For namespaces themselves: their own name. */
  readonly namespace: string
  /** Empty for a create by generateName (until named) and for deletecollection. */
  readonly name: string
  /** The object as it would be stored; undefined for DELETE. */
  readonly object: KubeObject | undefined
  readonly oldObject: KubeObject | undefined
  readonly user: UserInfo
  readonly dryRun: boolean
  /** The request's body as an options object: CreateOptions, UpdateOptions, DeleteOptions. */
  readonly options: Readonly<Record<string, unknown>>
  warn(text: string): void
}

/** What must hold at commit, and what else is written with it (DECISIONS 8: a closed list). */
export interface Decision {
  readonly guards?: readonly Guard[]
  readonly writes?: readonly Write[]
}

export interface AdmissionPlugin {
  readonly name: string
  handles(operation: Operation, type: ResourceType, subresource: string): boolean
  /** Returns a new object, or undefined for no change. Never changes `attributes.object` in place. */
  mutate?(attributes: Attributes): Promise<KubeObject | undefined>
  /** @throws StatusError */
  validate?(attributes: Attributes): Promise<void>
  /** May be called again after a lost guard; so no side effects. @throws StatusError */
  decide?(attributes: Attributes): Promise<Decision>
}
