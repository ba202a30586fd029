/**
 * Requests that a client sends over HTTP/1.1 before it has read the answers to those before them (pipelining). They are
 * served one after the other, as by Go's server: writes must not overtake each other, and a client must not have more
 * under way than it has connections. Node's parser reads on while they wait, so only a few may, and little of them.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Bound } from '../incidents.ts'
import { EarlyBody } from './early-body.ts'

/** Those that wait have been parsed, some 5 KB each. No client library sends more than one at a time. */
const mostPipelined = 32
/** Headers and bodies of all that wait. */
const mostPipelinedBytes = 64 * 1024
/** A client may have read an answer before this process hears that it was sent. More than this is not read. */
const mostUnheardBytes = 64 * 1024

interface Waiting {
  readonly response: ServerResponse
  readonly begin: (early: EarlyBody | undefined) => void
  readonly headerBytes: number
  early: EarlyBody | undefined
}

/** Of one connection. */
export class OneAtATime {
  readonly #onExcess: (bound: Bound) => void
  #current: ServerResponse | undefined
  readonly #waiting: Waiting[] = []

  /** `onExcess`: too much waits. */
  constructor(onExcess: (bound: Bound) => void) {
    this.#onExcess = onExcess
  }

  /** `begin` is called when all answers before are sent, and never if it can no longer be answered. */
  add(response: ServerResponse, hasBody: boolean, begin: Waiting['begin']): void {
    if (this.#waiting.length === 0 && isSent(this.#current)) {
      this.#current = response
      return begin(undefined)
    }
    if (this.#waiting.length >= mostPipelined) return this.#onExcess('pipelined_flood')
    const { req: request } = response
    const waiting: Waiting = { response, begin, headerBytes: headerBytesOf(request), early: undefined }
    if (this.#waiting.push(waiting) === 1) this.#awaitSent()
    if (hasBody) waiting.early = new EarlyBody(request, () => this.#limit())
    this.#limit()
  }

  /** Begins the next one if the one before it has its answer, be it unsent. Answers whether it did. */
  beginNext(): boolean {
    const next = this.#current?.writableEnded ? this.#waiting.shift() : undefined
    if (next === undefined) return false
    this.#begin(next)
    return true
  }

  #begin({ response, begin, early }: Waiting): void {
    this.#current = response
    if (this.#waiting.length > 0) this.#awaitSent()
    begin(early)
  }

  #awaitSent(): void {
    const current = this.#current
    const goOn = (): void => {
      if (this.#current !== current) return
      const next = this.#waiting.shift()
      if (next === undefined) return
      // The peer has left, or was told that this connection ends: nothing can be answered, so nothing may be done.
      if (next.response.req.socket.writable) this.#begin(next)
      else this.#waiting.length = 0
    }
    current?.once('finish', goOn).once('close', goOn)
  }

  #limit(): void {
    let bytes = 0
    for (const { headerBytes, early } of this.#waiting) {
      if (early?.isCrumbled) return this.#onExcess('body_pieces')
      bytes += headerBytes + (early?.size ?? 0)
    }
    if (bytes > mostPipelinedBytes) this.#onExcess('pipelined_flood')
  }
}

/** The system has all of the answer, or is about to say so: a client that sends the next request has waited for it. */
const isSent = (response: ServerResponse | undefined): boolean =>
  response === undefined ||
  response.writableFinished ||
  (response.writableEnded && response.req.socket.writableLength <= mostUnheardBytes)

function headerBytesOf({ url = '', rawHeaders }: IncomingMessage): number {
  let bytes = url.length
  for (const text of rawHeaders) bytes += text.length
  return bytes
}
