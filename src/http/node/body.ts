/**
 * Bodies of requests: read up to a limit, at a least rate, and counted while they come in.
 *
 * By events: leaving a stream's async iterator early would destroy the stream, and with it the answer that says why.
 * A small body over HTTP/1.1 has mostly come along with its headers, and is then whole: taken at once, which saves a
 * tenth of what Node spends on such a request.
 */
import type { Http2Stream } from 'node:http2'
import type { Readable } from 'node:stream'
import { requestTooLarge, StatusError } from '../../kube/status-error.ts'
import type { ApiRequest } from '../api.ts'
import { countedFromBytes, type Exchange } from './exchange.ts'

/** Memory for each byte of a body while it is worked on: its text, its values, the bytes that are stored. */
const workedOnAs = 4

const noBytes = new Uint8Array(0)
export const noBody: ApiRequest['body'] = () => noBytes

export function bodyReader(
  source: Readable,
  exchange: Exchange,
  declared: string | undefined,
  isWhole: () => boolean = () => false,
): ApiRequest['body'] {
  return (limitBytes) => {
    if (declared !== undefined && Number(declared) > limitBytes) throw requestTooLarge(limitBytes)
    if (isWhole()) {
      const bytes = takeAll(source)
      if (bytes.length > limitBytes) throw requestTooLarge(limitBytes)
      if (bytes.length >= countedFromBytes) exchange.account.charge(workedOnAs * bytes.length)
      return bytes
    }
    return new Promise((resolve, reject) => new Reading(source, exchange, limitBytes, resolve, reject))
  }
}

class Reading {
  readonly #source: Readable
  readonly #exchange: Exchange
  readonly #limitBytes: number
  readonly #resolve: (bytes: Uint8Array) => void
  readonly #reject: (error: unknown) => void
  #chunks: Buffer[] = []
  #size = 0
  #charged = 0
  #isOver = false

  constructor(
    source: Readable,
    exchange: Exchange,
    limitBytes: number,
    resolve: (bytes: Uint8Array) => void,
    reject: (error: unknown) => void,
  ) {
    this.#source = source
    this.#exchange = exchange
    this.#limitBytes = limitBytes
    this.#resolve = resolve
    this.#reject = reject
    if (source.destroyed) {
      // Its events are over.
      this.#leave()
      return
    }
    exchange.receives((error) => this.#refuse(error))
    source.on('data', this.#onData)
    source.once('end', () => this.#finish())
    source.once('error', (error) => this.#leave(error))
    source.once('close', () => this.#leave())
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#size += chunk.length
    this.#exchange.received(chunk.length)
    try {
      if (this.#size > this.#limitBytes) throw requestTooLarge(this.#limitBytes)
      if (this.#size >= countedFromBytes) this.#charge(this.#size)
      this.#chunks.push(chunk)
    } catch (error) {
      this.#refuse(error)
    }
  }

  #charge(bytes: number): void {
    this.#exchange.account.charge(bytes - this.#charged)
    this.#charged = bytes
  }

  #finish(): void {
    // Node ends an HTTP/2 stream that its client cancels as if all had come.
    if ((this.#source as Partial<Http2Stream>).aborted) return this.#leave()
    if (this.#isOver) return
    try {
      if (this.#charged > 0) this.#charge(workedOnAs * this.#size)
    } catch (error) {
      return this.#fail(error)
    }
    const chunks = this.#chunks
    this.#end()
    this.#resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, this.#size))
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
  }

  /** The listeners live as long as the stream, and an answer may be long in coming: they must not keep the body. */
  #end(): void {
    this.#isOver = true
    this.#chunks = []
    this.#exchange.receivedAll()
  }
}

/** What has come so far. A read answers one chunk, which is what one TLS record held. */
function takeAll(source: Readable): Uint8Array {
  const chunks: Buffer[] = []
  const next = (): Buffer | null => source.read() as Buffer | null
  for (let chunk = next(); chunk !== null; chunk = next()) chunks.push(chunk)
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
}
