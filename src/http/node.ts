/**
 * The only file that knows sockets and TLS: HTTP/2 and HTTP/1.1 on one port, turned into `ApiRequest` and back.
 *
 * HTTP/2 is served on Node's stream interface, not on its HTTP/1 imitation, which costs a third of the throughput.
 */

import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import http2 from 'node:http2'
import type { AddressInfo } from 'node:net'
import type { Readable } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { aborted } from '../base/aborted.ts'
import { andThen, type Eventual } from '../base/eventual.ts'
import { escapedTarget } from '../base/header-bytes.ts'
import { requestTooLarge, StatusError } from '../kube/status-error.ts'
import { type ApiBody, type ApiRequest, type ApiResponse, isAnswerStream, isStream } from './api.ts'
import { Gathered } from './gather.ts'
import type { Serve } from './pipeline.ts'
import { Traffic } from './traffic.ts'

export interface TlsMaterial {
  readonly key: string
  readonly cert: string
  /** Client certificates must chain to it. */
  readonly clientCa: string
}

export interface ListenOptions {
  readonly host: string
  /** 0 picks a free one. */
  readonly port: number
  readonly tls: TlsMaterial
  readonly onError: (error: unknown) => void
}

export interface Listener {
  readonly host: string
  readonly port: number
  /** Serves with a new certificate from now on; open connections keep theirs. */
  setTls(tls: TlsMaterial): void
  /** Resolves when no request waits for its answer any more, watches apart, or `deadline` aborts. */
  answered(deadline: AbortSignal): Promise<void>
  /**
   * Stops accepting; resolves when every request under way is answered or `deadline` aborts, which cuts the rest off.
   */
  close(deadline: AbortSignal): Promise<void>
}

const maxHeaderBytes = 64 * 1024
const idleTimeoutMs = 120_000
const headersTimeoutMs = 30_000
/** Per HTTP/2 connection; client-go multiplexes all its watches over one. */
const maxConcurrentStreams = 1000

/** @throws NodeJS.ErrnoException EADDRINUSE, EACCES, EADDRNOTAVAIL */
export async function listen(serve: Serve, options: ListenOptions): Promise<Listener> {
  const server = http2.createSecureServer({
    ...tlsOptions(options.tls),
    allowHTTP1: true,
    requestCert: true,
    rejectUnauthorized: false,
    maxHeaderListPairs: 256,
    maxHeaderSize: maxHeaderBytes,
    settings: { maxConcurrentStreams, initialWindowSize: 1024 * 1024, maxHeaderListSize: maxHeaderBytes },
    keepAliveTimeout: idleTimeoutMs,
    headersTimeout: headersTimeoutMs,
    requestTimeout: 0,
    // Most requests have no body: nothing is set up to read one.
    optimizeEmptyRequests: true,
  } as http2.SecureServerOptions)

  const sockets = new Set<TLSSocket>()
  const sessions = new Set<http2.ServerHttp2Session>()
  const traffic = new Traffic()
  let closing = false
  const ended = (): void => traffic.end()
  const failed = (error: unknown): void => {
    options.onError(error)
    ended()
  }
  const gathered = new Gathered()

  /** Counts a request as under way until it is answered. */
  const take = (answer: () => Eventual<void>): void => {
    traffic.begin()
    gathered.add(() => {
      try {
        const answering = answer()
        if (answering instanceof Promise) answering.then(ended, failed)
        else ended()
      } catch (error) {
        failed(error)
      }
    })
  }

  server.on('secureConnection', (socket) => {
    socket.setNoDelay(true)
    sockets.add(socket)
    // Node ends a connection when its client ends its side: what can be answered at once is answered before.
    socket.prependListener('end', () => gathered.beginAll())
    socket.once('close', () => sockets.delete(socket))
  })
  server.on('session', (session) => {
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
    session.on('error', () => {}) // the peer broke the connection: its streams hear of it themselves
  })
  server.on('tlsClientError', () => {}) // a handshake that fails is the peer's business
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (closing) response.setHeader('connection', 'close')
    take(() => answerHttp1(serve, request, response, traffic))
  })
  // Adding 'request' made Node install its HTTP/1 imitation for HTTP/2 streams as well: ours replaces it.
  server.removeAllListeners('stream')
  server.on('stream', (stream: http2.ServerHttp2Stream, headers, _flags, rawHeaders: readonly string[]) => {
    const departure = departureOf(stream)
    take(() => answerHttp2(serve, stream, { headers, rawHeaders }, departure, traffic))
  })

  server.listen(options.port, options.host)
  await Promise.race([once(server, 'listening'), once(server, 'error').then(([error]) => Promise.reject(error))])
  server.on('error', options.onError)
  const address = server.address() as AddressInfo

  return {
    host: options.host,
    port: address.port,
    setTls: (tls) => server.setSecureContext(tlsOptions(tls)),
    answered: (deadline) => traffic.answered(deadline),
    async close(deadline) {
      closing = true
      server.close()
      for (const session of sessions) session.close()
      await traffic.over(deadline)
      // Answered is not yet sent: a session ends by itself when its last answer is out, a socket is let go behind it.
      const closed = Promise.all(
        [...sessions].map((session) => new Promise((resolve) => session.once('close', resolve))),
      )
      await Promise.race([closed, aborted(deadline)])
      for (const session of sessions) session.destroy()
      for (const socket of sockets) {
        if (deadline.aborted) socket.destroy()
        else socket.destroySoon()
      }
    },
  }
}

