/**
 * Transactions that stand on each other, sent as one: for a store that several processes write to.
 *
 * Sixty-four creators of one namespace each charge its quota, so each transaction stands on the one before it, and each
 * needs a round trip of its own. While another replica charges the same quota that is fatal: the replica that is ahead
 * stays ahead, and the others lose their whole chain at every step. So what arrives while a chain is under way is
 * folded into one transaction: all the objects, and of each account only what the last of them leaves.
 *
 *   T1: +a, used 5→6     ┐
 *   T2: +b, used 6→7     ├──▶  +a +b +c, used 5→8
 *   T3: +c, used 7→8     ┘
 *
 *   commit ──▶ open, others may join ──(what it stands on has settled, and a moment has passed)──▶ sent ──▶ settled
 *
 * No client can see the states in between, so nothing is lost with them but their revisions: a folded write has none.
 * Who has just succeeded waits a moment before the next, in which another replica can have its turn.
 *
 * If one expectation of a folded transaction fails, all of it fails, and each of those in it decides again.
 */
import type { Clock } from '../base/clock.ts'
import {
  type Commit,
  type Entry,
  type Expect,
  maxOperations,
  maxTransactionBytes,
  type PendingCommit,
  type Revision,
  type Storage,
  type Ticket,
  type Transaction,
} from '../storage/storage.ts'

/** Upper bound of the moment that a winner waits. About two round trips to an etcd. */
const yieldMs = 6

export interface FoldedCommitsOptions {
  readonly storage: Pick<Storage, 'commit'>
  readonly clock: Clock
  /** From 0 to 1. */
  readonly random: () => number
}

export class FoldedCommits {
  readonly #storage: Pick<Storage, 'commit'>
  readonly #clock: Clock
  readonly #random: () => number
  #tickets = 0

  constructor({ storage, clock, random }: FoldedCommitsOptions) {
    this.#storage = storage
    this.#clock = clock
    this.#random = random
  }

