/**
 * Many watches over one answer. A browser has six connections to one host, and a page needs dozens of watches: so it
 * opens one stream, asks for watches beside it, and is sent their lines, each with the number that the page gave.
 *
 *   POST /live                      the stream; its first line is {"stream":"<id>"}
 *   POST /live/<id>                 {"open":7,"path":"/api/v1/namespaces","query":"watch=true"} or {"close":7}
 *
 * Lines of the stream: {"watch":7,"status":200}, {"watch":7,"event":{…}}, {"watch":7,"status":403,"body":{…}},
 * {"watch":7,"end":true}, {"watch":7,"failed":"…"}, and {} from time to time, so that the page notices a dead one.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { type Clock, sleep } from '../base/clock.ts'
import type { Transport } from '../client/transport.ts'
import { StatusError } from '../kube/status-error.ts'
import { dataHeaders, departureOf } from './answer.ts'
import { checkPassedOn } from './proxy.ts'

/** Of one stream. A page watches what it shows. */
const mostWatches = 200
/** Tabs. */
const mostStreams = 50
/** A server takes no object above 3 MiB; what else an event holds is little. */
const mostLineCharacters = 16 * 1024 * 1024
/** Of an answer that is no watch, as much as may be worth showing. */
const mostRefusalCharacters = 64 * 1024
/** The page takes a stream for dead that says nothing for three times as long. */
const beatMs = 10_000

export interface LiveOptions {
  readonly transport: Transport
  readonly userAgent: string
  readonly clock: Clock
}

/** What a page asks of its stream. */
interface Order {
  readonly open?: number
  readonly path?: string
  readonly query?: string
  readonly close?: number
}

export class LiveStreams {
  readonly #options: LiveOptions
  readonly #streams = new Map<string, LiveStream>()

  constructor(options: LiveOptions) {
    this.#options = options
  }

  /** Until the page leaves. @throws StatusError too many are open */
  async serve(response: ServerResponse): Promise<void> {
    if (this.#streams.size >= mostStreams) {
      throw new StatusError(`${mostStreams} pages are open already: close one`, { reason: 'TooManyRequests' })
    }
    const id = randomUUID()
    const stream = new LiveStream(this.#options, response)
    this.#streams.set(id, stream)
    try {
      await stream.run(id)
    } finally {
      this.#streams.delete(id)
    }
  }

  /** @throws StatusError it is no order that can be followed */
  order(id: string, order: Order): void {
    const stream = this.#streams.get(id)
    if (stream === undefined) throw new StatusError(`there is no stream ${id} any more`, { reason: 'NotFound' })
    if (order.close !== undefined) stream.close(order.close)
    else if (order.open !== undefined) stream.open(order.open, order.path ?? '', order.query ?? '')
    else throw new StatusError('an order opens or closes a watch', { reason: 'BadRequest' })
  }
}

class LiveStream {
  readonly #options: LiveOptions
  readonly #response: ServerResponse
  readonly #left: AbortSignal
  readonly #watches = new Map<number, AbortController>()
  /** While the page does not read. */
  #drained: Promise<void> | undefined

  constructor(options: LiveOptions, response: ServerResponse) {
    this.#options = options
    this.#response = response
    this.#left = departureOf(response)
  }

  async run(id: string): Promise<void> {
    this.#response.writeHead(200, { ...dataHeaders, 'content-type': 'application/x-ndjson' })
    await this.#send(JSON.stringify({ stream: id }))
    while (!this.#left.aborted) {
      await sleep(this.#options.clock, beatMs, this.#left)
      await this.#send('{}')
    }
  }

  open(watch: number, path: string, query: string): void {
    checkPassedOn(path)
    if (this.#watches.has(watch)) throw new StatusError(`watch ${watch} is open`, { reason: 'BadRequest' })
    if (this.#watches.size >= mostWatches) {
      throw new StatusError(`a page has at most ${mostWatches} watches`, { reason: 'TooManyRequests' })
    }
    const stop = new AbortController()
    this.#watches.set(watch, stop)
    const asked = new URLSearchParams(query)
    asked.set('watch', 'true')
    void this.#follow(watch, path, asked, AbortSignal.any([stop.signal, this.#left])).finally(() =>
      this.#watches.delete(watch),
    )
  }

  close(watch: number): void {
    this.#watches.get(watch)?.abort()
  }

  async #follow(watch: number, path: string, query: URLSearchParams, signal: AbortSignal): Promise<void> {
    const { transport, userAgent } = this.#options
    try {
      const headers = { accept: 'application/json', 'user-agent': userAgent }
      const answer = await transport.send({ method: 'GET', path, query, headers, signal, streaming: true })
      const body = answer.body instanceof Uint8Array ? [answer.body] : answer.body
      if (answer.status !== 200) {
        const text = await textOf(body)
        await this.#send(JSON.stringify({ watch, status: answer.status, body: text }))
        return
      }
      await this.#send(JSON.stringify({ watch, status: 200 }))
      for await (const line of linesOf(body)) await this.#send(eventOf(watch, line))
      await this.#send(JSON.stringify({ watch, end: true }))
    } catch (error) {
      if (signal.aborted) return
      const failed = error instanceof Error ? error.message : String(error)
      await this.#send(JSON.stringify({ watch, failed }))
    }
  }

  /** Waits while the page does not read: then its watches are not read either, and the cluster cuts them off. */
  async #send(line: string): Promise<void> {
    if (this.#left.aborted || this.#response.write(`${line}\n`)) return
    // One wait for all watches, which goes with its listeners: each of their own would stay until the page leaves.
    this.#drained ??= once(this.#response, 'drain', { signal: this.#left })
      .catch(() => undefined)
      .then(() => {
        this.#drained = undefined
      })
    await this.#drained
  }
}

/** The page reads one stream for all watches: what is no JSON would end the others. @throws Error */
function eventOf(watch: number, line: string): string {
  try {
    JSON.parse(line)
  } catch (cause) {
    throw new Error('the server sent an event that is no JSON', { cause })
  }
  return `{"watch":${watch},"event":${line}}`
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
