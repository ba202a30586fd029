/** HTTP/1.1: one request at a time on a connection, as Node's parser finds it, and its answer. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { andThen, type Eventual, isPending } from '../../base/eventual.ts'
import { type ApiRequest, type ApiResponse, isStream } from '../api.ts'
import { sendableHeaders } from '../header-value.ts'
import type { Serve } from '../pipeline.ts'
import type { Traffic } from '../traffic.ts'
import { Body, noBody } from './body.ts'
import type { Connection } from './connection.ts'
import { Exchange } from './exchange.ts'
import type { IncomingBody } from './incoming-body.ts'
import { sendAnswer } from './send.ts'
import { SocketRequest, splitUrl } from './socket-request.ts'

/** Bodies up to one TLS record are sent in one piece with their headers, which saves encrypting a second one. */
const mergedBytes = 16 * 1024 - 1024

class Http1Request extends SocketRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: ApiRequest['headers']
  readonly body: ApiRequest['body']
  readonly incoming: Body | undefined
  readonly #message: IncomingMessage

  constructor(message: IncomingMessage, exchange: Exchange, body: IncomingBody | undefined) {
    super(exchange)
    ;[this.path, this.query] = splitUrl(message.url ?? '/')
    this.method = message.method ?? 'GET'
    this.headers = message.headers as ApiRequest['headers']
    this.#message = message
    if (body !== undefined) {
      const declared = message.headers['content-length']
      const incoming = new Body({ incoming: body, exchange, declared })
      this.incoming = incoming
      const read: ApiRequest['body'] = (limitBytes) => incoming.read(limitBytes)
      this.body = read
    } else this.body = noBody
  }

  headerValues(name: string): readonly string[] {
    return this.#message.headersDistinct[name] ?? []
  }
}

/** A list of a hundred small objects: in slices it takes half as long again. */
const wholeBytes = 256 * 1024

class Http1Exchange extends Exchange {
  readonly wholeBytes: number = wholeBytes
  readonly #message: IncomingMessage
  readonly #response: ServerResponse

  constructor(connection: Connection, message: IncomingMessage, response: ServerResponse) {
    super(connection, response)
    this.#message = message
    this.#response = response
  }

  writeHead({ status, headers }: ApiResponse, length: number | undefined): void {
    // An unread rest of a body would be taken for the next request.
    if ((!this.#message.complete && hasBody(this.#message)) || this.connection.isLeaving) {
      this.#response.setHeader('connection', 'close')
    }
    const shown = sendableHeaders(headers) as Record<string, string | string[]>
    this.#response.writeHead(status, length === undefined ? shown : { ...shown, 'content-length': length })
    if (length === undefined) this.#response.flushHeaders()
  }

  cutOff(): void {
    this.#response.destroy()
  }

  writeEnd(last: Uint8Array): void {
    if (last.length > 0 && last.length <= mergedBytes) this.#response.end(latin1(last), 'latin1')
    else this.#response.end(last)
  }
}

export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined

/** Bytes as Node's HTTP/1 writer joins them with its headers: each character is one byte, so nothing is changed. */
function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}

export function answerHttp1(
  serve: Serve,
  message: IncomingMessage,
  response: ServerResponse,
  connection: Connection,
  traffic: Traffic,
  body: IncomingBody | undefined,
): Eventual<void> {
  // A client that has left before its turn is not served.
  if (response.destroyed) return
  const exchange = new Http1Exchange(connection, message, response)
  connection.begin(exchange, body !== undefined)
  const request = new Http1Request(message, exchange, body)
  const answer = serve(request)
  if (isPending(answer)) request.incoming?.comeIn()
  // A client that is answered by now can't leave before.
  if (isPending(answer) || isStream(answer.body)) {
    response.on('close', () => {
      if (!response.writableFinished) exchange.closed()
    })
  }
  return andThen(answer, (made) => {
    request.incoming?.forgo()
    return sendAnswer(exchange, made, request.method === 'HEAD', traffic)
  })
}
