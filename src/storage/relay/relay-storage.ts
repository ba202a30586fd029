/**
 * A store that another process holds: every question and every transaction goes there, in order, and every promise of
 * `Storage` is kept there. What this side adds is tickets, and streams that are handed on one batch at a time.
 */

import type { RelayPort } from '../../base/relay-port.ts'
import { Channel, type Stream } from '../../base/stream.ts'
import type {
  ChangeBatch,
  Commit,
  Expect,
  PendingCommit,
  RangeOptions,
  ReadOptions,
  Revision,
  Span,
  Storage,
  StoreReport,
  Transaction,
} from '../storage.ts'
import { StorageError } from '../storage.ts'
import { checkTickets, QueuedTicket, settle } from '../ticket.ts'
import { checkLimit, checkTransaction } from '../transaction-shape.ts'
import { type Answers, type FromHolder, fromSentError, Outbox, type SentExpect, type ToHolder } from './messages.ts'

type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never

interface Question {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

export class RelayStorage implements Storage {
  readonly #outbox: Outbox<ToHolder>
  readonly #questions = new Map<number, Question>()
  readonly #watches = new Map<number, Channel<ChangeBatch>>()
  /** Tickets whose outcome is not known yet, ascending. */
  readonly #unsettled = new Set<number>()
  #ids = 0
  #gone: StorageError | undefined

