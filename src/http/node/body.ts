/**
 * Bodies of requests: read up to a limit, at a least rate, and counted while they come in.
 *
 * By events: leaving a stream's async iterator early would destroy the stream, and with it the answer that says why.
 * A small body over HTTP/1.1 has mostly come along with its headers, and is then whole: taken at once, which saves a
 * tenth of what Node spends on such a request.
 *
 * Of a request that waits (for its user to be known, for a seat) the body comes in meanwhile: left to Node, it would be
 * kept in the pieces in which it came (`body-bytes.ts`).
 */
import type { Http2Stream } from 'node:http2'
import type { Readable } from 'node:stream'
import type { Eventual } from '../../base/eventual.ts'
import { requestTooLarge, StatusError } from '../../kube/status-error.ts'
import type { ApiRequest } from '../api.ts'
import { BodyBytes, type Come } from './body-bytes.ts'
import { countedFromBytes, type Exchange } from './exchange.ts'

/** Memory for each byte of a body while it is worked on: its text, its values, the bytes that are stored. */
const workedOnAs = 4
/** Of what comes before it is asked for, and its limit is known: no handler takes more. */
const mostEarlyBytes = 8 * 1024 * 1024

const noBytes = new Uint8Array(0)
export const noBody: ApiRequest['body'] = () => noBytes

export interface BodyOptions {
  readonly source: Readable
  readonly exchange: Exchange
  /** Content-Length. */
  readonly declared: string | undefined
  readonly isWhole: () => boolean
  /** Before its request was begun. */
  readonly come?: Come | undefined
}

export class Body {
  readonly #options: BodyOptions
  #early: Reading | undefined
  #isAsked = false

  constructor(options: BodyOptions) {
    this.#options = options
    if (options.come !== undefined) this.#early = new Reading(options, mostEarlyBytes, options.come)
  }

  /** Its request waits. */
  comeIn(): void {
    if (!this.#isAsked) this.#early ??= new Reading(this.#options, mostEarlyBytes, takeWhole(this.#options))
  }

  /** Its request is answered: nothing asks for it any more. */
  forgo(): void {
    this.#early?.stop()
  }

  /** @throws StatusError as the promise is rejected with */
  read(limitBytes: number): Eventual<Uint8Array> {
    const { source, exchange, declared, isWhole } = this.#options
    this.#isAsked = true
    if (declared !== undefined && Number(declared) > limitBytes) throw requestTooLarge(limitBytes)
    if (this.#early !== undefined) return this.#early.within(limitBytes)
    if (!isWhole()) return new Reading(this.#options, limitBytes).bytes
    const bytes = takeAll(source)
    if (bytes.length > limitBytes) throw requestTooLarge(limitBytes)
    if (bytes.length >= countedFromBytes) exchange.account.charge(workedOnAs * bytes.length)
    return bytes
  }
}

class Reading {
  readonly bytes: Promise<Uint8Array>
  readonly #source: Readable
  readonly #exchange: Exchange
  readonly #resolve: (bytes: Uint8Array) => void
  readonly #reject: (error: unknown) => void
  #limitBytes: number
  #come: BodyBytes
  #charged = 0
  #isOver = false

  constructor({ source, exchange }: BodyOptions, limitBytes: number, come?: Come) {
    this.#source = source
    this.#exchange = exchange
    this.#limitBytes = limitBytes
    this.#come = come?.bytes ?? new BodyBytes()
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>()
    this.bytes = promise
    this.#resolve = resolve
    this.#reject = reject
    if (come?.isWhole) this.#finish()
    // Its events are over.
    else if (source.destroyed) this.#leave()
    else this.#listen()
  }

  #listen(): void {
    const source = this.#source
    this.#exchange.receives((error) => this.#refuse(error))
    source.on('data', this.#onData)
    source.once('end', () => this.#finish())
    source.once('error', (error) => this.#leave(error))
    source.once('close', () => this.#leave())
  }

  /** All of it, when its limit is known at last. */
  within(limitBytes: number): Promise<Uint8Array> {
    this.#limitBytes = limitBytes
    if (this.#come.size > limitBytes) this.#refuse(requestTooLarge(limitBytes))
    return this.bytes.then((bytes) => {
      if (bytes.length > limitBytes) throw requestTooLarge(limitBytes)
      return bytes
    })
  }

  stop(): void {
    if (this.#isOver) return
    this.#refuse(new StatusError('the request is answered', { reason: 'BadRequest' }))
  }

  readonly #onData = (piece: Buffer): void => {
    const come = this.#come
    come.add(piece)
    this.#exchange.received(piece.length)
    try {
      if (come.size > this.#limitBytes) throw requestTooLarge(this.#limitBytes)
      if (come.size >= countedFromBytes) this.#charge(come.size)
    } catch (error) {
      this.#refuse(error)
    }
    if (come.isCrumbled) this.#exchange.connection.breakOff('body_pieces')
  }

  #charge(bytes: number): void {
    this.#exchange.account.charge(bytes - this.#charged)
    this.#charged = bytes
  }

  #finish(): void {
    // Node ends an HTTP/2 stream that its client cancels as if all had come.
    if ((this.#source as Partial<Http2Stream>).aborted) return this.#leave()
    if (this.#isOver) return
    const { size } = this.#come
    try {
      if (size >= countedFromBytes) this.#charge(workedOnAs * size)
    } catch (error) {
      return this.#fail(error)
    }
    const bytes = this.#come.take()
    this.#end()
    this.#resolve(bytes)
  }

  /** What is left of it is not read: the connection ends behind the answer. */
  #refuse(error: unknown): void {
    this.#source.off('data', this.#onData)
    this.#source.pause()
    this.#fail(error)
  }

  /** A refusal, not a fault: it concerns no one but the client, and that has gone. */
  #leave(cause?: unknown): void {
    this.#fail(new StatusError('the client left before its request was complete', { reason: 'BadRequest', cause }))
  }

  #fail(error: unknown): void {
    if (this.#isOver) return
    this.#end()
    this.#reject(error)
    // Of what came early nothing may ever ask.
    this.bytes.catch(() => {})
  }

  /** The listeners live as long as the stream, and an answer may be long in coming: they must not keep the body. */
  #end(): void {
    this.#isOver = true
    this.#come = new BodyBytes()
    this.#exchange.receivedAll()
  }
}

function takeWhole({ source, isWhole }: BodyOptions): Come | undefined {
  if (!isWhole()) return undefined
  const bytes = new BodyBytes()
  bytes.add(takeAll(source))
  return { bytes, isWhole: true }
}

/** What has come so far. A read answers one chunk, which is what one TLS record held. */
function takeAll(source: Readable): Buffer {
  const chunks: Buffer[] = []
  const next = (): Buffer | null => source.read() as Buffer | null
  for (let chunk = next(); chunk !== null; chunk = next()) chunks.push(chunk)
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
}
