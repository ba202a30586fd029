/**
 * One leader at a time among processes that share an API server, by a Lease: client-go's protocol, so that either kind
 * of process may take part.
 *
 *               vacant: no lease, no holder, or not renewed for as long as it promised
 *   waiting ──────────────────────────────────────────────────────────────▶ leading ──▶ renews every retryPeriod
 *      ▲                                                                       │
 *      │  another holds it, or no renewal succeeded within renewDeadline       │  told to stop
 *      └────────────────────────────────────────────────────────────── work ends, then: lease released
 *
 * Who is out of date is judged by this process's own monotonic clock from the moment it saw a record change, never by
 * comparing the times in it: clocks that differ between machines do no harm, only clocks that run at different speeds
 * could, and those may differ by a third.
 *
 * Differences from client-go, all on the safe or the quick side: a watch of the lease wakes the candidates, so a
 * released lease is taken at once and not at the next poll; the leader gives up `renewDeadline` after it *began* its
 * last good renewal; the lease is released only when the work has ended; leadership may be won again in the same
 * process.
 *
 * Not a fence: a process that was stopped (SIGSTOP) in the middle of a write finishes that write when it wakes. What
 * leaders write must be guarded by resourceVersion or be harmless when repeated, as level-triggered controllers are.
 */
import { type Clock, sleep, type Timer } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { ObjectRef, Reader, Watcher, Writer } from '../client/client.ts'
import { findObject } from '../client/find-object.ts'
import { Informer } from '../client/informer.ts'
import { isAlreadyExists, isConflict, isNotFound } from '../kube/status-error.ts'
import type { KubeObject } from '../kube/types.ts'
import { claim, holderOf, leases, release, specOf } from './lease.ts'
import { checkLeaseTiming, defaultLeaseTiming, type LeaseTiming } from './lease-timing.ts'

/**
 * A quarter of the retry period earlier than promised, so that even a leader that crashes right after a renewal is
 * followed within `leaseDuration`. It gave up, or would have, at `renewDeadline`.
 */
const earlyPart = 1 / 4

export interface ElectionOptions {
  readonly client: Reader & Writer & Watcher
  readonly clock: Clock
  readonly log: Log
  readonly lease: ObjectRef & { readonly namespace: string }
  /** Of this process alone: host name and something random. */
  readonly identity: string
  readonly timing?: LeaseTiming
  /** From 0 to 1; spreads the retries of many processes. */
  readonly random?: () => number
  /** Told when this process begins and ends to lead. */
  readonly onLeading?: (leading: boolean) => void
}

/**
 * Calls `lead` whenever this process holds the lease; its signal aborts when the lease is lost or `signal` aborts, and
 * it must then stop as soon as it can. Never has two calls of `lead` running.
 *
 * Resolves when `signal` has aborted and the lease is given back, or when `lead` returned of its own accord. Rejects
 * only with what `lead` threw; a server that does not answer is waited for.
 */
