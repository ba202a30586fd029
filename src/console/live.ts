/**
 * Many watches over one connection. A browser has six connections to one host for all its windows, and a page needs
 * dozens of watches: so each page opens one WebSocket, of which a browser has hundreds, and asks for watches in it.
 *
 *   {"open":7,"path":"/api/v1/namespaces","query":"watch=true","accept":"application/json"}
 *   {"close":7}
 *
 * What it is sent: {"watch":7,"status":200}, {"watch":7,"event":{…}}, {"watch":7,"status":403,"body":"…"},
 * {"watch":7,"end":true}, {"watch":7,"failed":"…"}, and {} from time to time, so that the page notices a dead one.
 */

import type { WebSocket } from 'ws'
import { type Clock, sleep } from '../base/clock.ts'
import { parseJsonText } from '../base/parse-json-text.ts'
import type { Transport } from '../client/transport.ts'
import { StatusError } from '../kube/status-error.ts'
import type { JsonValue } from '../kube/types.ts'
import { asksForMetadata, withoutContents } from './metadata-answers.ts'
import { checkPassedOn } from './proxy.ts'

/** Of one page, which watches what it shows. */
const mostWatches = 200
/** Windows that are seen; a page that is hidden closes its connection. */
const mostPages = 200
/** A server takes no object above 3 MiB; what else an event holds is little. */
const mostLineCharacters = 16 * 1024 * 1024
/** Of an answer that is no watch, as much as may be worth showing. */
const mostRefusalCharacters = 64 * 1024
/** What a page may leave unread before its watches wait for it. */
const mostUnreadBytes = 256 * 1024
/** The page takes a connection for dead that says nothing for three times as long. */
const beatMs = 10_000

/** Codes by which a connection is closed. @see RFC 6455, section 7.4 */
const badOrder = 1008
const tryAgainLater = 1013

export interface LiveOptions {
  readonly transport: Transport
  readonly userAgent: string
  readonly clock: Clock
}

/** What a page asks for. */
interface Order {
  readonly open?: number
  readonly path?: string
  readonly query?: string
  readonly accept?: string
  readonly close?: number
}

export class LiveStreams {
  readonly #options: LiveOptions
  #pages = 0

  constructor(options: LiveOptions) {
    this.#options = options
  }

  /** Until the page leaves. */
  async serve(socket: WebSocket): Promise<void> {
    // What breaks the protocol is answered and closed by the library, which tells of it here: untold it ends the
    // process.
    socket.on('error', () => undefined)
    if (this.#pages >= mostPages) {
      socket.close(tryAgainLater, `${mostPages} pages are open already: close one`)
      return
    }
    this.#pages++
    try {
      await new LiveStream(this.#options, socket).run()
    } finally {
      this.#pages--
    }
  }
}

class LiveStream {
  readonly #options: LiveOptions
  readonly #socket: WebSocket
  readonly #left: AbortSignal
  readonly #watches = new Map<number, AbortController>()

  constructor(options: LiveOptions, socket: WebSocket) {
    this.#options = options
    this.#socket = socket
    const gone = new AbortController()
    this.#left = gone.signal
    socket.once('close', () => gone.abort())
    socket.on('error', () => gone.abort())
    socket.on('message', (message: Buffer) => this.#take(message.toString()))
  }

  async run(): Promise<void> {
    while (!this.#left.aborted) {
      await sleep(this.#options.clock, beatMs, this.#left)
      await this.#send('{}')
    }
  }

  #take(text: string): void {
    const order = orderIn(text)
    if (order?.close !== undefined) this.#watches.get(order.close)?.abort()
    else if (order?.open !== undefined && !this.#watches.has(order.open)) this.#open(order.open, order)
    else this.#socket.close(badOrder, 'an order opens a new watch, or closes one')
  }

  #open(watch: number, { path = '', query = '', accept = 'application/json' }: Order): void {
    const stop = new AbortController()
    const signal = AbortSignal.any([stop.signal, this.#left])
    const isTooMany = this.#watches.size >= mostWatches
    if (!isTooMany) this.#watches.set(watch, stop)
    const follow = async (): Promise<void> => {
      if (isTooMany) throw new StatusError(`a page has at most ${mostWatches} watches`, { reason: 'TooManyRequests' })
      checkPassedOn(path)
      const asked = new URLSearchParams(query)
      asked.set('watch', 'true')
      await this.#follow(watch, path, asked, accept, signal)
    }
    void follow()
      .catch((error: unknown) => {
        if (signal.aborted) return undefined
        return this.#send(JSON.stringify({ watch, failed: error instanceof Error ? error.message : String(error) }))
      })
      .finally(() => {
        if (!isTooMany) this.#watches.delete(watch)
      })
  }

  async #follow(
    watch: number,
    path: string,
    query: URLSearchParams,
    accept: string,
    signal: AbortSignal,
  ): Promise<void> {
    const { transport, userAgent } = this.#options
    const headers = { accept, 'user-agent': userAgent }
    const answer = await transport.send({ method: 'GET', path, query, headers, signal, streaming: true })
    const body = answer.body instanceof Uint8Array ? [answer.body] : answer.body
    if (answer.status !== 200) {
      const text = await textOf(body)
      await this.#send(JSON.stringify({ watch, status: answer.status, body: text }))
      return
    }
    await this.#send(JSON.stringify({ watch, status: 200 }))
    const isTrimmed = asksForMetadata(accept)
    for await (const line of linesOf(body)) await this.#send(eventOf(watch, line, isTrimmed))
    await this.#send(JSON.stringify({ watch, end: true }))
  }

  /**
   * Waits while the page does not read: then its watches are not read either, and the cluster cuts them off. Nor are
   * its orders, since each has an answer.
   */
  async #send(line: string): Promise<void> {
    if (this.#left.aborted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#socket.send(line, () => resolve())
    if (!this.#isUnread()) return
    this.#socket.pause()
    await promise
    if (!this.#isUnread()) this.#socket.resume()
  }

  #isUnread(): boolean {
    return this.#socket.bufferedAmount > mostUnreadBytes
  }
}

/** Undefined where it is none. */
function orderIn(text: string): Order | undefined {
  try {
    const { open, path, query, accept, close } = (parseJsonText(text) ?? {}) as Record<string, unknown>
    return {
      ...(typeof open === 'number' ? { open } : {}),
      ...(typeof path === 'string' ? { path } : {}),
      ...(typeof query === 'string' ? { query } : {}),
      ...(typeof accept === 'string' ? { accept } : {}),
      ...(typeof close === 'number' ? { close } : {}),
    }
  } catch {
    return undefined
  }
}

/** The page reads one connection for all watches: what is no JSON would end the others. @throws Error */
function eventOf(watch: number, line: string, isTrimmed: boolean): string {
  let event: JsonValue
  try {
    event = parseJsonText(line) as JsonValue
  } catch (cause) {
    throw new Error('the server sent an event that is no JSON', { cause })
  }
  return `{"watch":${watch},"event":${isTrimmed ? JSON.stringify(withoutContents(event)) : line}}`
}

type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

async function textOf(chunks: Chunks): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of chunks) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > mostRefusalCharacters) return text.slice(0, mostRefusalCharacters)
  }
  return text
}

async function* linesOf(chunks: Chunks): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > mostLineCharacters) throw new Error('the server sent an event without end')
    for (const line of lines) if (line !== '') yield line
  }
}
