/**
 * What stands between a valid request and the store.
 *
 * All `mutate` halves run first, in the order of the list in `admission-order.ts`; where one asks for it, those up
 * to the last plugin that may ask run a second time. Then the object is validated; then all `validate` halves; then all
 * `decide` halves, inside the compare-and-swap loop, as often as a guard is lost.
 *
 * `decide` and the call of `commit` are one synchronous section: no other decision of this process comes between. So a
 * decision can stand on writes that are queued but not yet durable (`DecisionView`), which is what lets many creators
 * of one namespace charge the same quota without losing to each other (lanes, DECISIONS 2).
 */

import type { Eventual } from '../base/eventual.ts'
import type { Slice } from '../base/turns.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import type { KubeObject, Unvalidated } from '../kube/types.ts'
import type { UserInfo } from '../kube/user.ts'
import type { Expect, Guard, Write } from '../storage/storage.ts'

export type { Guard }

/** CONNECT: what is not about the stored object (`pods/exec`). `object` is then the options of the connection. */
export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** The client side of a request. Its signal is made when first asked for: few plugins ask. */
export interface Caller {
  /** Aborts when they have gone away. */
  readonly signal: AbortSignal
  /**
   * What `wait` comes to. Meanwhile the request takes nothing from others: it waits for a remote party. Absent where no
   * client is behind it. @throws StatusError TooManyRequests if the request may not go on now
   */
  outside?<T>(wait: Promise<T>): Promise<T>
  /**
   * The slice in which work on something large goes on, when it is the caller's turn. Absent where no client is behind
   * it, who would have to wait. @throws StatusError TooManyRequests
   */
  beginLong?(): Eventual<Slice> | undefined
  /** Where much was sent, or long work has begun: to be asked between two passes over it. */
  readonly slice?: Slice | undefined
}

/** @typeParam O the object: not validated yet where plugins mutate it */
export interface Attributes<O = KubeObject> {
  readonly operation: Operation
  readonly type: ResourceType
  readonly subresource: string
  /** For namespaces themselves: their own name. */
  readonly namespace: string
  /** Empty for a create by generateName, until named. */
  readonly name: string
  /** Absent = false. A deletecollection is asked about object by object. */
  readonly ofCollection?: boolean | undefined
  /** The object as it would be stored; undefined for DELETE. */
  readonly object: O | undefined
  readonly oldObject: KubeObject | undefined
  readonly user: UserInfo
  readonly dryRun: boolean
  /** The request's body as an options object: CreateOptions, UpdateOptions, DeleteOptions. */
  readonly options: Readonly<Record<string, unknown>>
  warn(text: string): void
  /** For the audit log. The first value of a key stays. */
  annotate(key: string, value: string): void
  readonly caller: Caller
  /** Where the object is large: what takes long to judge it asks for pauses. */
  readonly slice?: Slice | undefined
  /** On the wall clock: until when they wait. undefined = as long as it takes. */
  readonly deadlineMs?: number | undefined
  /** Absent where the namespace, if there is one, is stored: the cache shows it, or will. */
  readonly pendingScope?: PendingScope | undefined
}

/** The object that opens a namespace, where both are created in one transaction: no cache shows it before. */
export interface PendingScope {
  readonly object: KubeObject
  /** What is created in it may as well be created afterwards. */
  readonly mayWait: boolean
}

/** Thrown by a plugin that can judge an object only when its namespace is stored; only where `mayWait`. */
export class NeedsStoredScope extends Error {
  override readonly name = 'NeedsStoredScope'
}

/** One write's way through the `mutate` halves. */
export interface MutationRound {
  readonly isSecond: boolean
  /** Lets all plugins up to the last one that may ask have a second say. In the second round it does nothing. */
  askForSecond(): void
  /** What a plugin keeps from the first round to the second. */
  memory<T>(plugin: string, make: () => T): T
}

/** An extra write of a decision. `object` spares the next decision of the lane a parse of `value`. */
export interface DecidedWrite extends Write {
  readonly object?: KubeObject
  /** Of `object`: with it, readers of `value` in the cache need not parse it either. */
  readonly type?: ResourceType
  /** What it means to accountants of content; absent where there are none. */
  readonly change?: ContentChange
  /** True = no decision stands on it before it is durable. */
  readonly hidden?: boolean
}

/** What must hold at commit, and what else is written with it (DECISIONS 8: a closed list). */
export interface Decision {
  readonly guards?: readonly Guard[]
  readonly writes?: readonly DecidedWrite[]
  /** Nothing can be decided before this settles; then all plugins decide again. */
  readonly wait?: Promise<unknown>
  /**
   * Work that must be done before it can be decided; then all plugins decide again. Not done for a dry run. Answers
   * how to undo it, should the write not come after all.
   */
  readonly begin?: () => Promise<(() => Promise<void>) | undefined>
  /** Instead of the object that was to be written: with what only the server can fill in at this moment. */
  readonly object?: KubeObject
}

