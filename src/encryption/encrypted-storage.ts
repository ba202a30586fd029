/**
 * A store whose values are encrypted where they lie: between the server, which sees them bare, and an engine, which
 * sees what is stored. Headers and checksums are the engine's, so they cover the encrypted form.
 *
 * A value that can't be decrypted is handed up as a note, like a damaged one: it is there, and reads of it fail. Where
 * a KMS plugin must be asked and can't be, the call fails instead, since it may succeed another time.
 */
import type { Stream } from '../base/stream.ts'
import type { HistoryGauge } from '../storage/compactor.ts'
import { damageNote, damageOf } from '../storage/damaged-value.ts'
import {
  type Change,
  type ChangeBatch,
  type Commit,
  type Entry,
  type OpenedState,
  type PendingCommit,
  type RangeOptions,
  type ReadOptions,
  type Revision,
  type Span,
  type Storage,
  StorageError,
  type StoreCondition,
  type Transaction,
} from '../storage/storage.ts'
import { checkTransaction } from '../storage/transaction-shape.ts'
import type { Encryption } from './encryption.ts'
import { mayAnswerLater } from './kms-provider.ts'
import { EncryptionError } from './provider.ts'

export class EncryptedStorage implements Storage, Partial<HistoryGauge> {
  readonly #storage: Storage & Partial<HistoryGauge>
  readonly #encryption: Encryption
  readonly historyBytes?: () => number
  readonly condition?: () => StoreCondition | undefined
  readonly writeLevel?: (level: number) => void
  readonly revisionBeyond?: (sizeBytes: number) => Revision | undefined

  /** Closes both. */
  constructor(storage: Storage & Partial<HistoryGauge>, encryption: Encryption) {
    this.#storage = storage
    this.#encryption = encryption
    const historyBytes = storage.historyBytes?.bind(storage)
    if (historyBytes) this.historyBytes = historyBytes
    const condition = storage.condition?.bind(storage)
    if (condition) this.condition = condition
    const writeLevel = storage.writeLevel?.bind(storage)
    if (writeLevel) this.writeLevel = writeLevel
    const revisionBeyond = storage.revisionBeyond?.bind(storage)
    if (revisionBeyond) this.revisionBeyond = revisionBeyond
  }

  get encryption(): Encryption {
    return this.#encryption
  }

