/**
 * The page's end of `../live.ts`: one stream from the console, and all watches of the page in it. A browser has six
 * connections to one host for all tabs: a page that is hidden gives its own back, and goes on where it was when seen.
 */
import { Channel } from '../../base/stream.ts'
import type { TransportResponse } from '../../client/transport.ts'
import type { Session } from './session.ts'

/** The console says something every ten seconds. */
const silenceMs = 30_000
/** A look at another tab, and back. */
const hiddenMs = 2000
/** Lines that a watch may leave lying. */
const lineBuffer = 100_000

interface Line {
  readonly stream?: string
  readonly watch?: number
  readonly status?: number
  readonly body?: string
  readonly event?: unknown
  readonly end?: boolean
  readonly failed?: string
}

interface Watch {
  readonly lines: Channel<Uint8Array>
  readonly answered: (response: TransportResponse) => void
  readonly fail: (error: Error) => void
}

interface OpenStream {
  /** Rejects if there is none. */
  readonly id: Promise<string>
  readonly watches: Map<number, Watch>
  readonly leave: (why: Error) => void
}

/** The document, as far as it is needed here. */
interface Sight extends EventTarget {
  readonly hidden: boolean
}

export class LiveClient {
  readonly #session: Session
  readonly #sight: Sight | undefined
  #open: OpenStream | undefined
  #lastWatch = 0

  constructor(session: Session, sight?: Sight) {
    this.#session = session
    this.#sight = sight
    let leaving: ReturnType<typeof setTimeout> | undefined
    sight?.addEventListener('visibilitychange', () => {
      clearTimeout(leaving)
      if (sight.hidden) leaving = setTimeout(() => this.#open?.leave(new Error('the page is hidden')), hiddenMs)
    })
  }

  /** As a request for a watch that is sent straight to the cluster. */
  async watch(path: string, query: URLSearchParams, signal: AbortSignal | undefined): Promise<TransportResponse> {
    if (this.#open === undefined) await this.#whenSeen(signal)
    this.#open ??= this.#connect()
    const stream = this.#open
    const id = await stream.id
    // A signal says so once: a watch that is opened now would never be closed, and a page may have so many.
    signal?.throwIfAborted()
    const number = ++this.#lastWatch
    const order = (body: object): Promise<Response> =>
      this.#session.fetch(`/live/${id}`, { method: 'POST', body: JSON.stringify(body) })
    const opened = order({ open: number, path, query: query.toString() })
    const close = (): void => {
      // Where the stream ended there is nothing left to close. A close must not overtake what it closes.
      if (stream.watches.delete(number)) opened.then(() => order({ close: number })).catch(() => undefined)
    }
    const response = new Promise<TransportResponse>((resolve, reject) => {
      const lines = new Channel<Uint8Array>({ limit: lineBuffer, onClose: close })
      const fail = (error: Error): void => {
        reject(error)
        lines.close(error)
      }
      stream.watches.set(number, { lines, answered: resolve, fail })
      signal?.addEventListener('abort', () => {
        reject(signal.reason as Error)
        lines.close()
      })
    })
    const taken = async (): Promise<void> => {
      const answer = await opened
      if (answer.ok) return
      const { message = `the console answered ${answer.status}` } = (await answer.json()) as { message?: string }
      stream.watches.get(number)?.fail(new Error(message))
    }
    const [answered] = await Promise.all([response, taken()])
    return answered
  }

  async #whenSeen(left: AbortSignal | undefined): Promise<void> {
    const sight = this.#sight
    if (sight === undefined || !sight.hidden) return
    await new Promise<void>((resolve) => {
      const options = { once: true, ...(left === undefined ? {} : { signal: left }) }
      sight.addEventListener('visibilitychange', () => resolve(), options)
      left?.addEventListener('abort', () => resolve(), { once: true })
    })
    left?.throwIfAborted()
  }

  #connect(): OpenStream {
    const watches = new Map<number, Watch>()
    const { promise: id, resolve, reject } = Promise.withResolvers<string>()
    const cut = new AbortController()
    const stream: OpenStream = { id, watches, leave: (why) => cut.abort(why) }
    void this.#read(watches, resolve, cut)
      .then(() => new Error('the console closed the stream of watches'))
      .catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))))
      .then((error) => {
        if (this.#open === stream) this.#open = undefined
        reject(error)
        for (const { fail } of [...watches.values()]) fail(error)
        watches.clear()
      })
    return stream
  }

  async #read(watches: Map<number, Watch>, onId: (id: string) => void, cut: AbortController): Promise<void> {
    const answer = await this.#session.fetch('/live', { method: 'POST', signal: cut.signal })
    if (!answer.ok || answer.body === null) throw new Error(`the console answered ${answer.status}`)
    const decoder = new TextDecoder()
    const reader = answer.body.getReader()
    let rest = ''
    for (;;) {
      const timer = setTimeout(() => cut.abort(new Error('the console says nothing any more')), silenceMs)
      const { done, value } = await reader.read().finally(() => clearTimeout(timer))
      if (done) return
      const lines = (rest + decoder.decode(value, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const text of lines) {
        const line = JSON.parse(text) as Line
        if (line.stream !== undefined) onId(line.stream)
        const watch = watches.get(line.watch ?? 0)
        if (watch !== undefined) take(watch, line)
      }
    }
  }
}

const encoder = new TextEncoder()

function take({ lines, answered, fail }: Watch, line: Line): void {
  if (line.status === 200) answered({ status: 200, header: () => undefined, body: lines })
  else if (line.status !== undefined) {
    answered({ status: line.status, header: () => undefined, body: encoder.encode(line.body ?? '') })
    lines.close()
  } else if (line.failed !== undefined) fail(new Error(line.failed))
  else if (line.end) lines.close()
  else lines.push(encoder.encode(`${JSON.stringify(line.event)}\n`))
}