/** One object as a decision may rely on it. */
/** @typeParam T the object */
export interface Seen<T extends KubeObject = KubeObject> {
  readonly key: string
  /** Shared: never change it. */
  readonly object: T | undefined
  /** Put it into a guard or write of `key`, and the decision holds only if no other write comes between. */
  readonly expect: Expect
}

/** The cache, with the queued extra writes of this process on top. Valid only during the call it is passed to. */
export interface DecisionView {
  see<T extends KubeObject>(type: ResourceType<T>, namespace: string, name: string): Seen<T>
  /**
   * Changes of what is in the namespace that are queued and not in the cache yet. A plugin that counts them guards
   * them. undefined = there may be others.
   */
  queuedIn(namespace: string): readonly QueuedChange[] | undefined
}

/**
 * What admission adds to a create, in its transaction. Each object is admitted, validated, decided and charged as if
 * `user` had created it.
 */
export interface AlsoCreate {
  readonly user: UserInfo
  readonly fieldManager: string
  /** Complete and defaulted, with their managedFields; handed over. */
  readonly objects: readonly { readonly type: ResourceType; readonly object: KubeObject }[]
  /** The namespace that the first object opens, and that these are in. Absent = it opens none. */
  readonly opens?: string
  /** Absent = they are required: a refusal of one of them refuses the whole create. */
  readonly bestEffort?: BestEffort
}

/** Where one of the objects is refused or has to wait, the first object is created without them. */
export interface BestEffort {
  /** The first object, as an update would make it once they are all there. */
  readonly first: KubeObject
  /** Told once when they are durable. */
  stored(): void
  /**
   * What must hold at the commit, and what else is written with it; the rules of `AdmissionPlugin.decide`. The view
   * shows the first object and these as they will be stored. undefined = created without them.
   */
  decide(view: DecisionView): Decision | undefined
}

export type AdmissionHalf = 'mutate' | 'validate' | 'createAlso' | 'decide'

export interface AdmissionPlugin {
  readonly name: string
  /** True = its `mutate` may ask for a second round. */
  readonly mayAskForSecond?: boolean
  /**
   * Asked once for each (operation, type, sub-resource), and again only after `onHandlesChange`. May name the halves
   * that have a say; true = all that there are.
   */
  handles(operation: Operation, type: ResourceType, subresource: string): boolean | readonly AdmissionHalf[]
  /** Where `handles` depends on stored objects: calls back when they change, before a client can see the change. */
  onHandlesChange?(listener: () => void): void
  /** Returns a new object, or undefined for no change. Never changes `attributes.object` in place. */
  mutate?(attributes: Attributes<Unvalidated>, round: MutationRound): Eventual<Unvalidated | undefined>
  /** @throws StatusError */
  validate?(attributes: Attributes): void | Promise<void>
  /** Of an object that is being created, after all have validated it. undefined = nothing. */
  createAlso?(attributes: Attributes): AlsoCreate | undefined
  /**
   * Synchronous and without side effects: it is called again after a lost guard, and once more, from a cache that has
   * caught up with the store, before a refusal is believed. @throws StatusError
   */
  decide?(attributes: Attributes, view: DecisionView): Decision
}

/** How one commit changes one object, whatever request caused it. */
export interface ContentChange {
  readonly type: ResourceType
  readonly namespace: string
  readonly name: string
  /** By way of which it is changed; '' or absent = as a whole. */
  readonly subresource?: string
  /** undefined = created. Parsed when first read. */
  readonly before: KubeObject | undefined
  /** undefined = removed. */
  readonly after: KubeObject | undefined
}

/** As a guard it says: that change happened, and no write has touched the object since. */
export interface QueuedChange extends Guard {
  readonly change: ContentChange
}

/** Keeps a running account of content (quota): asked at every commit, removals and `/status` included (DECISIONS 9). */
export interface Accountant {
  /** Asked once for each type, and again only after `onHandlesChange`. */
  handles(type: ResourceType): boolean
  /** As `AdmissionPlugin.onHandlesChange`. */
  onHandlesChange?(listener: () => void): void
  /** Same rules as `AdmissionPlugin.decide`. `along`: what plugins and accountants before it write with the change. */
  account(change: ContentChange, view: DecisionView, along: readonly DecidedWrite[]): Decision
  /** Whether something must be written along with an object that stays as it is: then it is written, and accounted. */
  owes?(change: ContentChange, view: DecisionView): boolean
}
