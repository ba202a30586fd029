/**
 * Long answers in gzip for clients that accept it, also those that are made while they are sent. Not watches: an event
 * must not wait for a block to fill. The fastest level, on another thread; an answer whose bytes are kept (a document)
 * is compressed once. Compression ends when all clients that wait for it have left.
 * @see k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/writers.go v0.36
 */
import { pipeline, Readable } from 'node:stream'
import { pipeline as piped } from 'node:stream/promises'
import { constants, createGzip } from 'node:zlib'
import { untilAborted } from '../../base/aborted.ts'
import { andThen, type Eventual } from '../../base/eventual.ts'
import {
  type AnswerStream,
  type ApiBody,
  type ApiRequest,
  type ApiResponse,
  isAnswerStream,
  isStream,
  type Stage,
} from '../api.ts'

/** Above that, as upstream: in a fast network less is not worth the work. */
export const compressedFromBytes: number = 128 * 1024

/** Handed to the compressor at a time: it can't be stopped before these are done. */
const sliceBytes = 256 * 1024

const options = { level: constants.Z_BEST_SPEED }

export function compressAnswers(): Stage {
  const kept = new WeakMap<Uint8Array, Compression>()
  const compressionOf = (body: Uint8Array | readonly Uint8Array[]): Compression => {
    if (!(body instanceof Uint8Array)) return new Compression(body)
    let made = kept.get(body)
    if (made === undefined || made.isGivenUp) {
      made = new Compression([body])
      kept.set(body, made)
    }
    return made
  }
  const isKept = (body: Uint8Array | readonly Uint8Array[]): boolean => body instanceof Uint8Array && kept.has(body)
  const compressIfLong = (request: ApiRequest, response: ApiResponse): Eventual<ApiResponse> => {
    const { status, body, headers } = response
    const isInTheMaking = isAnswerStream(body)
    if (
      !(isInTheMaking || isLong(body)) ||
      headers['content-encoding'] !== undefined ||
      !((!isInTheMaking && isKept(body)) || (request.account?.tryCharge(costOf(body)) ?? true))
    ) {
      return response
    }
    const inGzip = { ...headers, 'content-encoding': 'gzip', vary: 'Accept-Encoding' }
    if (isInTheMaking) return compressedStream(body, { status, headers }, inGzip)
    return compressionOf(body)
      .for(request.signal)
      .then((bytes) => (bytes === undefined ? response : { status, headers: inGzip, body: bytes }))
  }
  return (next) => (request, context) => {
    const accepted = request.headers['accept-encoding']
    if (accepted === undefined || !takesGzip(accepted)) return next(request, context)
    return andThen(next(request, context), (response) => compressIfLong(request, response))
  }
}

/** Of one answer, for all that are sent it. */
class Compression {
  readonly #givenUp = new AbortController()
  readonly #bytes: Promise<Uint8Array>
  #waiting = 0

  constructor(pieces: readonly Uint8Array[]) {
    this.#bytes = compress(pieces, this.#givenUp.signal)
    // That it was given up is no fault: no client waits for it.
    this.#bytes.catch(() => {})
  }

  get isGivenUp(): boolean {
    return this.#givenUp.signal.aborted
  }

  /** Undefined: the client has left. */
  async for(client: AbortSignal): Promise<Uint8Array | undefined> {
    this.#waiting++
    try {
      return await untilAborted(this.#bytes, client)
    } catch (error) {
      if (client.aborted) return undefined
      throw error
    } finally {
      this.#waiting--
      if (this.#waiting === 0 && client.aborted) this.#givenUp.abort()
    }
  }
}

async function compress(pieces: readonly Uint8Array[], signal: AbortSignal): Promise<Uint8Array> {
  const made: Uint8Array[] = []
  const keep = async (chunks: AsyncIterable<Uint8Array>): Promise<void> => {
    for await (const chunk of chunks) made.push(chunk)
  }
  await piped(slicesOf(pieces), createGzip(options), keep, { signal })
  return Buffer.concat(made)
}

function* slicesOf(pieces: readonly Uint8Array[]): Generator<Uint8Array> {
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; at += sliceBytes) yield piece.subarray(at, at + sliceBytes)
  }
}

/** What turns out to be short is sent as it is. */
async function compressedStream(
  source: AnswerStream,
  answer: Pick<ApiResponse, 'status' | 'headers'>,
  inGzip: ApiResponse['headers'],
): Promise<ApiResponse> {
  let rest: AsyncIterator<Uint8Array> = source[Symbol.asyncIterator]()
  const begun: Uint8Array[] = []
  try {
    for (let size = 0; size <= compressedFromBytes; ) {
      const next = await rest.next()
      if (next.done) return { ...answer, body: Buffer.concat(begun) }
      begun.push(next.value)
      size += next.value.length
    }
  } catch (error) {
    // Errors have been answered by an inner stage: what fails now ends the connection.
    rest = { next: () => Promise.reject(error) }
  }
  return { status: answer.status, headers: inGzip, body: new GzipStream(source, begun, rest) }
}

/** Reads its source no faster than it is read itself. */
class GzipStream implements AnswerStream {
  readonly isAnswer = true
  readonly #source: AnswerStream
  readonly #gzip = createGzip(options)

  constructor(source: AnswerStream, begun: readonly Uint8Array[], rest: AsyncIterator<Uint8Array>) {
    this.#source = source
    async function* all(): AsyncGenerator<Uint8Array> {
      yield* begun
      yield* { [Symbol.asyncIterator]: () => rest }
    }
    // What fails, or is left, on one side ends the other: a reader hears of it from `#gzip`.
    pipeline(Readable.from(all(), { objectMode: false }), this.#gzip, () => {})
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return this.#gzip[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#gzip.destroy()
    await this.#source[Symbol.asyncDispose]()
  }
}

function isLong(body: ApiBody): body is Uint8Array | readonly Uint8Array[] {
  return !isStream(body) && sizeOf(body) > compressedFromBytes
}

const sizeOf = (body: Uint8Array | readonly Uint8Array[]): number =>
  body instanceof Uint8Array ? body.length : body.reduce((size, chunk) => size + chunk.length, 0)

/** Memory beside the answer: the compressed bytes, and joined pieces. Where none is left, it is sent as it is. */
function costOf(body: Uint8Array | readonly Uint8Array[] | AnswerStream): number {
  if (body instanceof Uint8Array) return body.length / 2
  // Of an answer in the making: what is looked at first, and what the compressor keeps.
  return isStream(body) ? 4 * compressedFromBytes : sizeOf(body) * 1.5
}

/** Upstream looks for the bare word: `gzip;q=0` and `gzip;q=1` both are no request for it. */
const takesGzip = (accepted: string): boolean => accepted.split(',').some((token) => token.trim() === 'gzip')
