/**
 * Requests that a client sends over HTTP/1.1 before it has read the answers to those before them (pipelining). They are
 * served one after the other, as by Go's server: writes must not overtake each other, and a client must not have more
 * under way than it has connections. Node's parser reads on while they wait, so only a few may.
 */
import type { ServerResponse } from 'node:http'

/** Those that wait have been parsed, some 5 KB each. No client library sends more than one at a time. */
const mostPipelined = 32

interface Waiting {
  readonly response: ServerResponse
  readonly begin: () => void
}

/** Of one connection. */
export class OneAtATime {
  #current: ServerResponse | undefined
  readonly #waiting: Waiting[] = []

  /** `begin` is called when all answers before are sent, and never if it can no longer be answered. */
  add(response: ServerResponse, begin: () => void): 'taken' | 'full' {
    const current = this.#current
    if (this.#waiting.length === 0 && (current === undefined || current.writableFinished)) {
      this.#current = response
      begin()
      return 'taken'
    }
    if (this.#waiting.length >= mostPipelined) return 'full'
    if (this.#waiting.push({ response, begin }) === 1) this.#awaitSent()
    return 'taken'
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
}
