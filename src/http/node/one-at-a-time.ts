/**
 * Requests that a client sends over HTTP/1.1 before it has read the answers to those before them (pipelining). They are
 * served one after the other, as by Go's server: writes must not overtake each other, and a client must not have more
 * under way than it has connections. Node's parser reads on while they wait, so only a few may, and little of them.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Bound } from '../incidents.ts'
import type { IncomingBody } from './incoming-body.ts'

/** Those that wait have been parsed, some 5 KB each. No client library sends more than one at a time. */
const mostPipelined = 32
/** Headers and bodies of all that wait. */
const mostPipelinedBytes = 64 * 1024
/** A client may have read an answer before this process hears that it was sent. More than this is not read. */
const mostUnheardBytes = 64 * 1024

interface Waiting {
  readonly response: ServerResponse
  readonly begin: () => void
  readonly headerBytes: number
  readonly body: IncomingBody | undefined
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
  add(response: ServerResponse, body: IncomingBody | undefined, begin: Waiting['begin']): void {
    if (this.#waiting.length === 0 && isSent(this.#current)) {
      this.#current = response
      return begin()
    }
    if (this.#waiting.length >= mostPipelined) return this.#onExcess('pipelined_flood')
    const { req: request } = response
    if (this.#waiting.push({ response, begin, headerBytes: headerBytesOf(request), body }) === 1) this.#awaitSent()
    this.limit()
  }

  /** Begins the next one if the one before it has its answer, be it unsent. Answers whether it did. */
  beginNext(): boolean {
    const next = this.#current?.writableEnded ? this.#waiting.shift() : undefined
    if (next === undefined) return false
    this.#begin(next)
    return true
  }

  #begin({ response, begin }: Waiting): void {
    this.#current = response
    if (this.#waiting.length > 0) this.#awaitSent()
    begin()
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

  /** More has come of a body. */
  limit(): void {
    let bytes = 0
    for (const { headerBytes, body } of this.#waiting) bytes += headerBytes + (body?.size ?? 0)
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
