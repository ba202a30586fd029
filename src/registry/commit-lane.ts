/**
 * The extra writes of this process that are queued but not yet durable, so that the next decision can stand on them.
 *
 * Sixty-four creators of one namespace each charge its quota. Deciding against the durable quota, one of them would win
 * per flush and the rest would try again. Instead each decides against the head of the queue (what the last queued
 * transaction will leave) and expects exactly that: `asLeftBy` its ticket. The engine applies in order; if one fails,
 * those that stand on it fail with it and decide again, from what is left of the queue.
 *
 *   cache: used=5    queued: T1 used=6    T2 used=7 (asLeftBy T1)    head: used=7, asLeftBy T2
 *
 * Invariant: a queued write stands on the one before it in the queue of its key, so a failure takes all after it
 * along.
 *
 * A client that updates such an object itself (the quota's spec) reads it, thinks, and commits: while the lane is busy
 * another writer is always faster. So after a lost race it may hold the key: nothing more is queued, it gets its turn.
 */
import type { DecidedWrite } from '../admission/admission.ts'
import type { KubeObject } from '../kube/types.ts'
import type { Ticket } from '../storage/storage.ts'

export interface QueuedWrite {
  readonly ticket: Ticket
  readonly key: string
  readonly value: Uint8Array | undefined
  /** Parsed form of `value` where the decision had it at hand. */
  readonly object: KubeObject | undefined
}

export class CommitLane {
  readonly #byKey = new Map<string, QueuedWrite[]>()
  readonly #byTicket = new Map<number, readonly QueuedWrite[]>()
  readonly #holds = new Map<string, Promise<void>>()
  readonly #idle = new Map<string, () => void>()

  /** What the last queued transaction that writes `key` will leave there. */
  head(key: string): QueuedWrite | undefined {
    const queue = this.#byKey.get(key)
    return queue?.[queue.length - 1]
  }

  /**
   * Settles when the holder of one of the keys lets go; undefined = none is held. A writer whose turn it is never waits
   * for the turn of another: two quotas that go are charged to each other, and would wait for each other.
   */
  heldUntil(own: string, writes: readonly DecidedWrite[]): Promise<void> | undefined {
    if (this.#holds.size === 0 || this.#holds.has(own)) return undefined
    for (const { key } of writes) {
      const held = this.#holds.get(key)
      if (held) return held
    }
    return undefined
  }

  /** Resolves when nothing is queued for `key`, and nothing will be until `release` is called. */
  async hold(key: string): Promise<{ release(): void }> {
    for (let held = this.#holds.get(key); held; held = this.#holds.get(key)) await held
    let free: () => void = () => {}
    const hold = new Promise<void>((resolve) => {
      free = resolve
    })
    this.#holds.set(key, hold)
    if (this.#byKey.has(key)) await new Promise<void>((resolve) => this.#idle.set(key, resolve))
    return {
      release: () => {
        if (this.#holds.get(key) === hold) this.#holds.delete(key)
        free()
      },
    }
  }

  /** Called in the same synchronous section as the decision and `commit`. */
  queued(ticket: Ticket, writes: readonly DecidedWrite[]): void {
    if (writes.length === 0) return
    const queued = writes.map(({ key, value, object }) => ({ ticket, key, value, object }))
    this.#byTicket.set(ticket.id, queued)
    for (const write of queued) {
      const queue = this.#byKey.get(write.key)
      if (queue) queue.push(write)
      else this.#byKey.set(write.key, [write])
    }
  }

  /** It is durable, and the cache shows it. */
  done(ticket: Ticket): void {
    for (const write of this.#take(ticket)) {
      const queue = this.#byKey.get(write.key)
      if (!queue) continue
      const at = queue.indexOf(write)
      if (at >= 0) queue.splice(at, 1)
      if (queue.length === 0) this.#emptied(write.key)
    }
  }

  /** It did not happen: neither will what stands on it. */
  failed(ticket: Ticket): void {
    const failed = [ticket]
    for (let next = failed.pop(); next; next = failed.pop()) {
      for (const write of this.#take(next)) {
        const queue = this.#byKey.get(write.key)
        const at = queue?.indexOf(write) ?? -1
        if (!queue || at < 0) continue
        for (const follower of queue.splice(at).slice(1)) failed.push(follower.ticket)
        if (queue.length === 0) this.#emptied(write.key)
      }
    }
  }

  #emptied(key: string): void {
    this.#byKey.delete(key)
    const idle = this.#idle.get(key)
    this.#idle.delete(key)
    idle?.()
  }

  #take(ticket: Ticket): readonly QueuedWrite[] {
    const writes = this.#byTicket.get(ticket.id)
    if (!writes) return []
    this.#byTicket.delete(ticket.id)
    return writes
  }
}
