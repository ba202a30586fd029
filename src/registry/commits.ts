/**
 * From a finished object to a durable one: decide, commit, and again if another write came between.
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
  Attributes,
  BestEffort,
  ContentChange,
  DecidedWrite,
  Decision,
  DecisionView,
  QueuedChange,
  Seen,
} from '../admission/admission.ts'
import type { Clock, Timer } from '../base/clock.ts'
import { objectKey, parseObjectKey } from '../kube/object-key.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import { alreadyExists, findStatusError } from '../kube/status-error.ts'
import type { KubeObject } from '../kube/types.ts'
import {
  type Commit,
  type Entry,
  maxOperations,
  maxTransactionBytes,
  type Revision,
  type Storage,
  type Transaction,
  type Write,
} from '../storage/storage.ts'
import type { WatchCache } from '../watch/watch-cache.ts'
import type { AdmissionChain } from './admission-chain.ts'
import { CommitLane } from './commit-lane.ts'
import {
  completeWrite,
  type DecidedTransaction,
  decideTransaction,
  type Postponed,
  type TransactionDecision,
  type TransactionOptions,
} from './decide-transaction.ts'
import { gaveUp } from './errors.ts'
import type { FoldedCommits } from './folded-commits.ts'
import type { ObjectWrite } from './object-write.ts'
import { type Queued, QueuedContent } from './queued-content.ts'
import { leftBy, SeenValue } from './seen-value.ts'

export interface OtherWrites {
  readonly writes: readonly ObjectWrite[]
  /** See `TransactionOptions`. */
  readonly opens?: string | undefined
}

const none: OtherWrites = { writes: [] }

/** A best effort whose guards are lost again and again must not hold up the rest. */
const mostTries = 3

/** Time enough for a webhook or two; short against the patience of clients. */
const longestTurnMs = 1000

export type Outcome<W extends ObjectWrite = ObjectWrite> =
  /** `value`: what was written, as a decision may have completed it; undefined = it was removed. */
  | { readonly done: true; readonly revision: Revision; readonly value: W['value'] }
  /** The object is not as expected: this is what is there now, and the cache has caught up with it. */
  | { readonly done: false; readonly current: Entry | undefined }

export class Commits implements DecisionView {
  readonly #storage: Storage
  readonly #cache: WatchCache
  readonly #clock: Clock
  readonly #chain: AdmissionChain
  readonly #folded: FoldedCommits | undefined
  readonly #lane = new CommitLane()
  readonly #content = new QueuedContent()

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

