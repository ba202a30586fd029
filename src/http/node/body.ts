/**
 * Bodies of requests: read up to a limit, at a least rate, and counted while they come in.
 *
 * A small body has mostly come along with its headers, and is then whole: taken at once. Of a request that waits (for
 * its user to be known, for a seat) the body comes in meanwhile.
 */
import type { Eventual } from '../../base/eventual.ts'
import { requestTooLarge, StatusError } from '../../kube/status-error.ts'
import type { ApiRequest } from '../api.ts'
import { countedFromBytes, type Exchange } from './exchange.ts'
import type { BodyFollower, IncomingBody } from './incoming-body.ts'

/** Memory for each byte of a body while it is worked on: its text, its values, the bytes that are stored. */
const workedOnAs = 4
/** Of what comes before it is asked for, and its limit is known: no handler takes more. */
const mostEarlyBytes = 8 * 1024 * 1024

const noBytes = new Uint8Array(0)
export const noBody: ApiRequest['body'] = () => noBytes

export interface BodyOptions {
  readonly incoming: IncomingBody
  readonly exchange: Exchange
  /** Content-Length. */
  readonly declared: string | undefined
}

export class Body {
  readonly #options: BodyOptions
  #early: Reading | undefined
  #isAsked = false

  constructor(options: BodyOptions) {
    this.#options = options
  }

  /** Its request waits. */
  comeIn(): void {
    if (!this.#isAsked) this.#early ??= new Reading(this.#options, mostEarlyBytes)
  }

  /** Its request is answered: nothing asks for it any more. */
  forgo(): void {
    this.#early?.stop()
  }

  /** @throws StatusError as the promise is rejected with */
  read(limitBytes: number): Eventual<Uint8Array> {
    const { incoming, exchange, declared } = this.#options
    this.#isAsked = true
    if (declared !== undefined && Number(declared) > limitBytes) throw requestTooLarge(limitBytes)
    if (this.#early !== undefined) return this.#early.within(limitBytes)
    if (!incoming.isWhole) return new Reading(this.#options, limitBytes).bytes
    if (incoming.size > limitBytes) throw requestTooLarge(limitBytes)
    if (incoming.size >= countedFromBytes) exchange.account.charge(workedOnAs * incoming.size)
    return incoming.take()
  }
}

class Reading implements BodyFollower {
  readonly bytes: Promise<Uint8Array>
  readonly #incoming: IncomingBody
  readonly #exchange: Exchange
  readonly #resolve: (bytes: Uint8Array) => void
  readonly #reject: (error: unknown) => void
  #limitBytes: number
  #charged = 0
  #isOver = false

  constructor({ incoming, exchange }: BodyOptions, limitBytes: number) {
    this.#incoming = incoming
    this.#exchange = exchange
    this.#limitBytes = limitBytes
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>()
    this.bytes = promise
    this.#resolve = resolve
    this.#reject = reject
    if (incoming.isWhole) this.whole()
    // Its events are over.
    else if (incoming.source.destroyed) this.#leave()
    else this.#follow()
  }

  #follow(): void {
    const { source } = this.#incoming
    this.#exchange.receives((error) => this.#fail(error))
    // Listening before more can come: an error without a listener ends the process.
    source.once('error', (error) => this.#leave(error))
    source.once('close', () => this.#leave())
    this.#incoming.follow(this)
    this.came(this.#incoming.size)
  }

  /** All of it, when its limit is known at last. */
  within(limitBytes: number): Promise<Uint8Array> {
    this.#limitBytes = limitBytes
    if (!this.#isOver && this.#incoming.size > limitBytes) this.#fail(requestTooLarge(limitBytes))
    return this.bytes.then((bytes) => {
      if (bytes.length > limitBytes) throw requestTooLarge(limitBytes)
      return bytes
    })
  }

  stop(): void {
    if (!this.#isOver) this.#fail(new StatusError('the request is answered', { reason: 'BadRequest' }))
  }

  came(bytes: number): void {
    this.#exchange.received(bytes)
    const { size } = this.#incoming
    try {
      if (size > this.#limitBytes) throw requestTooLarge(this.#limitBytes)
      if (size >= countedFromBytes) this.#charge(size)
    } catch (error) {
      this.#fail(error)
    }
  }

  whole(): void {
    if (this.#isOver) return
    const { size } = this.#incoming
    try {
      if (size >= countedFromBytes) this.#charge(workedOnAs * size)
    } catch (error) {
      return this.#fail(error)
    }
    this.#end()
    this.#resolve(this.#incoming.take())
  }

  #charge(bytes: number): void {
    this.#exchange.account.charge(bytes - this.#charged)
    this.#charged = bytes
  }

  /** A refusal, not a fault: it concerns no one but the client, and that has gone. */
  #leave(cause?: unknown): void {
    this.#fail(new StatusError('the client left before its request was complete', { reason: 'BadRequest', cause }))
  }

  /** What is left of it is not read: the connection ends behind the answer. */
  #fail(error: unknown): void {
    if (this.#isOver) return
    this.#end()
    this.#incoming.drop()
    this.#reject(error)
    // Of what came early nothing may ever ask.
    this.bytes.catch(() => {})
  }

  #end(): void {
    this.#isOver = true
    this.#exchange.receivedAll()
  }
}
