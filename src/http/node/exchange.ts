/**
 * One request and its answer, as the transport follows them.
 *
 *   handling ──▶ body ──▶ handling ──▶ answer ──▶ over
 *
 * In `body` and `answer` the peer must keep the least rate, or the exchange is given up. While it is handled, the
 * pipeline watches the time (`limitTime` in `stages/limit-in-flight.ts`). No timer belongs to an exchange: the
 * connection looks at it now and then, and one that is over before that costs nothing.
 */

import type { ServerResponse } from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'
import { clientLeft } from '../../base/aborted.ts'
import { StatusError, tooManyRequests } from '../../kube/status-error.ts'
import type { ApiResponse } from '../api.ts'
import type { ByteAccount, Holder } from '../byte-budget.ts'
import { flowOf } from '../flow-of.ts'
import type { Bound } from '../incidents.ts'
import { type Connection, Followed } from './connection.ts'

/** The part of a long answer that a socket is handed at a time. */
export const sliceBytes: number = 64 * 1024

/** Smaller bodies and answers are not counted one by one: there are never so many of them at once. */
export const countedFromBytes: number = 16 * 1024

/** Over HTTP/1.1 the answer stands for both directions. */
export type Channel = ServerHttp2Stream | ServerResponse

type Phase = 'handling' | 'body' | 'answer'

export abstract class Exchange extends Followed implements Holder {
  readonly connection: Connection
  readonly #channel: Channel
  #phase: Phase = 'handling'
  /** The least rate is measured from here. */
  #markMs = 0
  #markBytes = 0
  /** In `body`: received so far; in `answer`: handed over, and to be taken by the peer. */
  #bytes = 0
  #onRefusedBody: ((error: StatusError) => void) | undefined
  #account: ByteAccount | undefined
  #user: string | undefined
  #controller: AbortController | undefined
  #isAborted = false
  #isClosed = false
  /** All of the answer is handed over: what happens to the channel then is no departure. */
  #isAnswered = false

  constructor(connection: Connection, channel: Channel) {
    super()
    this.connection = connection
    this.#channel = channel
  }

  /** An answer up to so many bytes is handed over in one piece. */
  abstract readonly wholeBytes: number

  /** Where slices of the answer, or frames of a stream, are written. */
  get sink(): Channel {
    return this.#channel
  }

  /** Begins the answer. Without a length it goes on until it is ended. */
  abstract writeHead(answer: ApiResponse, length: number | undefined): void

  /** Ends the answer so that the peer sees that it is not whole. */
  abstract cutOff(): void

  /** Writes the last bytes of the answer and ends it. */
  abstract writeEnd(last: Uint8Array): void

  /** Aborts when the peer leaves before its answer is complete, or is given up. Made when first asked for: few do. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#isAborted) this.#controller.abort(clientLeft)
    return this.#controller.signal
  }

  get isAnswered(): boolean {
    return this.#isAnswered
  }

  get isOver(): boolean {
    return this.#channel.destroyed || (this.#isAnswered && this.#channel.writableFinished)
  }

  get unreadBytes(): number {
    return this.#channel.destroyed ? 0 : this.#channel.writableLength
  }

  get flow(): string {
    return this.#user === undefined ? this.connection.flow : flowOf(this.#user)
  }

  /** Opened when something is charged for the first time: most requests are small. */
  get account(): ByteAccount {
    if (this.#account === undefined) {
      const account = this.connection.overload.budget.open(this.flow, this)
      this.#account = account
      // Once the channel is closed it does not tell so again.
      if (this.#isClosed) account.close()
      else this.#channel.once('close', () => account.close())
    }
    return this.#account
  }

  /** @throws StatusError TooManyRequests */
  identify(user: string): void {
    this.connection.identify(user)
    this.#user = user
    this.#account?.moveTo(this.flow)
  }

  abort(): void {
    this.#isAborted = true
    this.#controller?.abort(clientLeft)
  }

  /** The channel is closed. */
  closed(): void {
    this.#isClosed = true
    if (this.#isAnswered) return
    this.abort()
    this.connection.cancelled()
  }

  /** The body is awaited from now on. `onRefused` is called once, if it is not waited for any longer. */
  receives(onRefused: (error: StatusError) => void): void {
    this.#phase = 'body'
    this.#onRefusedBody = onRefused
    this.#bytes = 0
    this.#mark()
  }

  received(bytes: number): void {
    this.#bytes += bytes
  }

  receivedAll(): void {
    // It may be answered by now.
    if (this.#phase === 'body') this.#phase = 'handling'
    this.#onRefusedBody = undefined
  }

  /** So many bytes of the answer are handed to the socket and must be taken before others follow. */
  sends(bytes: number): void {
    this.#phase = 'answer'
    this.#bytes = bytes
    this.#mark()
  }

  /** The answer goes on, and the peer has taken all that there is of it for now. */
  sent(): void {
    this.#phase = 'handling'
  }

  /** These bytes are the last. */
  answered(bytes: number): void {
    this.#isAnswered = true
    this.sends(bytes)
  }

  /** What the answer takes until it is read, in place of what it took to make it. */
  settle(pieces: readonly Uint8Array[], length: number): void {
    if (length < countedFromBytes) return this.#account?.settle(0, [])
    const large = pieces.filter((piece) => piece.length >= countedFromBytes)
    if (large.length === 0) this.#account?.settle(0, [])
    else {
      const handedBytes = length <= this.wholeBytes ? Math.max(length, sliceBytes) : sliceBytes
      this.account.settle(handedBytes, [...new Set(large.map((piece) => piece.buffer))])
    }
  }

  look(nowMs: number): void {
    const { slowMs, leastBytesPerSecond } = this.connection.overload.limits.deadlines
    const elapsedMs = nowMs - this.#markMs
    switch (this.#phase) {
      case 'handling':
        return
      case 'body': {
        if (elapsedMs < slowMs) return
        if (this.#bytes - this.#markBytes >= (leastBytesPerSecond * elapsedMs) / 1000) return this.#mark()
        this.connection.overload.incidents.happened('body_deadline', this.flow)
        return this.#onRefusedBody?.(bodyTooSlow(leastBytesPerSecond))
      }
      case 'answer':
        if (elapsedMs >= slowMs + (this.#bytes * 1000) / leastBytesPerSecond) this.cut('answer_deadline')
    }
  }

  get isIdle(): boolean {
    return this.#phase !== 'handling'
  }

  /** A client that still sends its body can be told; one that does not read can't. */
  shed(): void {
    if (this.#phase !== 'body') return this.cut('largest_flow')
    this.connection.overload.incidents.happened('largest_flow', this.flow)
    this.#onRefusedBody?.(takesMost())
  }

  cut(bound: Bound): void {
    this.connection.overload.incidents.happened(bound, this.flow)
    this.#channel.destroy()
  }

  #mark(): void {
    this.#markMs = this.connection.overload.sweeper.nowMs
    this.#markBytes = this.#bytes
  }
}

const takesMost = (): StatusError =>
  tooManyRequests(
    'Memory is short, and your requests and answers under way take most of it, please try again later.',
    1,
  )

const bodyTooSlow = (leastBytesPerSecond: number): StatusError =>
  new StatusError(
    `The body of the request came in too slowly: at least ${leastBytesPerSecond} bytes per second are expected.`,
    { reason: 'Timeout', code: 408 },
  )
