/**
 * HTTP/2: a request is a stream of a session. On Node's stream interface, not on its HTTP/1 imitation, which costs a
 * third of the throughput.
 */
import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import { andThen, type Eventual, isPending } from '../../base/eventual.ts'
import { escapedTarget } from '../../base/header-bytes.ts'
import type { ApiRequest, ApiResponse } from '../api.ts'
import { sendableHeaders } from '../header-value.ts'
import type { Serve } from '../pipeline.ts'
import type { Traffic } from '../traffic.ts'
import { Body, noBody } from './body.ts'
import type { Connection } from './connection.ts'
import { Exchange, sliceBytes } from './exchange.ts'
import { IncomingBody } from './incoming-body.ts'
import { sendAnswer } from './send.ts'
import { SocketRequest, splitUrl } from './socket-request.ts'

export interface Http2Headers {
  readonly headers: IncomingHttpHeaders
  /** Names and values in turn; HTTP/2 has lower-case names only. */
  readonly rawHeaders: readonly string[]
}

class Http2Request extends SocketRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: ApiRequest['headers']
  readonly body: ApiRequest['body']
  readonly incoming: Body | undefined
  readonly #rawHeaders: readonly string[]

  constructor({ headers, rawHeaders }: Http2Headers, exchange: Http2Exchange) {
    super(exchange)
    ;[this.path, this.query] = splitUrl(escapedTarget(headers[':path'] ?? '/'))
    this.method = headers[':method'] ?? 'GET'
    this.headers = headers as ApiRequest['headers']
    if (exchange.body !== undefined) {
      const declared = headers['content-length']
      const incoming = new Body({ incoming: exchange.body, exchange, declared })
      this.incoming = incoming
      const read: ApiRequest['body'] = (limitBytes) => incoming.read(limitBytes)
      this.body = read
    } else this.body = noBody
    this.#rawHeaders = rawHeaders
  }

  /** From the pairs as they came: in `headers` Node has joined the values of a repeated one by commas. */
  headerValues(name: string): readonly string[] {
    const values: string[] = []
    for (let i = 0; i + 1 < this.#rawHeaders.length; i += 2) {
      if (this.#rawHeaders[i] === name) values.push(this.#rawHeaders[i + 1] as string)
    }
    return values
  }
}

/** Listens from the beginning on: a stream may be cancelled before it is looked at. */
export class Http2Exchange extends Exchange {
  readonly body: IncomingBody | undefined
  /** More than a window takes would be kept by the session, of which all streams may have so much. */
  readonly wholeBytes: number = sliceBytes
  readonly #stream: ServerHttp2Stream

  constructor(connection: Connection, stream: ServerHttp2Stream) {
    super(connection, stream)
    this.#stream = stream
    if (!stream.endAfterHeaders) this.body = new IncomingBody(stream, connection)
    connection.begin(this, this.body !== undefined)
    // Not `writableFinished`: when the peer cancels a stream, Node ends the writable side and calls it finished.
    stream.once('close', () => {
      this.closed()
      connection.end(this)
    })
    stream.on('error', () => this.abort())
  }

  writeHead({ status, headers }: ApiResponse, length: number | undefined): void {
    const shown = sendableHeaders(headers) as Record<string, string | string[]>
    this.#stream.respond({ ':status': status, ...shown, ...(length === undefined ? {} : { 'content-length': length }) })
  }

  cutOff(): void {
    this.#stream.close(constants.NGHTTP2_INTERNAL_ERROR)
  }

  writeEnd(last: Uint8Array): void {
    const stream = this.#stream
    // What is left of a body that was refused is not waited for. A request without a body has none left, although its
    // stream, never read, does not count as ended: to reset that one would cut off the answer.
    stream.end(last, () => {
      if (!stream.endAfterHeaders && !stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR)
    })
  }
}

export function answerHttp2(
  serve: Serve,
  stream: ServerHttp2Stream,
  headers: Http2Headers,
  exchange: Http2Exchange,
  traffic: Traffic,
): Eventual<void> {
  if (stream.destroyed) return
  const request = new Http2Request(headers, exchange)
  const answering = serve(request)
  if (isPending(answering)) request.incoming?.comeIn()
  return andThen(answering, (answer) => {
    request.incoming?.forgo()
    return sendAnswer(exchange, answer, request.method === 'HEAD', traffic)
  })
}
