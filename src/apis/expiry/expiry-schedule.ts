/**
 * Feeds the controller: every namespace with an end, when its warning is due and when its end is.
 *
 *   a namespace changes ──▶ two heaps ──▶ one timer for the earliest ──▶ at most 100 of each a second ──▶ the queue
 *
 * Nothing is looked through: with a hundred thousand namespaces that wait, the timer of the earliest is all there is.
 * It wakes once a minute, and once a second in the last minute before something is due: the wall clock may be moved,
 * by no more than a minute, or `ExpiryClock` suspends all of it.
 */
import { setImmediate } from 'node:timers/promises'
import { aborted } from '../../base/aborted.ts'
import type { Clock, Timer } from '../../base/clock.ts'
import { Deadlines } from '../../base/deadlines.ts'
import type { ObjectKey, Source } from '../../controller/controller.ts'
import type { Namespace } from '../namespaces/types.ts'
import { expiresAtMs } from './end.ts'
import { createdMs } from './settle-expiry.ts'
import { expiringCondition } from './types.ts'

/** Namespaces as the controller sees them, of this server or of another cluster. */
export interface NamespaceFeed {
  /** What exists and may have an end, some at a time. */
  existing(signal: AbortSignal): Iterable<Namespace> | AsyncIterable<Namespace>
  /** Each change from now on; undefined = removed. */
  subscribe(listener: (name: string, next: Namespace | undefined) => void): () => void
  find(name: string): Namespace | undefined
  /** Resolves when `existing` is complete. */
  ready?(signal: AbortSignal): Promise<void>
}

export const maxPerSecond = 100
const secondMs = 1000
const minuteMs = 60_000
const suspendedMs = 30_000
/** Namespaces looked at before other work has a turn. */
const lookedAtOnce = 200

/** A tenth of its life before the end, and no more than a day. */
export const warnedAtMs = (namespace: Namespace, dueMs: number): number =>
  dueMs - Math.min((dueMs - createdMs(namespace, dueMs)) / 10, 1440 * minuteMs)

export class ExpirySchedule implements Source {
  readonly #feed: NamespaceFeed
  readonly #clock: Clock
  readonly #warnings = new Deadlines()
  readonly #ends = new Deadlines()
  readonly #suspended = new Set<string>()
  #resuming: Timer | undefined
  #timer: Timer | undefined
  #timerAtMs = Number.POSITIVE_INFINITY
  /** The second that is under way, on the monotonic clock, and how many of each it has let through. */
  #second = { beganMs: Number.NEGATIVE_INFINITY, warnings: 0, ends: 0 }
  #enqueue: ((key: ObjectKey) => void) | undefined

  constructor(feed: NamespaceFeed, clock: Clock) {
    this.#feed = feed
    this.#clock = clock
  }

  /** Namespaces that have an end. */
  get pending(): number {
    return this.#ends.size + this.#suspended.size
  }

  async run(enqueue: (key: ObjectKey) => void, signal: AbortSignal): Promise<void> {
    this.#enqueue = enqueue
    const stop = this.#feed.subscribe((name, next) => this.#seen(name, next))
    try {
      await this.#feed.ready?.(signal)
      let looked = 0
      for await (const namespace of this.#feed.existing(signal)) {
        if (++looked % lookedAtOnce === 0) await setImmediate()
        if (signal.aborted) return
        this.#seen(namespace.metadata.name ?? '', namespace)
      }
      await aborted(signal)
    } finally {
      stop()
      this.#enqueue = undefined
      this.#timer?.cancel()
      this.#resuming?.cancel()
    }
  }

  /** Its time has come, and can't be believed: it is looked at again in a while, though nothing changes. */
  suspend(name: string): void {
    this.#suspended.add(name)
    if (this.#enqueue === undefined) return
    this.#resuming ??= this.#clock.after(suspendedMs, () => {
      this.#resuming = undefined
      const names = [...this.#suspended]
      this.#suspended.clear()
      for (const one of names) this.#seen(one, this.#feed.find(one))
    })
  }

  #seen(name: string, next: Namespace | undefined): void {
    const dueMs = next === undefined ? Number.POSITIVE_INFINITY : expiresAtMs(next)
    if (next === undefined || next.metadata.deletionTimestamp !== undefined || dueMs === Number.POSITIVE_INFINITY) {
      this.#warnings.delete(name)
      this.#ends.delete(name)
      if (next !== undefined && isSaidToExpire(next)) this.#enqueue?.({ namespace: '', name })
      return
    }
    this.#ends.set(name, dueMs)
    if (dueMs <= this.#clock.now()) this.#warnings.delete(name)
    // What is said already may be of another time: that is looked at in its turn.
    else this.#warnings.set(name, isSaidToExpire(next) ? 0 : warnedAtMs(next, dueMs))
    this.#setTimer()
  }

  #setTimer(): void {
    const nextMs = Math.min(this.#nextOf(this.#warnings, 'warnings'), this.#nextOf(this.#ends, 'ends'))
    if (this.#enqueue === undefined || nextMs === Number.POSITIVE_INFINITY) return
    const now = this.#clock.now()
    const leftMs = Math.max(0, nextMs - now)
    const delayMs = leftMs > minuteMs ? Math.min(leftMs - minuteMs, minuteMs) : Math.min(leftMs, secondMs)
    const atMs = this.#clock.monotonic() + delayMs
    if (this.#timer !== undefined && this.#timerAtMs <= atMs) return
    this.#timer?.cancel()
    this.#timerAtMs = atMs
    this.#timer = this.#clock.after(delayMs, () => this.#tick())
  }

  /** On the wall clock. Where a second has had its share it is the next. */
  #nextOf(deadlines: Deadlines, which: 'warnings' | 'ends'): number {
    const nextMs = deadlines.nextMs() ?? Number.POSITIVE_INFINITY
    const { beganMs, [which]: used } = this.#second
    if (used < maxPerSecond) return nextMs
    const leftMs = beganMs + secondMs - this.#clock.monotonic()
    return leftMs <= 0 ? nextMs : Math.max(nextMs, this.#clock.now() + leftMs)
  }

  #tick(): void {
    this.#timer = undefined
    this.#timerAtMs = Number.POSITIVE_INFINITY
    const monotonic = this.#clock.monotonic()
    if (monotonic - this.#second.beganMs >= secondMs) this.#second = { beganMs: monotonic, warnings: 0, ends: 0 }
    this.#takeDue(this.#ends, 'ends')
    this.#takeDue(this.#warnings, 'warnings')
    this.#setTimer()
  }

  #takeDue(deadlines: Deadlines, which: 'warnings' | 'ends'): void {
    const now = this.#clock.now()
    while (this.#second[which] < maxPerSecond) {
      const name = deadlines.take(now)
      if (name === undefined) return
      this.#second[which]++
      this.#enqueue?.({ namespace: '', name })
    }
  }
}

const isSaidToExpire = ({ status }: Namespace): boolean =>
  status?.conditions?.some((c) => c.type === expiringCondition && c.status !== 'False') ?? false