function tlsOptions(tls: TlsMaterial): { key: string; cert: string; ca: string; minVersion: 'TLSv1.2' } {
  return { key: tls.key, cert: tls.cert, ca: tls.clientCa, minVersion: 'TLSv1.2' }
}

const certificates = new WeakMap<TLSSocket, NonNullable<ApiRequest['clientCertificate']> | 'none'>()

/** The peer's certificate does not change during a connection: looked at once. */
function clientCertificateOf(socket: TLSSocket): ApiRequest['clientCertificate'] {
  let found = certificates.get(socket)
  if (found === undefined) {
    const der = socket.getPeerX509Certificate()?.raw
    found = der === undefined ? 'none' : { der, rejected: !socket.authorized }
    certificates.set(socket, found)
  }
  return found === 'none' ? undefined : found
}

/**
 * Reads a body up to a limit. By events: leaving a stream's async iterator early would destroy the stream, and with it
 * the answer that says why. A small body over HTTP/1.1 has mostly come along with its headers, and is then whole: taken
 * at once, which saves a tenth of what Node spends on such a request.
 */
function bodyReader(
  source: Readable,
  declared: string | undefined,
  isWhole: () => boolean = () => false,
): ApiRequest['body'] {
  return (limitBytes) => {
    if (declared !== undefined && Number(declared) > limitBytes) throw requestTooLarge(limitBytes)
    if (isWhole()) {
      const bytes = takeAll(source)
      if (bytes.length > limitBytes) throw requestTooLarge(limitBytes)
      return bytes
    }
    return new Promise((resolve, reject) => {
      /** A refusal, not a fault: it concerns no one but the client, who does not see it any more. */
      const refuse = (cause?: unknown): void =>
        reject(new StatusError('the client left before its request was complete', { reason: 'BadRequest', cause }))
      // Its events are over.
      if (source.destroyed) return refuse()
      const chunks: Buffer[] = []
      let size = 0
      const onData = (chunk: Buffer): void => {
        size += chunk.length
        if (size <= limitBytes) {
          chunks.push(chunk)
          return
        }
        source.off('data', onData)
        source.pause()
        reject(requestTooLarge(limitBytes))
      }
      source.on('data', onData)
      let ended = false
      source.once('end', () => {
        ended = true
        // Node ends an HTTP/2 stream that its client cancels as if all had come.
        if ((source as Partial<http2.Http2Stream>).aborted) return refuse()
        resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size))
        // The listeners live as long as the stream, and an answer may be long in coming.
        chunks.length = 0
      })
      source.once('error', refuse)
      source.once('close', () => {
        if (!ended) refuse()
      })
    })
  }
}

/** What has come so far. A read answers one chunk, which is what one TLS record held. */
function takeAll(source: Readable): Uint8Array {
  const chunks: Buffer[] = []
  const next = (): Buffer | null => source.read() as Buffer | null
  for (let chunk = next(); chunk !== null; chunk = next()) chunks.push(chunk)
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
}

const noBytes = new Uint8Array(0)
const noBody: ApiRequest['body'] = () => noBytes

/**
 * Tells when the peer has left before its answer was complete. The signal is made when it is first asked for: few do.
 */
class Departure {
  /** Set when all of the answer is handed over: what happens to the stream then is no departure. */
  answered = false
  #controller: AbortController | undefined
  #left = false

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#left) this.#controller.abort()
    return this.#controller.signal
  }

  left(): void {
    this.#left = true
    this.#controller?.abort()
  }
}