  /**
   * As `Storage.commit`, with these differences: `chains` says that others will stand on it, so that it may wait for
   * them a moment; a refusal names only keys of this transaction, and none if it was another's expectation that failed.
   */
  commit(transaction: Transaction, chains: boolean): PendingCommit {
    const before = batchesBefore(transaction)
    const [open, ...others] = [...before].filter((b) => b.isOpen)
    // As part of one of several that are not sent it would be sent before another that it stands on.
    if (open !== undefined && others.length === 0) {
      const ticket = open.join(transaction, ++this.#tickets)
      if (ticket) return { ticket, done: open.outcomeOf(ticket) }
    }
    const batch = new Batch(this.#storage)
    const ticket = batch.join(transaction, ++this.#tickets)
    if (!ticket) throw new Error('a transaction that stands on what is no longer the newest')
    const unsettled = [...before].filter((b) => !b.isSettled)
    if (unsettled.length > 0) void this.#sendAfter(batch, unsettled)
    else if (chains) this.#clock.after(0, () => batch.send())
    else batch.send()
    return { ticket, done: batch.outcomeOf(ticket) }
  }

  async #sendAfter(batch: Batch, before: readonly Batch[]): Promise<void> {
    await Promise.all(before.map((b) => b.settled))
    this.#clock.after(this.#random() * yieldMs, () => batch.send())
  }
}

class FoldedTicket implements Ticket {
  readonly id: number
  readonly batch: Batch
  /** Named in guards and writes. Not the transaction itself: followers must not keep all their ancestors alive. */
  readonly keys: readonly string[]
  /** Of its first write, in the batch. */
  readonly place: number

  constructor(id: number, batch: Batch, keys: readonly string[], place: number) {
    this.id = id
    this.batch = batch
    this.keys = keys
    this.place = place
  }
}

interface FoldedWrite {
  readonly place: number
  /** Of the first that wrote the key; until it is sent. */
  readonly expect: Expect
  value: Uint8Array | undefined
  writer: FoldedTicket
}

class Batch {
  readonly #storage: Pick<Storage, 'commit'>
  readonly #guards = new Map<string, { readonly expect: Expect; holder: FoldedTicket | undefined }>()
  readonly #writes = new Map<string, FoldedWrite>()
  readonly #sent = Promise.withResolvers<Commit>()
  #bytes = 0
  #pending: PendingCommit | undefined
  isSettled = false
  /** Resolves whatever comes of it. */
  readonly settled: Promise<void>

  constructor(storage: Pick<Storage, 'commit'>) {
    this.#storage = storage
    const end = (): void => {
      this.isSettled = true
    }
    this.settled = this.#sent.promise.then(end, end)
  }

  get isOpen(): boolean {
    return this.#pending === undefined && !this.isSettled
  }

  /** undefined = it can't be part of this one. */
  join(transaction: Transaction, id: number): FoldedTicket | undefined {
    if (!this.#takes(transaction)) return undefined
    const keys = [...transaction.writes, ...transaction.guards].map(({ key }) => key)
    const place = this.#writes.get(keys[0] ?? '')?.place ?? this.#writes.size
    const ticket = new FoldedTicket(id, this, keys, place)
    for (const { key, expect } of transaction.guards) {
      // What a member wrote is guarded by being written.
      if (this.#writes.has(key)) continue
      const known = this.#guards.get(key)
      if (known) known.holder = ticket
      else this.#guards.set(key, { expect, holder: ticket })
    }
    for (const { key, value, expect } of transaction.writes) {
      const known = this.#writes.get(key)
      this.#bytes += (value?.byteLength ?? 0) - (known?.value?.byteLength ?? 0)
      if (known) {
        known.value = value
        known.writer = ticket
      } else this.#writes.set(key, { place: this.#writes.size, expect, value, writer: ticket })
    }
    return ticket
  }

  async outcomeOf(ticket: FoldedTicket): Promise<Commit> {
    const commit = await this.#sent.promise
    if (commit.ok) return { ok: true, revision: commit.revision + ticket.place }
    const current = new Map<string, Entry | undefined>()
    for (const key of ticket.keys) if (commit.current.has(key)) current.set(key, commit.current.get(key))
    return { ok: false, current }
  }

  send(): void {
    try {
      this.#pending = this.#storage.commit({
        guards: Array.from(this.#guards, ([key, { expect }]) => ({ key, expect: forStore(key, expect) })),
        writes: Array.from(this.#writes, ([key, { expect, value }]) => ({ key, value, expect: forStore(key, expect) })),
      })
      this.#pending.done.then(this.#sent.resolve, this.#sent.reject)
    } catch (error) {
      this.isSettled = true
      this.#sent.reject(error)
    }
    for (const [key, { holder }] of this.#guards) this.#guards.set(key, { expect: 'absent', holder })
    for (const [key, write] of this.#writes) this.#writes.set(key, { ...write, value: undefined, expect: 'absent' })
  }

  /** The store's own ticket for the whole; it must be sent. */
  get ticket(): Ticket {
    if (!this.#pending) throw new Error('a transaction that stands on one that is not sent')
    return this.#pending.ticket
  }

  /** True if the key, as the whole leaves it, is as this member left it. */
  leavesAs(key: string, ticket: FoldedTicket): boolean {
    const write = this.#writes.get(key)
    return write ? write.writer === ticket : this.#guards.has(key)
  }

  #takes({ guards, writes }: Transaction): boolean {
    let operations = this.#guards.size + this.#writes.size
    let bytes = this.#bytes
    for (const { key, expect } of guards) {
      const write = this.#writes.get(key)
      if (write) {
        if (!isLeftBy(expect, write.writer)) return false
      } else if (this.#guards.has(key)) {
        if (!sameExpect(this.#guards.get(key)?.expect, expect) && !this.#leftByMember(expect)) return false
      } else if (this.#leftByMember(expect)) return false
      else operations++
    }
    for (const { key, expect, value } of writes) {
      const write = this.#writes.get(key)
      if (write) {
        if (!isLeftBy(expect, write.writer)) return false
        bytes -= write.value?.byteLength ?? 0
      } else if (this.#guards.has(key) || this.#leftByMember(expect)) return false
      else operations++
      bytes += value?.byteLength ?? 0
    }
    return this.#writes.size === 0 || (operations <= maxOperations && bytes <= maxTransactionBytes)
  }

  #leftByMember(expect: Expect): boolean {
    return typeof expect === 'object' && expect.asLeftBy instanceof FoldedTicket && expect.asLeftBy.batch === this
  }
}

const isLeftBy = (expect: Expect, ticket: FoldedTicket): boolean =>
  typeof expect === 'object' && expect.asLeftBy === ticket

const sameExpect = (a: Expect | undefined, b: Expect): boolean =>
  typeof a === 'object' && typeof b === 'object' ? a.asLeftBy === b.asLeftBy : a === b

/** What it stands on that is not settled yet, and may be open. */
function batchesBefore({ guards, writes }: Transaction): ReadonlySet<Batch> {
  const batches = new Set<Batch>()
  for (const { expect } of [...guards, ...writes]) {
    if (typeof expect === 'object' && expect.asLeftBy instanceof FoldedTicket) batches.add(expect.asLeftBy.batch)
  }
  return batches
}

/** The first commit of a store has number 1: no key ever has this revision. */
const never: Revision = 1

function forStore(key: string, expect: Expect): Expect {
  if (typeof expect !== 'object' || !(expect.asLeftBy instanceof FoldedTicket)) return expect
  const { batch } = expect.asLeftBy
  // Written once more in the same batch, by a write that others did not see: as if another write had come between.
  return batch.leavesAs(key, expect.asLeftBy) ? { asLeftBy: batch.ticket } : never
}