  async get(key: string, options?: ReadOptions): ReturnType<Storage['get']> {
    const { revision, entry } = await this.#storage.get(key, options)
    return { revision, entry: entry && (await this.#openEntry(entry)) }
  }

  async range(span: Span, options?: RangeOptions): ReturnType<Storage['range']> {
    const { revision, entries, more } = await this.#storage.range(span, options)
    const opened: Entry[] = []
    for (const entry of entries) opened.push(await this.#openEntry(entry))
    return { revision, entries: opened, more }
  }

  /** @throws StorageError code=unavailable at once where nothing can be encrypted now */
  commit(transaction: Transaction): PendingCommit {
    checkTransaction(transaction)
    const { ticket, done } = this.#storage.commit(this.#sealed(transaction))
    return { ticket, done: this.#outcome(done) }
  }

  watch(span: Span, after: Revision, signal: AbortSignal): Stream<ChangeBatch> {
    const disposal = new AbortController()
    const iterator = this.#watch(span, after, AbortSignal.any([signal, disposal.signal]))
    return {
      [Symbol.asyncIterator]: () => iterator,
      [Symbol.asyncDispose]: async () => {
        // A generator that waits for its next batch would not hear of `return` before that came.
        disposal.abort()
        await iterator.return(undefined)
      },
    }
  }

  takeOpened(): OpenedState | undefined {
    const opened = this.#storage.takeOpened?.()
    if (opened === undefined) return undefined
    // Each member by name: one that hands up values as they are stored would serve what is encrypted.
    return {
      revision: opened.revision,
      pieces: opened.pieces,
      valueAt: (key, revision) => this.#openNow(key, revision, opened.valueAt(key, revision)),
      valuesIn: (span) => this.#openEach(opened.valuesIn(span)),
    }
  }

  *#openEach(entries: Iterable<Entry>): Generator<Entry> {
    for (const { key, revision, value } of entries) yield { key, revision, value: this.#openNow(key, revision, value) }
  }

  currentRevision(): Promise<Revision> {
    return this.#storage.currentRevision()
  }

  get ownRevision(): Revision | undefined {
    return this.#storage.ownRevision
  }

  compact(before: Revision): Promise<void> {
    return this.#storage.compact(before)
  }

  compactedRevision(): Promise<Revision> {
    return this.#storage.compactedRevision()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#storage[Symbol.asyncDispose]()
    this.#encryption[Symbol.dispose]()
  }

  #sealed({ guards, writes }: Transaction): Transaction {
    try {
      const seal = (key: string, value: Uint8Array | undefined): Uint8Array | undefined =>
        value && this.#encryption.seal(key, value)
      return { guards, writes: writes.map((write) => ({ ...write, value: seal(write.key, write.value) })) }
    } catch (error) {
      if (!(error instanceof EncryptionError)) throw error
      throw new StorageError('unavailable', `nothing can be encrypted: ${error.message}`, { cause: error })
    }
  }

  async #outcome(done: Promise<Commit>): Promise<Commit> {
    const commit = await done
    if (commit.ok) return commit
    const current = new Map<string, Entry | undefined>()
    for (const [key, entry] of commit.current) current.set(key, entry && (await this.#openEntry(entry)))
    return { ok: false, current }
  }

  async *#watch(span: Span, after: Revision, signal: AbortSignal): AsyncGenerator<ChangeBatch> {
    for await (const batch of this.#storage.watch(span, after, signal)) {
      if (batch.type === 'progress') yield batch
      else yield { type: 'changes', changes: await this.#openChanges(batch.changes) }
    }
  }

  async #openChanges(changes: readonly Change[]): Promise<readonly Change[]> {
    const opened: Change[] = []
    for (const { key, revision, value, previous } of changes) {
      opened.push({
        key,
        revision,
        value: value && (await this.#openLearning(key, revision, value)),
        // Read when it is asked for, if at all. Its seed is known: this stream, or the start, came by it.
        previous: previous && this.#openLater(previous),
      })
    }
    return opened
  }

  async #openEntry({ key, revision, value }: Entry): Promise<Entry> {
    return { key, revision, value: await this.#openLearning(key, revision, value) }
  }

  #openLater(entry: Entry): Entry {
    const { key, revision } = entry
    let opened: Uint8Array | undefined
    const open = (): Uint8Array => (opened ??= this.#openNow(key, revision, entry.value))
    return {
      key,
      revision,
      get value() {
        return open()
      },
    }
  }

  /** @throws StorageError code=unavailable where a plugin can't be asked */
  async #openLearning(key: string, revision: Revision, stored: Uint8Array): Promise<Uint8Array> {
    if (damageOf(stored) !== undefined) return stored
    try {
      return (await this.#encryption.openAsking(key, stored)).value
    } catch (error) {
      if (!mayAnswerLater(error)) return noteOf(key, revision, error)
      throw new StorageError('unavailable', `nothing can be decrypted: ${error.message}`, { cause: error })
    }
  }

  #openNow(key: string, revision: Revision, stored: Uint8Array): Uint8Array {
    if (damageOf(stored) !== undefined) return stored
    try {
      return this.#encryption.open(key, stored).value
    } catch (error) {
      return noteOf(key, revision, error)
    }
  }
}

function noteOf(key: string, revision: Revision, error: unknown): Uint8Array {
  if (!(error instanceof EncryptionError)) throw error
  return damageNote(`the stored value of ${key} at revision ${revision} can't be decrypted: ${error.message}`)
}