class Http1Request implements ApiRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: ApiRequest['headers']
  readonly clientCertificate?: NonNullable<ApiRequest['clientCertificate']>
  readonly remoteAddress: string
  readonly body: ApiRequest['body']
  readonly #message: IncomingMessage
  readonly #departure: Departure

  constructor(message: IncomingMessage, departure: Departure) {
    const socket = message.socket as TLSSocket
    const certificate = clientCertificateOf(socket)
    ;[this.path, this.query] = splitUrl(message.url ?? '/')
    this.method = message.method ?? 'GET'
    this.headers = message.headers as ApiRequest['headers']
    if (certificate !== undefined) this.clientCertificate = certificate
    this.remoteAddress = socket.remoteAddress ?? ''
    this.body = hasBody(message)
      ? bodyReader(message, message.headers['content-length'], () => message.complete)
      : noBody
    this.#message = message
    this.#departure = departure
  }

  headerValues(name: string): readonly string[] {
    return this.#message.headersDistinct[name] ?? []
  }

  get signal(): AbortSignal {
    return this.#departure.signal
  }
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined

/**
 * Bodies up to one TLS record are sent with their headers in one piece, which saves encrypting and sending a second.
 */
const mergedBytes = 16 * 1024 - 1024
const noPieces: readonly Uint8Array[] = []

function answerHttp1(
  serve: Serve,
  message: IncomingMessage,
  response: ServerResponse,
  traffic: Traffic,
): Eventual<void> {
  // Whoever left before being looked at is not served.
  if (response.destroyed) return
  const departure = new Departure()
  const answer = serve(new Http1Request(message, departure))
  // Who has been answered by now can't leave before.
  if (answer instanceof Promise || isStream(answer.body)) {
    response.on('close', () => {
      if (!response.writableFinished) departure.left()
    })
  }
  return andThen(answer, (made) => sendHttp1(message, response, made, departure, traffic))
}

function sendHttp1(
  message: IncomingMessage,
  response: ServerResponse,
  answer: ApiResponse,
  departure: Departure,
  traffic: Traffic,
): Eventual<void> {
  if (response.destroyed) return discard(answer.body)
  // An unread rest of a body would be taken for the next request.
  if (!message.complete && hasBody(message)) response.setHeader('connection', 'close')
  const body = message.method === 'HEAD' ? noBytes : answer.body
  if (isStream(body)) return streamHttp1(response, answer, departure, traffic)
  const { earlier, last, length } = piecesOf(body)
  response.writeHead(answer.status, { ...headersOf(answer), 'content-length': length })
  // Node holds them back until the end, and sends all together.
  for (const piece of earlier) response.write(piece)
  if (length <= mergedBytes) response.end(latin1(last), 'latin1')
  else response.end(last)
}

async function streamHttp1(
  response: ServerResponse,
  answer: ApiResponse,
  departure: Departure,
  traffic: Traffic,
): Promise<void> {
  response.writeHead(answer.status, headersOf(answer))
  response.flushHeaders()
  const ended = isAnswerStream(answer.body) ? undefined : traffic.goOn()
  try {
    await pump(answer.body, (chunk) => response.write(chunk), response, departure.signal)
  } catch (error) {
    // Half an answer must not look like a whole one.
    response.destroy()
    throw error
  } finally {
    ended?.()
  }
  response.end()
}

/** Bytes as Node's HTTP/1 writer joins them with its headers: each character is one byte, so nothing is changed. */
function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}

interface Http2Headers {
  readonly headers: http2.IncomingHttpHeaders
  /** Names and values in turn; HTTP/2 has lower-case names only. */
  readonly rawHeaders: readonly string[]
}

class Http2Request implements ApiRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: ApiRequest['headers']
  readonly clientCertificate?: NonNullable<ApiRequest['clientCertificate']>
  readonly remoteAddress: string
  readonly body: ApiRequest['body']
  readonly #rawHeaders: readonly string[]
  readonly #departure: Departure

  constructor(stream: http2.ServerHttp2Stream, { headers, rawHeaders }: Http2Headers, departure: Departure) {
    const socket = stream.session?.socket as TLSSocket | undefined
    const certificate = socket === undefined ? undefined : clientCertificateOf(socket)
    ;[this.path, this.query] = splitUrl(escapedTarget(headers[':path'] ?? '/'))
    this.method = headers[':method'] ?? 'GET'
    this.headers = headers as ApiRequest['headers']
    if (certificate !== undefined) this.clientCertificate = certificate
    this.remoteAddress = socket?.remoteAddress ?? ''
    this.body = stream.readableEnded ? noBody : bodyReader(stream, headers['content-length'])
    this.#rawHeaders = rawHeaders
    this.#departure = departure
  }

  /** From the pairs as they came: in `headers` Node has joined the values of a repeated one by commas. */
  headerValues(name: string): readonly string[] {
    const values: string[] = []
    for (let i = 0; i + 1 < this.#rawHeaders.length; i += 2) {
      if (this.#rawHeaders[i] === name) values.push(this.#rawHeaders[i + 1] as string)
    }
    return values
  }

  get signal(): AbortSignal {
    return this.#departure.signal
  }
}

