/** The side of the process that holds the store: does what one other process asks, in the order it is asked. */
import type { RelayPort } from '../../base/relay-port.ts'
import type {
  ChangeBatch,
  Commit,
  Entry,
  Expect,
  ReadOptions,
  Revision,
  Storage,
  StoreReport,
  Ticket,
  Transaction,
} from '../storage.ts'
import {
  type FromHolder,
  Outbox,
  type SentExpect,
  type SentTransaction,
  type ToHolder,
  toSentError,
} from './messages.ts'

/** The first commit has number 1: no key ever has this revision. */
const never = 1

/** Serves until the other side is gone. */
export function holdFor(port: RelayPort, storage: Storage, report: () => StoreReport): void {
  const holder = new Holder(port, storage, report)
  port.onMessage((messages) => {
    for (const message of messages as readonly ToHolder[]) holder.take(message)
  })
  port.onClose(() => holder.close())
}

interface Watch {
  readonly stop: AbortController
  /** Called when the batch that was sent has been taken. */
  more: () => void
}

class Holder {
  readonly #outbox: Outbox<FromHolder>
  readonly #storage: Storage
  readonly #report: () => StoreReport
  readonly #tickets = new Map<number, Ticket>()
  readonly #watches = new Map<number, Watch>()
  readonly #reads = new Map<number, AbortController>()
  #forgotten = 0
  #closed = false

  constructor(port: RelayPort, storage: Storage, report: () => StoreReport) {
    this.#outbox = new Outbox({ ...port, send: (message) => (this.#closed ? undefined : port.send(message)) })
    this.#storage = storage
    this.#report = report
  }

  take(message: ToHolder): void {
    const { id } = message
    switch (message.type) {
      case 'get':
        return this.#read(id, (signal) => this.#get(message.key, { ...at(message.at), signal }))
      case 'range': {
        const { span, limit } = message
        const options = { ...at(message.at), ...(limit === undefined ? {} : { limit }) }
        return this.#read(id, async (signal) => {
          const found = await this.#storage.range(span, { ...options, signal })
          return { ...found, entries: found.entries.map(withValue) }
        })
      }
      case 'currentRevision':
        return this.#read(id, () => this.#storage.currentRevision())
      case 'compactedRevision':
        return this.#read(id, () => this.#storage.compactedRevision())
      case 'report':
        return this.#read(id, async () => this.#report())
      case 'compact':
        return this.#read(id, () => this.#storage.compact(message.before))
      case 'commit':
        return this.#commit(id, message.transaction, message.settled)
      case 'watch':
        void this.#watch(message)
        return
      case 'more':
        this.#watches.get(id)?.more()
        return
      case 'forget':
        this.#reads.get(id)?.abort()
        this.#watches.get(id)?.stop.abort()
        return
      default:
        message satisfies never
    }
  }

  close(): void {
    this.#closed = true
    for (const read of this.#reads.values()) read.abort()
    for (const { stop } of this.#watches.values()) stop.abort()
  }

  #read(id: number, ask: (signal: AbortSignal) => Promise<unknown>): void {
    const stop = new AbortController()
    this.#reads.set(id, stop)
    ask(stop.signal)
      .then(
        (value) => this.#outbox.put({ type: 'answer', id, value }),
        (error: unknown) => this.#fail(id, error),
      )
      .finally(() => this.#reads.delete(id))
  }

  async #get(key: string, options: ReadOptions): Promise<{ revision: Revision; entry: Entry | undefined }> {
    const { revision, entry } = await this.#storage.get(key, options)
    return { revision, entry: entry && withValue(entry) }
  }

  #fail(id: number, error: unknown): void {
    this.#outbox.put({ type: 'failure', id, error: toSentError(error) })
  }

  /** Handed in at once: the order of the messages is the order of the transactions. */
  #commit(id: number, { guards, writes }: SentTransaction, settled: number): void {
    for (const known of this.#tickets.keys()) {
      if (known > settled) break
      this.#tickets.delete(known)
      this.#forgotten = known
    }
    try {
      const transaction: Transaction = {
        guards: guards.map(({ key, expect }) => ({ key, expect: this.#expect(expect) })),
        writes: writes.map(({ key, value, expect }) => ({ key, value, expect: this.#expect(expect) })),
      }
      const { ticket, done } = this.#storage.commit(transaction)
      this.#tickets.set(id, ticket)
      done
        .then((commit) => this.#outbox.put({ type: 'answer', id, value: withValues(commit) }))
        .catch((error: unknown) => this.#fail(id, error))
    } catch (error) {
      this.#fail(id, error)
    }
  }

  #expect(expect: SentExpect): Expect {
    if (expect === 'never') return never
    if (typeof expect !== 'object') return expect
    const ticket = this.#tickets.get(expect.left)
    if (ticket) return { asLeftBy: ticket }
    if (expect.left <= this.#forgotten) throw new Error(`ticket ${expect.left} was given up`)
    // Its transaction was refused for its shape.
    return never
  }

  async #watch({ id, span, after }: Extract<ToHolder, { type: 'watch' }>): Promise<void> {
    const watch: Watch = { stop: new AbortController(), more: () => undefined }
    this.#watches.set(id, watch)
    const { signal } = watch.stop
    signal.addEventListener('abort', () => watch.more(), { once: true })
    try {
      for await (const found of this.#storage.watch(span, after, signal)) {
        const batch = withPrevious(found)
        const taken = new Promise<void>((resolve) => {
          watch.more = resolve
        })
        this.#outbox.put({ type: 'batch', id, batch })
        await taken
        if (signal.aborted) break
      }
    } catch (error) {
      if (!signal.aborted) this.#fail(id, error)
    } finally {
      this.#watches.delete(id)
    }
  }
}

/**
 * An engine may read a value only when it is asked for, and that may fail: the value has been compacted, or the disk
 * can't be read. It is asked for here, where a failure becomes an answer; in the middle of sending it would end the
 * process.
 */
const withValue = ({ key, value, revision }: Entry): Entry => ({ key, value, revision })

function withValues(commit: Commit): Commit {
  if (commit.ok) return commit
  return { ok: false, current: new Map([...commit.current].map(([key, entry]) => [key, entry && withValue(entry)])) }
}

function withPrevious(batch: ChangeBatch): ChangeBatch {
  if (batch.type === 'progress') return batch
  return {
    type: 'changes',
    changes: batch.changes.map(({ key, revision, value, previous }) => ({
      ...{ key, revision, value },
      previous: previous && withValue(previous),
    })),
  }
}

const at = (revision: number | undefined): { at?: number } => (revision === undefined ? {} : { at: revision })
