/**
 * The memory that clients may make the server take: in all, and for each flow. A flow is a user, or before
 * authentication an address.
 *
 *   charged   a number of bytes: a body that comes in, a request that waits
 *   held      a buffer that is being sent. However many answers share it, it counts once for each flow and once in all:
 *             a hundred clients that list the same objects are sent the same bytes
 *
 * One request may go beyond the share of its flow while the others of the flow have taken less than a quarter of it, so
 * that a list that is larger than a share can be had. Nothing goes beyond the whole.
 */
import { StatusError, tooManyRequests } from '../kube/status-error.ts'
import type { RequestAccount } from './api.ts'

export interface BudgetLimits {
  readonly totalBytes: number
  readonly flowBytes: number
}

/** Why something was refused: the flow has too much, all have, or V8 is about to run out of memory. */
export type Excess = 'flow_memory' | 'memory' | 'heap'

export interface BudgetOptions extends BudgetLimits {
  readonly isHeapFull: () => boolean
  readonly onRefused: (excess: Excess, flow: string) => void
}

export class ByteBudget {
  readonly limits: BudgetLimits
  readonly #isHeapFull: () => boolean
  readonly #onRefused: BudgetOptions['onRefused']
  readonly #all = new Ledger()
  readonly #flows = new Map<string, Ledger>()

  constructor({ isHeapFull, onRefused, ...limits }: BudgetOptions) {
    this.limits = limits
    this.#isHeapFull = isHeapFull
    this.#onRefused = onRefused
  }

  get takenBytes(): number {
    return this.#all.bytes
  }

  takenBytesOf(flow: string): number {
    return this.#flows.get(flow)?.bytes ?? 0
  }

  open(flow: string): ByteAccount {
    return new ByteAccount(this, flow)
  }

  /** Undefined: granted, and written down. `own`: what the request that asks has already. */
  take(flow: string, bytes: number, own: number): Excess | undefined {
    const excess = this.#excess(flow, bytes, own)
    if (excess === undefined) this.change(flow, (ledger) => ledger.add(bytes))
    else this.#onRefused(excess, flow)
    return excess
  }

  #excess(flow: string, bytes: number, own: number): Excess | undefined {
    const { totalBytes, flowBytes } = this.limits
    const taken = this.takenBytesOf(flow)
    if (taken + bytes > flowBytes && taken - own > flowBytes / 4) return 'flow_memory'
    if (this.#all.bytes + bytes > totalBytes) return 'memory'
    return this.#isHeapFull() ? 'heap' : undefined
  }

  /** Does the same to the ledger of the flow and to that of all. */
  change(flow: string, write: (ledger: Ledger) => void): void {
    let ledger = this.#flows.get(flow)
    if (ledger === undefined) {
      ledger = new Ledger()
      this.#flows.set(flow, ledger)
    }
    write(ledger)
    write(this.#all)
    if (ledger.bytes === 0) this.#flows.delete(flow)
  }
}

class Ledger {
  bytes = 0
  readonly #holders = new Map<ArrayBufferLike, number>()

  add(bytes: number): void {
    this.bytes += bytes
  }

  hold(buffer: ArrayBufferLike): void {
    const holders = this.#holders.get(buffer) ?? 0
    if (holders === 0) this.bytes += buffer.byteLength
    this.#holders.set(buffer, holders + 1)
  }

  drop(buffer: ArrayBufferLike): void {
    const holders = this.#holders.get(buffer) ?? 0
    if (holders > 1) this.#holders.set(buffer, holders - 1)
    else if (this.#holders.delete(buffer)) this.bytes -= buffer.byteLength
  }
}

/** What one request takes. */
export class ByteAccount implements RequestAccount {
  readonly #budget: ByteBudget
  #flow: string
  #charged = 0
  #held: readonly ArrayBufferLike[] = []

  constructor(budget: ByteBudget, flow: string) {
    this.#budget = budget
    this.#flow = flow
  }

  tryCharge(bytes: number): boolean {
    if (this.#budget.take(this.#flow, bytes, this.#charged) !== undefined) return false
    this.#charged += bytes
    return true
  }

  charge(bytes: number): void {
    const excess = this.#budget.take(this.#flow, bytes, this.#charged)
    if (excess !== undefined) throw refusal(excess, bytes, this.#budget.limits)
    this.#charged += bytes
  }

  /** Of what was charged; more than that is never given back. */
  give(bytes: number): void {
    const given = Math.min(bytes, this.#charged)
    this.#charged -= given
    this.#budget.change(this.#flow, (ledger) => ledger.add(-given))
  }

  /**
   * The answer is made: from now on the request takes `bytes` and these buffers, instead of what it was charged before.
   * They exist, so it is never refused; others are until they are sent.
   */
  settle(bytes: number, buffers: readonly ArrayBufferLike[]): void {
    this.close()
    this.#charged = bytes
    this.#held = buffers
    this.#write(1)
  }

  /** The user of the request is known now. */
  moveTo(flow: string): void {
    if (flow === this.#flow) return
    this.#write(-1)
    this.#flow = flow
    this.#write(1)
  }

  /** The request is over. */
  close(): void {
    this.#write(-1)
    this.#charged = 0
    this.#held = []
  }

  #write(sign: 1 | -1): void {
    if (this.#charged === 0 && this.#held.length === 0) return
    this.#budget.change(this.#flow, (ledger) => {
      ledger.add(sign * this.#charged)
      for (const buffer of this.#held) {
        if (sign > 0) ledger.hold(buffer)
        else ledger.drop(buffer)
      }
    })
  }
}

function refusal(excess: Excess, bytes: number, { totalBytes }: BudgetLimits): StatusError {
  if (bytes > totalBytes) {
    const message =
      `The answer would take ${bytes} bytes of memory, more than the ${totalBytes} that all requests may take ` +
      'together: ask for less at a time, with limit and continue.'
    return new StatusError(message, { reason: 'RequestEntityTooLarge' })
  }
  return excess === 'flow_memory'
    ? tooManyRequests('Your requests and answers under way take too much memory, please try again later.', 1)
    : tooManyRequests('The server is busy: what is under way takes too much memory, please try again later.', 1)
}