/** Listens from the beginning on: a stream may be cancelled before it is looked at. */
function departureOf(stream: http2.ServerHttp2Stream): Departure {
  const departure = new Departure()
  // Not `writableFinished`: when the peer cancels a stream, Node ends the writable side and calls it finished.
  stream.once('close', () => {
    if (!departure.answered) departure.left()
  })
  stream.on('error', () => departure.left())
  return departure
}

function answerHttp2(
  serve: Serve,
  stream: http2.ServerHttp2Stream,
  headers: Http2Headers,
  departure: Departure,
  traffic: Traffic,
): Eventual<void> {
  if (stream.destroyed) return
  const request = new Http2Request(stream, headers, departure)
  return andThen(serve(request), (answer) => sendHttp2(request.method, stream, answer, departure, traffic))
}

function sendHttp2(
  method: string,
  stream: http2.ServerHttp2Stream,
  answer: ApiResponse,
  departure: Departure,
  traffic: Traffic,
): Eventual<void> {
  if (stream.destroyed) return discard(answer.body)
  const body = method === 'HEAD' ? noBytes : answer.body
  if (isStream(body)) return streamHttp2(stream, answer, departure, traffic)
  const { earlier, last, length } = piecesOf(body)
  stream.respond({ ':status': answer.status, ...headersOf(answer), 'content-length': length })
  departure.answered = true
  for (const piece of earlier) stream.write(piece)
  // What is left of a body that was refused is not waited for. A request without a body has none left, although its
  // stream, never read, does not count as ended: to reset that one would cut off the answer.
  stream.end(last, () => {
    if (!stream.endAfterHeaders && !stream.readableEnded) stream.close(http2.constants.NGHTTP2_NO_ERROR)
  })
}

async function streamHttp2(
  stream: http2.ServerHttp2Stream,
  answer: ApiResponse,
  departure: Departure,
  traffic: Traffic,
): Promise<void> {
  stream.respond({ ':status': answer.status, ...headersOf(answer) })
  const ended = isAnswerStream(answer.body) ? undefined : traffic.goOn()
  try {
    await pump(answer.body, (chunk) => stream.write(chunk), stream, departure.signal)
  } catch (error) {
    stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR)
    throw error
  } finally {
    ended?.()
  }
  departure.answered = true
  stream.end()
}

function splitUrl(url: string): [path: string, query: string] {
  const at = url.indexOf('?')
  return at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)]
}

function headersOf(answer: ApiResponse): Record<string, string | string[]> {
  return answer.headers as Record<string, string | string[]>
}

interface Pieces {
  readonly earlier: readonly Uint8Array[]
  readonly last: Uint8Array
  readonly length: number
}

function piecesOf(body: Uint8Array | readonly Uint8Array[]): Pieces {
  if (body instanceof Uint8Array) return { earlier: noPieces, last: body, length: body.length }
  const length = body.reduce((sum, piece) => sum + piece.length, 0)
  return { earlier: body.slice(0, -1), last: body.at(-1) ?? noBytes, length }
}

async function discard(body: ApiBody): Promise<void> {
  if (isStream(body)) await body[Symbol.asyncDispose]()
}

/**
 * Writes a stream item by item, waiting for a slow socket: what piles up meanwhile is bounded by the stream, which cuts
 * itself off. Leaves the stream (and so ends the watch behind it) when the peer goes away.
 */
async function pump(
  body: ApiBody,
  write: (chunk: Uint8Array) => boolean,
  sink: NodeJS.EventEmitter,
  gone: AbortSignal,
): Promise<void> {
  if (!isStream(body)) return
  const stop = (): void => {
    void body[Symbol.asyncDispose]()
  }
  gone.addEventListener('abort', stop, { once: true })
  if (gone.aborted) stop()
  try {
    for await (const chunk of body) {
      if (gone.aborted) break
      if (!write(chunk)) await Promise.race([once(sink, 'drain', { signal: gone }), aborted(gone)]).catch(() => {})
    }
  } finally {
    gone.removeEventListener('abort', stop)
  }
}