  /**
   * The outcome is that of `first`. `others` are written in its transaction, which is refused if one of them is.
   * @throws StatusError of a plugin; AlreadyExists, where one of the others does; ServerTimeout after the deadline
   */
  async write<W extends ObjectWrite>(first: W, others: OtherWrites = none): Promise<Outcome<W>> {
    // Of a former namespace of that name the cache may show content too, and quotas would count it.
    if (others.opens !== undefined && this.#shownBytes(first.key) !== undefined) await this.#cache.refresh()
    const undo: (() => Promise<void>)[] = []
    let caughtUp = false
    let done = false
    try {
      for (;;) {
        let decision: TransactionDecision
        try {
          decision = this.#decide(first, others)
          if (decision === 'contradiction') throw new Error(`${first.key} and the rest can't be one transaction`)
        } catch (e) {
          if (caughtUp) throw e
          await this.#cache.refresh()
          caughtUp = true
          continue
        }
        if (!('own' in decision)) {
          await this.#awaitPostponed(triedOf(first), decision, undo)
          continue
        }
        const held = decision.extra.length === 0 ? undefined : this.#lane.heldUntil(first.key, decision.extra)
        if (held !== undefined) {
          await this.#within(triedOf(first), held)
          continue
        }
        const commit = await this.#commit(decision)
        done = commit.ok
        if (commit.ok) return { done: true, revision: commit.revision, value: decision.own[0]?.value ?? first.value }
        if (commit.current.has(first.key)) return { done: false, current: commit.current.get(first.key) }
        for (const { key, change } of others.writes)
          if (commit.current.has(key)) throw alreadyExists(change.type, change.name)
        this.#checkDeadline(triedOf(first))
      }
    } finally {
      if (!done) for (const undoing of undo) await undoing()
    }
  }

  /**
   * Writes records of the server, decided as writes of objects are: on what is queued, and again after a lost guard.
   * Nothing is written where `decide` answers undefined. @throws StatusError ServerTimeout after `giveUpAfterMs`
   */
  async writeRecords(decide: (view: DecisionView) => Decision | undefined, giveUpAfterMs: number): Promise<void> {
    const deadlineMs = this.#clock.monotonic() + giveUpAfterMs
    const tried: Tried = { deadlineMs, operation: 'UPDATE', resource: 'records' }
    const undo: (() => Promise<void>)[] = []
    let done = false
    try {
      while (!done) {
        const decision = decide(this)
        if (decision === undefined) return
        const { guards = [], writes = [], wait, begin } = decision
        const held = this.#lane.heldUntil('', writes)
        if (wait !== undefined || begin !== undefined) await this.#awaitPostponed(tried, { wait, begin }, undo)
        else if (held !== undefined) await this.#within(tried, held)
        else {
          done = (await this.#commit({ guards, own: [], extra: writes })).ok
          if (!done) this.#checkDeadline(tried)
        }
      }
    } finally {
      if (!done) for (const undoing of undo) await undoing()
    }
  }

  /** `undo` is added to. @throws StatusError at the deadline */
  async #awaitPostponed(write: Tried, { wait, begin }: Postponed, undo: (() => Promise<void>)[]): Promise<void> {
    if (wait !== undefined) return this.#within(write, wait)
    const undoing = await begin?.()
    if (undoing !== undefined) undo.push(undoing)
    this.#checkDeadline(write)
  }

  /** @throws StatusError of a plugin */
  #decide(first: ObjectWrite, others: OtherWrites): TransactionDecision {
    if (others.writes.length > 0) {
      return decideTransaction(this.#chain, this, [first, ...others.writes], { opens: others.opens })
    }
    const decision = this.#chain.decide(first.attributes, first.change, this)
    if (decision.wait !== undefined || decision.begin !== undefined) return decision
    const own = [decision.object === undefined ? first : completeWrite(first, decision.object)]
    return { guards: decision.guards, own, extra: decision.writes }
  }

  /** Whether a write that changes nothing of the object must be made all the same. */
  owes(change: ContentChange): boolean {
    return this.#chain.owes(change, this)
  }

  /** Until it is settled, a reader of the cache need not parse what is stored here. */
  #announce({ own, extra }: DecidedTransaction): void {
    const { pool } = this.#cache
    for (const { change, value } of own) {
      const { type, after } = change
      if (value && after && type.conversion === undefined) pool.announce(value, type, after)
    }
    for (const { change, type = change?.type, value, object } of extra) {
      if (!type || !value || !object || type.conversion !== undefined) continue
      pool.announce(value, type, object)
    }
  }