export async function leadWhileElected(
  options: ElectionOptions,
  lead: (leading: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const candidate = new Candidate(options)
  const watching = new AbortController()
  const watch = candidate.watch(watching.signal)
  try {
    while (!signal.aborted) {
      const wonAt = await candidate.win(signal)
      if (wonAt === undefined) return
      if ((await candidate.hold(wonAt, lead, signal)) === 'done') return
    }
  } finally {
    watching.abort()
    await watch
  }
}

/**
 * A process that is starved, or busy, runs timers that are long due before it reads what came meanwhile: an answer that
 * is there already counts. Of a server that has seen to the precondition, it proves that no other process leads.
 */
function afterReading(clock: Clock, ms: number, run: () => void): Timer {
  let timer = clock.after(ms, () => {
    timer = clock.after(0, run)
  })
  return { cancel: () => timer.cancel() }
}

/** `raced`: another candidate wrote at the same time; look again. */
type Claim = 'held' | 'other' | 'raced'

class Candidate {
  readonly #options: ElectionOptions
  readonly #timing: LeaseTiming
  readonly #random: () => number
  /** The record last seen, and when (monotonic) it was first seen as it is. */
  #seen:
    | { readonly text: string; readonly holder: string; readonly durationMs: number; readonly at: number }
    | undefined
  /** As we last wrote it: the next renewal needs no read. */
  #written: KubeObject | undefined
  #leading = false
  #failing = false
  #wake: (() => void) | undefined

  constructor(options: ElectionOptions) {
    this.#options = options
    this.#timing = options.timing ?? defaultLeaseTiming
    this.#random = options.random ?? Math.random
    checkLeaseTiming(this.#timing)
  }

  async watch(signal: AbortSignal): Promise<void> {
    const { client, clock, lease, log } = this.#options
    const informer = new Informer({
      client,
      clock,
      resource: leases,
      namespace: lease.namespace,
      fieldSelector: `metadata.name=${lease.name}`,
      onChange: (next) => this.#see(next),
      // What matters is found out by the claims themselves.
      onError: (error) => log.debug({ lease: lease.name, error }, 'the watch of a lease failed'),
    })
    await informer.run(signal)
  }

  /** The monotonic time at which the winning claim began; undefined when `signal` aborted first. */
  async win(signal: AbortSignal): Promise<number | undefined> {
    const { clock } = this.#options
    while (!signal.aborted) {
      for (let ms = this.#vacantIn(); ms > 0 && !signal.aborted; ms = this.#vacantIn()) await this.#pause(ms, signal)
      if (signal.aborted) break
      const began = clock.monotonic()
      const claim = await this.#tryClaim()
      if (claim === 'held') return began
      if (claim === 'other') continue
      // There is no leader meanwhile: sooner than a leader renews.
      const spread = (1 + this.#random()) * this.#timing.retryPeriodMs
      await sleep(clock, spread / (claim === 'raced' ? 4 : 2), signal)
    }
    return undefined
  }

  async hold(
    wonAt: number,
    lead: (leading: AbortSignal) => Promise<void>,
    signal: AbortSignal,
  ): Promise<'done' | 'lost'> {
    const { lease, identity, log, onLeading } = this.#options
    const ended = new AbortController()
    const lost = new AbortController()
    this.#leading = true
    onLeading?.(true)
    log.info({ lease: lease.name, identity }, 'leads')
    const renewing = this.#renew(wonAt, lost, ended.signal)
    try {
      await lead(AbortSignal.any([signal, lost.signal]))
      return lost.signal.aborted && !signal.aborted ? 'lost' : 'done'
    } finally {
      ended.abort()
      this.#wake?.()
      await renewing
      this.#leading = false
      if (!lost.signal.aborted) await this.#release()
      this.#written = undefined
      onLeading?.(false)
      log.info({ lease: lease.name, identity, lost: lost.signal.aborted }, 'leads no longer')
    }
  }

  /** Until the work has ended or the lease is lost; aborts `lost` in that case. */
  async #renew(wonAt: number, lost: AbortController, ended: AbortSignal): Promise<void> {
    const { clock, lease, log } = this.#options
    const lose = (why: string): void => {
      if (ended.aborted || lost.signal.aborted) return
      log.warn({ lease: lease.name }, why)
      lost.abort(new Error(why))
      this.#wake?.()
    }
    let deadline: Timer | undefined
    const renewedAt = (began: number): void => {
      deadline?.cancel()
      const leftMs = Math.max(0, began + this.#timing.renewDeadlineMs - clock.monotonic())
      deadline = afterReading(clock, leftMs, () => lose('the lease could not be renewed in time'))
    }
    renewedAt(wonAt)
    const over = AbortSignal.any([ended, lost.signal])
    let pauseMs = this.#timing.retryPeriodMs
    while (!over.aborted) {
      await this.#pause(pauseMs, over)
      if (over.aborted) break
      const began = clock.monotonic()
      const claim = await this.#tryClaim()
      if (claim === 'held') renewedAt(began)
      else if (claim === 'other') lose('another process took the lease')
      pauseMs = claim === 'held' ? this.#timing.retryPeriodMs : this.#timing.retryPeriodMs / 2
    }
    deadline?.cancel()
  }

  /** Undefined when the server gave no answer of use. */
  async #tryClaim(): Promise<Claim | undefined> {
    const { lease, log } = this.#options
    try {
      const claim = await this.#claim()
      this.#failing = false
      return claim
    } catch (error) {
      // Once at a time: it is tried again every few seconds.
      log[this.#failing ? 'debug' : 'warn']({ lease: lease.name, error }, 'could not claim a lease, will try again')
      this.#failing = true
      return undefined
    }
  }

  async #claim(): Promise<Claim> {
    const { identity } = this.#options
    if (this.#written !== undefined) {
      try {
        return await this.#write(this.#written)
      } catch (error) {
        if (!isConflict(error) && !isNotFound(error)) throw error
        this.#written = undefined
      }
    }
    const live = await this.#find()
    this.#see(live)
    const holder = holderOf(live)
    if (holder !== '' && holder !== identity && (this.#leading || this.#vacantIn() > 0)) return 'other'
    try {
      return await this.#write(live)
    } catch (error) {
      if (isConflict(error) || isAlreadyExists(error) || isNotFound(error)) return 'raced'
      throw error
    }
  }

  #find(): Promise<KubeObject | undefined> {
    const { client, lease } = this.#options
    return this.#bounded((signal) => findObject(client, leases, lease, { signal }))
  }

  async #write(live: KubeObject | undefined): Promise<'held'> {
    const { client, clock, identity, lease } = this.#options
    const base = live ?? { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { ...lease } }
    const next = claim(base, { identity, leaseDurationMs: this.#timing.leaseDurationMs, nowMs: clock.now() })
    this.#written = await this.#bounded((signal) =>
      live === undefined ? client.create(leases, next, { signal }) : client.update(leases, next, { signal }),
    )
    return 'held'
  }

  async #release(): Promise<void> {
    const { client, clock, lease, log } = this.#options
    const written = this.#written
    if (written === undefined) return
    try {
      await this.#bounded((signal) => client.update(leases, release(written, clock.now()), { signal }))
    } catch (error) {
      // Another wrote it, or the server does not answer: it lapses by itself.
      log.debug({ lease: lease.name, error }, 'could not give a lease back')
    }
  }

  #see(lease: KubeObject | undefined): void {
    const spec = specOf(lease)
    const text = JSON.stringify(spec) ?? ''
    if (this.#seen?.text === text) return
    const holder = spec?.holderIdentity ?? ''
    const durationMs = 1000 * (spec?.leaseDurationSeconds ?? 0)
    this.#seen = { text, holder, durationMs, at: this.#options.clock.monotonic() }
    // The watch also shows a leader its own renewals, which are no reason to renew.
    if (!(this.#leading && holder === this.#options.identity)) this.#wake?.()
  }

  /** Milliseconds until the lease may be taken, as far as this process has seen. */
  #vacantIn(): number {
    const seen = this.#seen
    if (seen === undefined || seen.holder === '' || seen.holder === this.#options.identity) return 0
    const patienceMs = seen.durationMs - earlyPart * this.#timing.retryPeriodMs
    return Math.max(0, Math.ceil(seen.at + patienceMs - this.#options.clock.monotonic()))
  }

  /** Ends early when something about the lease changes. */
  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    const woken = new AbortController()
    const wake = (): void => woken.abort()
    this.#wake = wake
    signal.addEventListener('abort', wake, { once: true })
    await sleep(this.#options.clock, ms, woken.signal)
    signal.removeEventListener('abort', wake)
    this.#wake = undefined
  }

  /** A request that hangs must leave time for another one before the deadline. */
  async #bounded<T>(send: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const late = new AbortController()
    const timer = afterReading(this.#options.clock, this.#timing.renewDeadlineMs / 2, () =>
      late.abort(new Error('the server did not answer in time')),
    )
    try {
      return await send(late.signal)
    } finally {
      timer.cancel()
    }
  }
}
