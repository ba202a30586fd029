/**
 * The page's end of `../live.ts`: one WebSocket to the console, and all watches of the page in it. A page that is
 * hidden closes it, and goes on where it was when seen: the server need not watch for what is not looked at.
 */
import { parseJsonText } from '../../base/parse-json-text.ts'
import { Channel } from '../../base/stream.ts'
import type { TransportResponse } from '../../client/transport.ts'
import type { Session } from './session.ts'
import { ConsoleUnreached } from './unreached.ts'

/** The console says something every ten seconds. */
const silenceMs = 30_000
/** A look at another tab, and back. */
const hiddenMs = 2000
/** Lines that a watch may leave lying. */
const lineBuffer = 100_000

interface Line {
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
  isAnswered: boolean
}

interface OpenStream {
  /** Rejects if it does not come to be. */
  readonly opened: Promise<void>
  readonly send: (order: object) => void
  readonly watches: Map<number, Watch>
  readonly leave: (why: Error) => void
}

/** A watch as it is asked of the cluster. */
export interface AskedWatch {
  readonly path: string
  readonly query: URLSearchParams
  readonly accept?: string | undefined
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
      if (sight.hidden)
        leaving = setTimeout(() => this.#open?.leave(new ConsoleUnreached('the page is hidden')), hiddenMs)
    })
  }

  /** As a request for a watch that is sent straight to the cluster. */
  async watch({ path, query, accept }: AskedWatch, signal: AbortSignal | undefined): Promise<TransportResponse> {
    if (this.#open === undefined) await this.#whenSeen(signal)
    this.#open ??= this.#connect()
    const stream = this.#open
    await stream.opened
    // A signal says so once: a watch that is opened now would never be closed, and a page may have so many.
    signal?.throwIfAborted()
    const number = ++this.#lastWatch
    const close = (): void => {
      // Where the stream ended there is nothing left to close.
      if (stream.watches.delete(number)) stream.send({ close: number })
    }
    const response = new Promise<TransportResponse>((resolve, reject) => {
      const lines = new Channel<Uint8Array>({ limit: lineBuffer, onClose: close })
      const fail = (error: Error): void => {
        reject(error)
        lines.close(error)
      }
      stream.watches.set(number, { lines, answered: resolve, fail, isAnswered: false })
      signal?.addEventListener('abort', () => {
        reject(signal.reason as Error)
        lines.close()
      })
    })
    stream.send({ open: number, path, query: query.toString(), ...(accept === undefined ? {} : { accept }) })
    return response
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
    const socket = this.#session.connect()
    const watches = new Map<number, Watch>()
    const { promise: opened, resolve, reject } = Promise.withResolvers<void>()
    // A connection that failed is told to the watches that wait for it; there may be none any more.
    opened.catch(() => undefined)
    let isOpen = false
    let silence: ReturnType<typeof setTimeout> | undefined
    const end = (why: Error): void => {
      clearTimeout(silence)
      if (this.#open === stream) this.#open = undefined
      reject(why)
      for (const { fail } of [...watches.values()]) fail(why)
      watches.clear()
    }
    const leave = (why: Error): void => {
      end(why)
      socket.close()
    }
    const heard = (): void => {
      clearTimeout(silence)
      silence = setTimeout(() => leave(new ConsoleUnreached('the console says nothing any more')), silenceMs)
    }
    const stream: OpenStream = { opened, watches, leave, send: (order) => socket.send(JSON.stringify(order)) }
    heard()
    socket.addEventListener('open', () => {
      isOpen = true
      heard()
      resolve()
    })
    socket.addEventListener('message', ({ data }) => {
      heard()
      const line = parseJsonText(String(data)) as Line
      const watch = watches.get(line.watch ?? 0)
      if (watch !== undefined) take(watch, line)
    })
    socket.addEventListener('close', ({ reason }) => {
      if (isOpen) end(new ConsoleUnreached(reason || 'the console closed the connection of watches'))
      else void this.#whyNone().then(end)
    })
    return stream
  }

  /** A browser does not say why there is no connection: a request is told. */
  async #whyNone(): Promise<Error> {
    try {
      const answer = await this.#session.fetch('/session')
      const { message } = (await answer.json()) as { message?: string }
      return new ConsoleUnreached(message ?? 'the console does not take the connection of watches')
    } catch (error) {
      return new ConsoleUnreached(`the console does not answer: ${String(error)}`, { cause: error })
    }
  }
}

const encoder = new TextEncoder()

function take(watch: Watch, line: Line): void {
  const { lines, answered, fail } = watch
  if (line.status === 200) {
    watch.isAnswered = true
    answered({ status: 200, header: () => undefined, body: lines })
  } else if (line.status !== undefined) {
    answered({ status: line.status, header: () => undefined, body: encoder.encode(line.body ?? '') })
    lines.close()
  } else if (line.failed !== undefined) {
    // Before there was an answer, it is the cluster that is not reached; after that, what it sent.
    fail(watch.isAnswered ? new Error(line.failed) : new ConsoleUnreached(line.failed))
  } else if (line.end) lines.close()
  else lines.push(encoder.encode(`${JSON.stringify(line.event)}\n`))
}