  /**
   * All of them as one transaction, so that each account is charged once; tried three times at most. undefined = not
   * like this: one is not as expected, is refused or has to wait, or they are too much for a transaction. Nothing has
   * happened then.
   */
  async tryAll(writes: readonly ObjectWrite[], options: TransactionOptions = {}): Promise<Outcome | undefined> {
    const { opens, bestEffort } = options
    const key = writes[0]?.key ?? ''
    for (let tries = 0; tries < mostTries; tries++) {
      // Of a former namespace of that name the cache may show content too, and quotas would count it.
      if (opens !== undefined && this.#shownBytes(key) !== undefined) return undefined
      const decided = this.#tryDecide(writes, options)
      if (decided === undefined || !fitsTransaction(decided)) return undefined
      const commit = await this.#commit(decided, bestEffort)
      if (commit.ok) return { done: true, revision: commit.revision, value: decided.own[0]?.value }
      if (commit.current.has(key)) return { done: false, current: commit.current.get(key) }
      if (writes.some((write) => commit.current.has(write.key))) return undefined
    }
    return undefined
  }

  /** undefined = it can't be decided at once, or one of them is refused. @throws what is no refusal */
  #tryDecide(writes: readonly ObjectWrite[], options: TransactionOptions): DecidedTransaction | undefined {
    try {
      const decision = decideTransaction(this.#chain, this, writes, options)
      if (decision === 'contradiction' || !('own' in decision)) return undefined
      return this.#lane.heldUntil('', decision.extra) === undefined ? decision : undefined
    } catch (error) {
      if (findStatusError(error) === undefined) throw error
      return undefined
    }
  }

  /**
   * Runs `attempt` while others who want the same turn, and decisions that would write the object (a quota) along with
   * something else, wait; for a second at most. For a write that has lost the race for the object before.
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
  async dryRun<W extends ObjectWrite>(first: W, others: OtherWrites = none): Promise<Outcome<W>> {
    await this.#cache.refresh()
    const { key, expect } = first
    const decision = this.#decide(first, others)
    const decided = decision !== 'contradiction' && 'own' in decision ? decision.own[0]?.value : undefined
    const value = decided ?? first.value
    const place = parseObjectKey(key)
    const there = place && this.#cache.type(place.storageName).findKey(place.relative)
    if ((there?.revision ?? 'absent') === expect) return { done: true, revision: there?.revision ?? 0, value }
    return { done: false, current: there && { key, value: there.bytes, revision: there.revision } }
  }

  #queue({ guards, own, extra }: DecidedTransaction): { readonly done: Promise<Commit>; readonly queued: Queued } {
    const writes: Write[] = []
    for (const { key, value, expect } of own) writes.push({ key, value, expect })
    const shown: DecidedWrite[] = []
    for (const write of extra) {
      const { key, value, expect } = write
      writes.push({ key, value, expect })
      if (!write.hidden) shown.push(write)
    }
    const transaction: Transaction = { guards, writes }
    const pending = this.#folded?.commit(transaction, shown.length > 0) ?? this.#storage.commit(transaction)
    if (shown.length > 0) this.#lane.queued(pending.ticket, shown)
    return { done: pending.done, queued: this.#content.queued(pending.ticket, own) }
  }

  /**
   * Queues it at once. Resolves when it is durable and the cache shows it, or is not older than what refused it.
   */
  async #commit(decided: DecidedTransaction, bestEffort?: BestEffort): Promise<Commit> {
    const { done, queued } = this.#queue(decided)
    this.#announce(decided)
    let commit: Commit
    try {
      commit = await done
      if (commit.ok) bestEffort?.stored()
    } catch (e) {
      this.#settle(queued, decided, false)
      throw e
    }
    if (!commit.ok) {
      this.#settle(queued, decided, false)
      await this.#catchUp(commit.current)
      return commit
    }
    const last = commit.revision + decided.own.length + decided.extra.length - 1
    if (!this.#cache.reached(last)) await this.#cache.applied(last)
    this.#settle(queued, decided, true)
    return commit
  }

  /** It is done, and the cache shows it, or it did not happen. */
  #settle(queued: Queued, { own, extra }: DecidedTransaction, isDone: boolean): void {
    const { pool } = this.#cache
    for (const { value } of own) if (value) pool.recall(value)
    for (const { value } of extra) if (value) pool.recall(value)
    if (!isDone) this.#lane.failed(queued.ticket)
    else if (extra.length > 0) this.#lane.done(queued.ticket)
    this.#content.settled(queued)
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

  /** Until `wait` settles. @throws StatusError at the deadline */
  async #within(write: Tried, wait: Promise<unknown>): Promise<void> {
    let timer: Timer | undefined
    const late = new Promise<void>((resolve) => {
      timer = this.#clock.after(Math.max(0, write.deadlineMs - this.#clock.monotonic()), resolve)
    })
    try {
      await Promise.race([wait, late])
    } finally {
      timer?.cancel()
    }
    this.#checkDeadline(write)
  }

  #checkDeadline({ deadlineMs, operation, resource }: Tried): void {
    if (this.#clock.monotonic() < deadlineMs) return
    throw gaveUp(operation, resource)
  }

  /** For decisions: the cache, with what is queued on top. */
  see<T extends KubeObject>(type: ResourceType<T>, namespace: string, name: string): Seen<T> {
    const key = objectKey(type.storageName, namespace, name)
    const queued = this.#lane.head(key)
    if (queued) return leftBy(queued, { asLeftBy: queued.ticket }, type)
    const version = this.#cache.type(type.storageName).find(namespace, name)
    return new SeenValue(key, version?.revision ?? 'absent', () => version?.as(type).object)
  }

  /** For decisions. */
  queuedIn(namespace: string): readonly QueuedChange[] | undefined {
    // Where others write to the store too, what they have queued is unknown here.
    if (this.#folded !== undefined || this.#storage.ownRevision === undefined) return undefined
    return this.#content.of(namespace, (key) => this.#shownBytes(key))
  }

  #shownBytes(key: string): Uint8Array | undefined {
    const place = parseObjectKey(key)
    return place && this.#cache.type(place.storageName).findKey(place.relative)?.bytes
  }
}

/** What is tried, and on the monotonic clock until when. */
interface Tried {
  readonly deadlineMs: number
  readonly operation: Attributes['operation']
  readonly resource: string
}

const triedOf = ({ deadlineMs, attributes }: ObjectWrite): Tried => ({
  deadlineMs,
  operation: attributes.operation,
  resource: attributes.type.resource,
})

function fitsTransaction({ guards, own, extra }: DecidedTransaction): boolean {
  const writes = [...own, ...extra]
  const sizeBytes = writes.reduce((sum, { value }) => sum + (value?.byteLength ?? 0), 0)
  return guards.length + writes.length <= maxOperations && sizeBytes <= maxTransactionBytes
}
