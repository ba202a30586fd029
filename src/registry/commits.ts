/**
 * From a finished object to a durable one: decide, commit, and again if somebody came in between.
 *
 *   decide ──▶ commit ──▶ wait until durable ──▶ wait until the cache shows it ──▶ done
 *     ▲          │
 *     │          ├─ a guard or an extra write lost: catch up, decide again (webhooks are not called again)
 *     │          └─ the object itself lost: the caller's turn (exists already, or from the transform again)
 *     └─ a refusal is believed only from a cache that has caught up with the store since the request came
 *
 * Deciding and calling `commit` is one synchronous section; see `admission/admission.ts` and `commit-lane.ts`.
 */
import type {
  Companions,
  ContentChange,
  DecidedWrite,
  DecisionView,
  QueuedChange,
  Seen,
} from '../admission/admission.ts'
import type { Clock, Timer } from '../base/clock.ts'
import { objectKey, parseObjectKey } from '../kube/object-key.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import { encodeStored } from '../kube/stored-form.ts'
import type { KubeObject } from '../kube/types.ts'
import {
  type Commit,
  type Entry,
  type Guard,
  maxOperations,
  maxTransactionBytes,
  type PendingCommit,
  type Revision,
  type Storage,
  type Ticket,
  type Transaction,
} from '../storage/storage.ts'
import type { WatchCache } from '../watch/watch-cache.ts'
import type { AdmissionChain, MergedDecision } from './admission-chain.ts'
import { CommitLane } from './commit-lane.ts'
import { completed, decideTogether, type Together } from './decide-together.ts'
import { gaveUp } from './errors.ts'
import type { FoldedCommits } from './folded-commits.ts'
import type { ObjectWrite } from './object-write.ts'
import { QueuedContent } from './queued-content.ts'
import { leftBy, SeenValue } from './seen-value.ts'

const sizeOf = ({ own, extra }: Together): number => own.length + extra.length

/** Guards that are lost again and again are somebody's business that need not hold up a namespace. */
const triesTogether = 3

/** Time enough for a webhook or two; short against the patience of those who wait. */
const longestTurnMs = 1000

export type Outcome =
  /** `value`: what was written, as a decision may have completed it; undefined = it was removed. */
  | { readonly done: true; readonly revision: Revision; readonly value?: Uint8Array | undefined }
  /** The object is not as expected: this is what is there now, and the cache has caught up with it. */
  | { readonly done: false; readonly current: Entry | undefined }

