/**
 * Answers on their way out. Of a long one the socket is handed a slice at a time, which it encrypts and keeps until the
 * peer reads, once for each peer. The rest stays in the one buffer that all peers share.
 */
import type { Writable } from 'node:stream'
import type { Eventual } from '../../base/eventual.ts'
import type { Stream } from '../../base/stream.ts'
import { StatusError } from '../../kube/status-error.ts'
import { type ApiBody, type ApiResponse, isStream } from '../api.ts'
import type { Traffic } from '../traffic.ts'
import { type Exchange, sliceBytes } from './exchange.ts'

const noBytes = new Uint8Array(0)
const noPieces: readonly Uint8Array[] = []

/** @param traffic told of answers that outlast what made them: a shutdown closes the store before they are sent */
export function sendAnswer(exchange: Exchange, answer: ApiResponse, isHead: boolean, traffic: Traffic): Eventual<void> {
  const { body } = answer
  if (exchange.sink.destroyed) return discard(body)
  if (isHead) {
    exchange.writeHead(answer, 0)
    end(exchange, noPieces, 0)
    return discard(body)
  }
  if (isStream(body)) {
    exchange.writeHead(answer, undefined)
    return endBehind(exchange, sendStream(exchange, exchange.sink, body), traffic)
  }
  const pieces = body instanceof Uint8Array ? [body] : body
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  exchange.settle(pieces, length)
  exchange.writeHead(answer, length)
  if (length <= exchange.wholeBytes) end(exchange, pieces, length)
  else return endBehind(exchange, sendSlices(exchange, exchange.sink, pieces), traffic)
}

/** Small enough to be handed over at once, the headers with it where Node holds them back. */
function end(exchange: Exchange, pieces: readonly Uint8Array[], length: number): void {
  exchange.answered(length)
  for (let i = 0; i + 1 < pieces.length; i++) exchange.sink.write(pieces[i])
  exchange.writeEnd(pieces.at(-1) ?? noBytes)
}

async function endBehind(exchange: Exchange, sending: Promise<void>, traffic: Traffic): Promise<void> {
  const ended = traffic.goOn()
  try {
    await sending
  } catch (error) {
    // Half an answer must not look like a whole one.
    exchange.cutOff()
    // What a stream says to a client that has left is told to none; a fault is told even then.
    if (!(exchange.signal.aborted && error instanceof StatusError)) throw error
    return
  } finally {
    ended()
  }
  exchange.answered(0)
  if (!exchange.sink.destroyed) exchange.writeEnd(noBytes)
}

/** Resolves when all is handed over, or the peer has left. */
function sendSlices(exchange: Exchange, sink: Writable, pieces: readonly Uint8Array[]): Promise<void> {
  return new Promise((resolve) => {
    const slices = slicesOf(pieces)
    sink.once('close', resolve)
    const next = (): void => {
      for (;;) {
        const { value: slice, done } = slices.next()
        if (done) return resolve()
        exchange.sends(slice.length)
        if (!sink.write(slice)) return void sink.once('drain', next)
      }
    }
    next()
  })
}

function* slicesOf(pieces: readonly Uint8Array[]): Generator<Uint8Array, undefined> {
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; at += sliceBytes) yield piece.subarray(at, at + sliceBytes)
  }
}

/**
 * Writes a stream item by item, waiting for a slow peer: what piles up meanwhile is bounded by the stream, which cuts
 * itself off. Leaves the stream (and so ends the watch behind it) when the peer goes away.
 */
async function sendStream(exchange: Exchange, sink: Writable, body: Stream<Uint8Array>): Promise<void> {
  const gone = exchange.signal
  const stop = (): void => void body[Symbol.asyncDispose]()
  gone.addEventListener('abort', stop, { once: true })
  if (gone.aborted) stop()
  try {
    for await (const chunk of body) {
      // A piece has the time that the least rate gives it, and its memory for as long: small ones are seen to be read.
      for (const slice of chunk.length <= sliceBytes ? [chunk] : slicesOf([chunk])) {
        if (gone.aborted) break
        if (sink.write(slice)) continue
        exchange.sends(slice.length)
        await waitForDrain(sink, gone)
        exchange.sent()
      }
      if (gone.aborted) break
    }
  } finally {
    gone.removeEventListener('abort', stop)
  }
}

/** Resolves when the sink takes more, or the peer has left. */
function waitForDrain(sink: Writable, gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const goOn = (): void => {
      sink.off('drain', goOn)
      gone.removeEventListener('abort', goOn)
      resolve()
    }
    sink.on('drain', goOn)
    gone.addEventListener('abort', goOn, { once: true })
    if (gone.aborted) goOn()
  })
}

async function discard(body: ApiBody): Promise<void> {
  if (isStream(body)) await body[Symbol.asyncDispose]()
}