  constructor(port: RelayPort) {
    this.#outbox = new Outbox(port)
    port.onMessage((messages) => {
      for (const message of messages as readonly FromHolder[]) this.#take(message)
    })
    port.onClose(() => this.#end(new StorageError('unavailable', 'the process that holds the store is gone')))
  }

  get(key: string, { at, signal }: ReadOptions = {}): ReturnType<Storage['get']> {
    return this.#ask<'get'>({ type: 'get', key, at }, signal)
  }

  async range(span: Span, { at, limit, signal }: RangeOptions = {}): Promise<Answers['range']> {
    checkLimit(limit)
    return this.#ask<'range'>({ type: 'range', span, at, limit }, signal)
  }

  commit(transaction: Transaction): PendingCommit {
    checkTransaction(transaction)
    checkTickets(transaction, this)
    const id = ++this.#ids
    const ticket = new QueuedTicket(id, this, transaction)
    if (this.#gone) {
      ticket.failed()
      return { ticket, done: Promise.reject(this.#gone) }
    }
    const { guards, writes } = transaction
    const sent = {
      guards: guards.map(({ key, expect }) => ({ key, expect: toSent(key, expect) })),
      writes: writes.map(({ key, value, expect }) => ({ key, value, expect: toSent(key, expect) })),
    }
    const settled = (this.#unsettled.values().next().value ?? id) - 1
    this.#unsettled.add(id)
    const answer = this.#send<'commit'>(id, { type: 'commit', transaction: sent, settled })
    return { ticket, done: this.#settled(answer, ticket) }
  }

  watch(span: Span, after: Revision, signal: AbortSignal): Stream<ChangeBatch> {
    const id = ++this.#ids
    const stop = (): void => channel.close()
    const channel = new Channel<ChangeBatch>({
      // The next one is sent when this one is taken.
      limit: 2,
      onClose: () => {
        signal.removeEventListener('abort', stop)
        if (this.#watches.delete(id)) this.#outbox.put({ type: 'forget', id })
      },
    })
    if (this.#gone) channel.close(this.#gone)
    else if (signal.aborted) channel.close()
    else {
      signal.addEventListener('abort', stop, { once: true })
      this.#watches.set(id, channel)
      this.#outbox.put({ type: 'watch', id, span, after })
    }
    return new TakenStream(channel, () => {
      if (this.#watches.has(id)) this.#outbox.put({ type: 'more', id })
    })
  }

  currentRevision(): Promise<Revision> {
    return this.#ask<'currentRevision'>({ type: 'currentRevision' })
  }

  async compact(before: Revision): Promise<void> {
    await this.#ask<'compact'>({ type: 'compact', before })
  }

  compactedRevision(): Promise<Revision> {
    return this.#ask<'compactedRevision'>({ type: 'compactedRevision' })
  }

  report(): Promise<StoreReport> {
    return this.#ask<'report'>({ type: 'report' })
  }

  /** The store itself goes on. Commits handed in before are still decided. */
  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new StorageError('closed', 'the storage is closed')
    this.#gone ??= closed
    const commits = [...this.#unsettled].flatMap((id) => this.#questions.get(id) ?? [])
    await Promise.all(commits.map((question) => new Promise<void>((resolve) => this.#waiting.set(question, resolve))))
    this.#end(closed)
  }

  /** Who waits for a question to be answered, whatever the answer. */
  readonly #waiting = new Map<Question, () => void>()

  #ask<T extends keyof Answers>(message: WithoutId<ToHolder>, signal?: AbortSignal): Promise<Answers[T]> {
    if (this.#gone) return Promise.reject(this.#gone)
    if (signal?.aborted) return Promise.reject(signal.reason)
    const id = ++this.#ids
    const answer = this.#send<T>(id, message)
    if (!signal) return answer
    const forget = (): void => {
      const question = this.#questions.get(id)
      this.#questions.delete(id)
      this.#outbox.put({ type: 'forget', id })
      question?.reject(signal.reason)
    }
    signal.addEventListener('abort', forget, { once: true })
    return answer.finally(() => signal.removeEventListener('abort', forget))
  }

  #send<T extends keyof Answers>(id: number, message: WithoutId<ToHolder>): Promise<Answers[T]> {
    return new Promise((resolve, reject) => {
      this.#questions.set(id, { resolve: (value) => resolve(value as Answers[T]), reject })
      this.#outbox.put({ ...message, id } as ToHolder)
    })
  }

  async #settled(answer: Promise<Commit>, ticket: QueuedTicket): Promise<Commit> {
    try {
      const commit = await answer
      if (commit.ok) ticket.committed(commit.revision)
      else ticket.failed()
      return commit
    } catch (error) {
      ticket.failed()
      throw error
    } finally {
      this.#unsettled.delete(ticket.id)
    }
  }

  #take(message: FromHolder): void {
    const { id } = message
    if (message.type === 'batch') {
      this.#watches.get(id)?.push(message.batch)
      return
    }
    const watch = this.#watches.get(id)
    if (watch && message.type === 'failure') {
      this.#watches.delete(id)
      watch.close(fromSentError(message.error))
      return
    }
    const question = this.#questions.get(id)
    if (!question) return
    this.#questions.delete(id)
    if (message.type === 'answer') question.resolve(message.value)
    else question.reject(fromSentError(message.error))
    this.#waiting.get(question)?.()
    this.#waiting.delete(question)
  }

  #end(error: StorageError): void {
    this.#gone ??= error
    const questions = [...this.#questions.values()]
    this.#questions.clear()
    for (const question of questions) {
      question.reject(error)
      this.#waiting.get(question)?.()
    }
    this.#waiting.clear()
    const watches = [...this.#watches]
    for (const [id, channel] of watches) {
      this.#watches.delete(id)
      this.#outbox.put({ type: 'forget', id })
      channel.close(error)
    }
  }
}

function toSent(key: string, expect: Expect): SentExpect {
  if (typeof expect !== 'object') return expect
  return settle(key, expect) ?? { left: expect.asLeftBy.id }
}

/** Tells when an item is taken. */
class TakenStream<T> implements Stream<T> {
  readonly #stream: Stream<T>
  readonly #taken: () => void

  constructor(stream: Stream<T>, taken: () => void) {
    this.#stream = stream
    this.#taken = taken
  }

  [Symbol.asyncIterator](): AsyncIterator<T> {
    const items = this.#stream[Symbol.asyncIterator]()
    return {
      next: async () => {
        const item = await items.next()
        if (!item.done) this.#taken()
        return item
      },
      return: async () => (await items.return?.()) ?? { value: undefined, done: true },
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stream[Symbol.asyncDispose]()
  }
}
