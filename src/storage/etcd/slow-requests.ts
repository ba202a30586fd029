/**
 * Watches over the requests that one member of etcd has not answered for a while, and gives up those that never will
 * be.
 *
 * A follower hands a transaction on to the leader it knows. If that one dies at this moment the transaction is lost,
 * and the follower says so only after its own timeout (5 s and two elections), although a new leader is there within
 * one. Reads of etcd 3.4 suffer the same, and so does what a leader that was paused takes for its own business when it
 * wakes. The member itself knows: its term is another than it was when the request was sent, as far as it had told us.
 * And a member that does not even answer that question is paused or cut off.
 *
 * It is unknown whether a transaction that is given up here was applied; that is so too when a connection breaks.
 */
import type { Clock, Timer } from '../../base/clock.ts'
import { StorageError } from '../storage.ts'
import type { MemberStatus } from './messages.ts'

/** A request is slow after this. */
const slowMs = 750
const tickMs = 250
/** After an election a request that was not lost is answered in this time. */
const settleMs = 750
/** A member that does not tell its term for so long is silent. */
const silentMs = 3_500

export interface SlowRequestsOptions {
  readonly clock: Clock
  /** Answered by the member alone, without its cluster. Rejects with anything: then it answered in some way. */
  readonly ask: (timeoutMs: number) => Promise<MemberStatus | 'silent'>
  readonly onSilent: () => void
}

export interface Outstanding {
  readonly sentAt: number
  /** The last that its member had told when it was sent; 0 = none, which is older than any. */
  readonly term: number
  /** When its member was first seen in a later term, with a leader. */
  overtakenAt: number | undefined
  readonly giveUp: (error: StorageError) => void
}

export class SlowRequests {
  readonly #options: SlowRequestsOptions
  readonly #outstanding = new Set<Outstanding>()
  #term = 0
  #timer: Timer | undefined

  constructor(options: SlowRequestsOptions) {
    this.#options = options
  }

  /** `giveUp` is called at most once, and never after `end`. */
  begin(giveUp: (error: StorageError) => void): Outstanding {
    const { clock } = this.#options
    const request: Outstanding = { sentAt: clock.monotonic(), term: this.#term, overtakenAt: undefined, giveUp }
    this.#outstanding.add(request)
    // Left running from one request to the next: most are over long before.
    this.#timer ??= clock.after(slowMs, () => void this.#look())
    return request
  }

  /** `term`: of the answer, if it told one. */
  end(request: Outstanding, term: number): void {
    this.#outstanding.delete(request)
    this.#term = Math.max(this.#term, term)
  }

  close(): void {
    this.#timer?.cancel()
    this.#outstanding.clear()
  }

  async #look(): Promise<void> {
    const { clock, ask } = this.#options
    if (this.#slow().length > 0) {
      const status = await ask(silentMs).catch(() => undefined)
      if (status === 'silent') this.#fellSilent()
      else if (status?.hasLeader) this.#overtaken(status.term)
    }
    this.#timer = this.#outstanding.size === 0 ? undefined : clock.after(tickMs, () => void this.#look())
  }

  #slow(): readonly Outstanding[] {
    const before = this.#options.clock.monotonic() - slowMs
    return [...this.#outstanding].filter(({ sentAt }) => sentAt <= before)
  }

  #overtaken(term: number): void {
    this.#term = Math.max(this.#term, term)
    const now = this.#options.clock.monotonic()
    for (const request of this.#outstanding) {
      if (request.term >= term) continue
      request.overtakenAt ??= now
      if (now - request.overtakenAt < settleMs) continue
      this.#giveUp(request, `etcd elected another leader and has not answered ${settleMs} ms later`)
    }
  }

  #fellSilent(): void {
    const before = this.#options.clock.monotonic() - silentMs
    const silent = [...this.#outstanding].filter(({ sentAt }) => sentAt <= before)
    if (silent.length > 0) this.#options.onSilent()
    for (const request of silent) this.#giveUp(request, `the member has been silent for ${silentMs} ms`)
  }

  #giveUp(request: Outstanding, why: string): void {
    this.#outstanding.delete(request)
    request.giveUp(new StorageError('unavailable', why))
  }
}