export class Commits {
  readonly #storage: Storage
  readonly #cache: WatchCache
  readonly #clock: Clock
  readonly #chain: AdmissionChain
  readonly #folded: FoldedCommits | undefined
  readonly #lane = new CommitLane()
  readonly #content = new QueuedContent()
  readonly #view: DecisionView = {
    see: (type, namespace, name) => this.#see(type, namespace, name),
    queuedIn: (namespace) => this.#queuedIn(namespace),
  }

  /** `folded`: for a store that several processes write to. */
  constructor(parts: {
    storage: Storage
    cache: WatchCache
    clock: Clock
    chain: AdmissionChain
    folded?: FoldedCommits | undefined
  }) {
    this.#storage = parts.storage
    this.#folded = parts.folded
    this.#cache = parts.cache
    this.#clock = parts.clock
    this.#chain = parts.chain
  }

  /** @throws StatusError of a plugin, or ServerTimeout after the deadline. */
  async write(write: ObjectWrite): Promise<Outcome> {
    const undo: (() => Promise<void>)[] = []
    let caughtUp = false
    let done = false
    try {
      for (;;) {
        let decision: MergedDecision
        try {
          decision = this.#chain.decide(write.attributes, write.change, this.#view)
        } catch (e) {
          if (caughtUp) throw e
          await this.#cache.refresh()
          caughtUp = true
          continue
        }
        if (decision.wait === undefined && decision.begin) {
          const undoing = await decision.begin()
          if (undoing) undo.push(undoing)
          this.#checkDeadline(write)
          continue
        }
        const wait = decision.wait ?? this.#lane.heldUntil(write.key, decision.writes)
        if (wait) {
          await this.#within(write, wait)
          this.#checkDeadline(write)
          continue
        }
        const own = [decision.object === undefined ? write : completed(write, decision.object)]
        const pending = this.#queue(decision.guards, own, decision.writes)
        const known = this.#announce(own, decision.writes)
        const commit = await this.#settled(pending, decision.writes.length).finally(known)
        done = commit.ok
        if (commit.ok) return { done: true, revision: commit.revision, value: own[0]?.value }
        if (commit.current.has(write.key)) return { done: false, current: commit.current.get(write.key) }
        this.#checkDeadline(write)
      }
    } finally {
      if (!done) for (const undoing of undo) await undoing()
    }
  }

  /** Whether a write that changes nothing of the object must be made all the same. */
  owes(change: ContentChange): boolean {
    return this.#chain.owes(change, this.#view)
  }

  /** Until the answer is called, whoever sees in the cache what is stored here need not parse it. */
  #announce(own: readonly ObjectWrite[], extra: readonly DecidedWrite[]): () => void {
    const known: (() => void)[] = []
    const announce = (
      type: ResourceType | undefined,
      value: Uint8Array | undefined,
      object: KubeObject | undefined,
    ): void => {
      if (type === undefined || value === undefined || object === undefined || type.conversion !== undefined) return
      known.push(this.#cache.announce(value, type, object))
    }
    for (const { change, value } of own) announce(change.type, value, change.after)
    for (const { change, type, value, object } of extra) announce(type ?? change?.type, value, object)
    return () => {
      for (const forget of known) forget()
    }
  }

  /**
   * Removals as one transaction, so that each account is charged once for all of them. False = not like this: one is
   * not as expected, is refused or has to wait; nothing has happened then. Not retried.
   */
  async removeTogether(removals: readonly ObjectWrite[]): Promise<boolean> {
    const decided = decideTogether(this.#chain, this.#view, removals)
    if (decided === undefined) return false
    const pending = this.#queueTogether(decided)
    return pending !== undefined && (await this.#settled(pending, sizeOf(decided) - 1)).ok
  }

  /**
   * A namespace and what is created along with it, as one transaction. undefined = not like this, as above: then the
   * namespace is to be written alone.
   */
  async createTogether(
    namespace: ObjectWrite,
    objects: readonly ObjectWrite[],
    companions: Pick<Companions, 'decide' | 'stored'>,
  ): Promise<Outcome | undefined> {
    const wanted = [namespace, ...objects]
    const besides = { newNamespace: namespace.change.name, decide: (view: DecisionView) => companions.decide(view) }
    for (let tries = 0; tries < triesTogether; tries++) {
      // Of a former one of that name content may be shown too, and quotas would count it.
      if (this.#shownBytes(namespace.key) !== undefined) return undefined
      const decided = decideTogether(this.#chain, this.#view, wanted, besides)
      const pending = decided && this.#queueTogether(decided)
      if (decided === undefined || pending === undefined) return undefined
      const known = this.#announce(decided.own, decided.extra)
      const commit = await this.#settled(pending, sizeOf(decided) - 1, () => companions.stored()).finally(known)
      if (commit.ok) return { done: true, revision: commit.revision, value: decided.own[0]?.value }
      if (commit.current.has(namespace.key)) return { done: false, current: commit.current.get(namespace.key) }
      if (objects.some(({ key }) => commit.current.has(key))) return undefined
    }
    return undefined
  }

  /** undefined = it is too much for a transaction, or has to wait for its turn. */
  #queueTogether({ guards, own, extra }: Together): PendingCommit | undefined {
    const writes = [...own, ...extra]
    const sizeBytes = writes.reduce((sum, { value }) => sum + (value?.byteLength ?? 0), 0)
    if (guards.length + writes.length > maxOperations || sizeBytes > maxTransactionBytes) return undefined
    if (this.#lane.heldUntil('', extra)) return undefined
    return this.#queue(guards, own, extra)
  }

  /**
   * Runs `attempt` while others who want the same turn, and decisions that would write the object (a quota) along with
   * something else, wait; for a second at most. For whoever has lost the race for the object before.
   */
  async inTurn<T>(key: string, attempt: () => Promise<T>): Promise<T> {
    const hold = await this.#lane.hold(key)
    const timer = this.#clock.after(longestTurnMs, () => hold.release())
    try {
      return await attempt()
    } finally {
      timer.cancel()
      hold.release()
    }
  }

  /** What `write` would answer, without writing. */
  async rehearse(write: ObjectWrite): Promise<Outcome> {
    await this.#cache.refresh()
    const { object } = this.#chain.decide(write.attributes, write.change, this.#view)
    const value = object && encodeStored(object, write.change.type)
    const place = parseObjectKey(write.key)
    const there = place && this.#cache.type(place.storageName).findKey(place.relative)
    if ((there?.revision ?? 'absent') === write.expect) {
      return { done: true, revision: there?.revision ?? 0, value }
    }
    return { done: false, current: there && { key: write.key, value: there.bytes, revision: there.revision } }
  }

  #queue(guards: readonly Guard[], own: readonly ObjectWrite[], extra: readonly DecidedWrite[]): PendingCommit {
    const writes = [...own, ...extra].map(({ key, value, expect }) => ({ key, value, expect }))
    const transaction: Transaction = { guards, writes }
    const shown = extra.filter((w) => !w.hidden)
    const pending = this.#folded?.commit(transaction, shown.length > 0) ?? this.#storage.commit(transaction)
    this.#lane.queued(pending.ticket, shown)
    this.#content.queued(pending.ticket, own)
    return pending
  }

  /**
   * When it is durable and the cache shows it, or is not older than what refused it. `more`: writes after the first.
   */
  async #settled(pending: PendingCommit, more: number, durable?: () => void): Promise<Commit> {
    let commit: Commit
    try {
      commit = await pending.done
      if (commit.ok) durable?.()
    } catch (e) {
      this.#failed(pending.ticket)
      throw e
    }
    if (commit.ok) {
      const last = commit.revision + more
      if (!this.#cache.reached(last)) await this.#cache.applied(last)
      this.#lane.done(pending.ticket)
      this.#content.settled(pending.ticket)
      return commit
    }
    this.#failed(pending.ticket)
    await this.#catchUp(commit.current)
    return commit
  }

  #failed(ticket: Ticket): void {
    this.#lane.failed(ticket)
    this.#content.settled(ticket)
  }

  /** The cache must not be older than what refused us, or the next decision would be the same. */
  async #catchUp(current: ReadonlyMap<string, Entry | undefined>): Promise<void> {
    let newest = 0
    for (const entry of current.values()) {
      // Where a key is gone, nothing says since when.
      if (!entry) {
        await this.#cache.refresh()
        return
      }
      newest = Math.max(newest, entry.revision)
    }
    if (!this.#cache.reached(newest)) await this.#cache.applied(newest)
  }

  /** Until `wait` settles, but not beyond the deadline. */
  async #within(write: ObjectWrite, wait: Promise<unknown>): Promise<void> {
    let timer: Timer | undefined
    const late = new Promise<void>((resolve) => {
      timer = this.#clock.after(Math.max(0, write.deadlineMs - this.#clock.monotonic()), resolve)
    })
    try {
      await Promise.race([wait, late])
    } finally {
      timer?.cancel()
    }
  }

  #checkDeadline(write: ObjectWrite): void {
    if (this.#clock.monotonic() < write.deadlineMs) return
    throw gaveUp(write.attributes.operation, write.attributes.type.resource)
  }

  #see(type: ResourceType, namespace: string, name: string): Seen {
    const key = objectKey(type.storageName, namespace, name)
    const queued = this.#lane.head(key)
    if (queued) return leftBy(queued, { asLeftBy: queued.ticket }, type)
    const version = this.#cache.type(type.storageName).find(namespace, name)
    return new SeenValue(key, version?.revision ?? 'absent', () => version?.as(type).object)
  }

  #queuedIn(namespace: string): readonly QueuedChange[] | undefined {
    // Where others write to the store too, nobody here knows what they have queued.
    if (this.#folded !== undefined || this.#storage.ownRevision === undefined) return undefined
    return this.#content.of(namespace, (key) => this.#shownBytes(key))
  }

  #shownBytes(key: string): Uint8Array | undefined {
    const place = parseObjectKey(key)
    return place && this.#cache.type(place.storageName).findKey(place.relative)?.bytes
  }
}
