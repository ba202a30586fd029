/**
 * The memory that clients may make the server take: in all, and for each flow. A flow is a user, or before
 * authentication an address.
 *
 *   charged   a number of bytes: a body that comes in, a request that waits
 *   held      a buffer that is being sent. However many answers share it, it counts once for each flow and once in all:
 *             a hundred clients that list the same objects are sent the same bytes
 *
 * One request may go beyond the share of its flow while the others of the flow have taken less than a quarter of it, so
 * that a list that is larger than a share can be had. Nothing goes beyond the whole: a request that does not fit into
 * what is left takes it from the flow that has most, if that flow has more than the request's would have then.
 */
import { Link, LinkedList } from '../base/linked-list.ts'
import { StatusError, tooManyRequests } from '../kube/status-error.ts'
import type { RequestAccount } from './api.ts'

export interface BudgetLimits {
  readonly totalBytes: number
  readonly flowBytes: number
}

/** Why something was refused: the flow has too much, all have, or V8 is about to run out of memory. */
export type Excess = 'flow_memory' | 'memory' | 'heap'

/** A request that takes memory, as the budget may end it. */
export interface Holder {
  /** It waits for its client, which may be made to wait longer: nothing is half done. */
  readonly isIdle: boolean
  /** Ends it. Its account is closed already. */
  shed(): void
}

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

  /** Without a holder it can't be ended for the sake of others. */
  open(flow: string, holder?: Holder): ByteAccount {
    return new ByteAccount(this, flow, holder)
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
    if (this.#all.bytes + bytes > totalBytes && !this.#makeRoom(flow, bytes)) return 'memory'
    return this.#isHeapFull() ? 'heap' : undefined
  }

  /** The heap is nearly full: the flow that has most gives up what it has, down to a quarter of a share. */
  shedLargest(): void {
    const few = this.limits.flowBytes / 4
    for (let next = this.#largest(few); next !== undefined; next = this.#largest(few)) next.shed()
  }

  /** Ends requests of the largest flow, and goes on with what is the largest then. False: the others have less. */
  #makeRoom(flow: string, bytes: number): boolean {
    const { totalBytes } = this.limits
    const wanted = this.takenBytesOf(flow) + bytes
    while (this.#all.bytes + bytes > totalBytes) {
      const largest = this.#largest(wanted)
      if (largest === undefined) return false
      largest.shed()
    }
    return true
  }

  /** The request to be ended first, of the flow that has most; undefined if none has more than `bytes`. */
  #largest(bytes: number): ByteAccount | undefined {
    let found: { readonly bytes: number; readonly account: ByteAccount } | undefined
    for (const ledger of this.#flows.values()) {
      if (ledger.bytes <= (found?.bytes ?? bytes)) continue
      const account = ledger.firstToEnd()
      if (account !== undefined) found = { bytes: ledger.bytes, account }
    }
    return found?.account
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
    if (ledger.bytes > 0) return
    ledger.accounts.clear()
    this.#flows.delete(flow)
  }

  /** The account has taken something: it may be asked to give it back. */
  enter(flow: string, account: ByteAccount): void {
    this.#flows.get(flow)?.accounts.add(account)
  }

  leave(flow: string, account: ByteAccount): void {
    this.#flows.get(flow)?.accounts.remove(account)
  }
}

class Ledger {
  bytes = 0
  /** That have taken something. */
  readonly accounts: LinkedList<ByteAccount> = new LinkedList()
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

  /** The largest of those that wait for their client; where none does, the largest. */
  firstToEnd(): ByteAccount | undefined {
    let first: ByteAccount | undefined
    for (const account of this.accounts) {
      if (account.holder === undefined) continue
      if (first === undefined || account.isBefore(first)) first = account
    }
    return first
  }
}

/** What one request takes. */
export class ByteAccount extends Link implements RequestAccount {
  readonly holder: Holder | undefined
  readonly #budget: ByteBudget
  #flow: string
  #charged = 0
  #held: readonly ArrayBufferLike[] = []
  #isOver = false

  constructor(budget: ByteBudget, flow: string, holder: Holder | undefined) {
    super()
    this.#budget = budget
    this.#flow = flow
    this.holder = holder
  }

  tryCharge(bytes: number): boolean {
    return this.#take(bytes) === undefined
  }

  charge(bytes: number): void {
    const excess = this.#take(bytes)
    if (excess !== undefined) throw refusal(excess, bytes, this.#charged, this.#budget.limits)
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
    this.#giveAll()
    if (this.#isOver) return
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

  /** The request is over, or its client has left: what is still done for it is not counted. */
  close(): void {
    this.#giveAll()
    this.#isOver = true
  }

  /** Ends the request for the sake of others. */
  shed(): void {
    this.close()
    this.holder?.shed()
  }

  isBefore(other: ByteAccount): boolean {
    const [idle, othersIdle] = [this.holder?.isIdle === true, other.holder?.isIdle === true]
    return idle === othersIdle ? this.#bytes > other.#bytes : idle
  }

  get #bytes(): number {
    return this.#held.reduce((sum, { byteLength }) => sum + byteLength, this.#charged)
  }

  #take(bytes: number): Excess | undefined {
    if (this.#isOver) return undefined
    const excess = this.#budget.take(this.#flow, bytes, this.#charged)
    if (excess !== undefined) return excess
    this.#charged += bytes
    this.#budget.enter(this.#flow, this)
    return undefined
  }

  #giveAll(): void {
    this.#write(-1)
    this.#charged = 0
    this.#held = []
  }

  #write(sign: 1 | -1): void {
    if (sign < 0) this.#budget.leave(this.#flow, this)
    if (this.#charged === 0 && this.#held.length === 0) return
    this.#budget.change(this.#flow, (ledger) => {
      ledger.add(sign * this.#charged)
      for (const buffer of this.#held) {
        if (sign > 0) ledger.hold(buffer)
        else ledger.drop(buffer)
      }
    })
    if (sign > 0) this.#budget.enter(this.#flow, this)
  }
}

/** `own`: what the request has been charged before. What can never fit is not to be tried again. */
function refusal(excess: Excess, bytes: number, own: number, { totalBytes }: BudgetLimits): StatusError {
  if (bytes > totalBytes) {
    const message =
      `The answer would take ${bytes} bytes of memory, more than the ${totalBytes} that all requests may take ` +
      'together: ask for less at a time, with limit and continue.'
    return new StatusError(message, { reason: 'RequestEntityTooLarge' })
  }
  if (own + bytes > totalBytes) {
    const message =
      `The request takes more memory than the ${totalBytes} bytes that all requests may take together: send or ask ` +
      'for less at a time. YAML takes more than JSON.'
    return new StatusError(message, { reason: 'RequestEntityTooLarge' })
  }
  return excess === 'flow_memory'
    ? tooManyRequests('Your requests and answers under way take too much memory, please try again later.', 1)
    : tooManyRequests('The server is busy: what is under way takes too much memory, please try again later.', 1)
}
