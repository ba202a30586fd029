/**
 * Storage on an etcd cluster (3.4 or newer): what several replicas of Borough share.
 *
 * etcd's revision of a key, times 1024, plus the position of the write in its commit, is our revision (`record.ts`).
 * Reads are etcd's linearizable ranges; transactions go through one ordered queue (`commit-queue.ts`); all watches hang
 * on one stream (`change-feed.ts`). etcd answers a transaction when a quorum has flushed it: visible means durable,
 * unless its operator has switched that off with `--unsafe-no-fsync`.
 */
import type { Clock } from '../../base/clock.ts'
import { systemClock } from '../../base/clock.ts'
import type { Stream } from '../../base/stream.ts'
import { isFormatRecord } from '../format-level.ts'
import { sealValue } from '../sealed-value.ts'
import type {
  ChangeBatch,
  Entry,
  PendingCommit,
  RangeOptions,
  ReadOptions,
  Revision,
  Span,
  Storage,
  StoreCondition,
  Transaction,
} from '../storage.ts'
import { endOfCommit, isStorageError, StorageError } from '../storage.ts'
import { checkLimit } from '../transaction-shape.ts'
import { ChangeFeed } from './change-feed.ts'
import { readChanges } from './change-reader.ts'
import { CommitQueue } from './commit-queue.ts'
import type { EtcdTls } from './connection.ts'
import { EtcdConnection } from './connection.ts'
import type { RawRange } from './key-space.ts'
import { KeySpace } from './key-space.ts'
import type { EtcdUser } from './login.ts'
import type { Op, RangeRequest, RangeResponse, TxnRequest, TxnResponse } from './messages.ts'
import { compactMethod, rangeMethod, txnMethod } from './messages.ts'
import { type HeaderOf, plainPut } from './prepared-transaction.ts'
import { endOf, modRevisionOf, recordHeader, toEntry } from './record.ts'

export interface EtcdStorageOptions {
  /** `http://host:port` or `https://host:port`, all of one cluster. */
  readonly endpoints: readonly string[]
  readonly tls?: EtcdTls
  /** Absent: no user, or the one that the client certificate names. */
  readonly user?: EtcdUser
  /** In front of every key: empty, or `/like/this`. Default empty. */
  readonly prefix?: string
  /**
   * Write values with their checksum, until `writeLevel` says otherwise. Servers before checksums can't read them;
   * default false. Values with one are read, and checked, in any case.
   */
  readonly checksums?: boolean
  readonly clock?: Clock
  /** Default 10 s. */
  readonly requestTimeoutMs?: number
  /** Default 3 s. */
  readonly connectTimeoutMs?: number
  /** Changes that may wait in one watch before it is cut off with `overflow`. Default 10,000. */
  readonly watchLimit?: number
  /** Hears of faults that the engine gets over by itself, such as a broken watch connection. */
  readonly onFault?: (error: StorageError) => void
}

/** The time is that of the request: etcd tells none of the commit. */
const sealedHeader =
  (clock: Clock): HeaderOf =>
  (key, position, previous, value) =>
    sealValue({ key, revision: undefined }, { position, timeMs: clock.now(), previous }, value)

const putsSomething = (ops: readonly Op[]): boolean =>
  ops.some((op) => op.type === 'put' || (op.type === 'txn' && putsSomething(op.request.success)))

/** Keys fetched per request of a long range: bounds the size of one answer. */
const pageKeys = 1_000

export class EtcdStorage implements Storage {
  readonly #connection: EtcdConnection
  readonly #keySpace: KeySpace
  readonly #queue: CommitQueue
  readonly #feed: ChangeFeed
  /** etcd's own compaction revision, as far as we know; 0 = none known. */
  #compacted = 0
  #closed: Promise<void> | undefined
  /** Values are written with their checksum. */
  #seals: boolean
  /** It refused the last write for want of room. */
  #isFull = false

  /**
   * Connects, and makes sure that the cluster answers.
   *
   * @throws StorageError code=unavailable when no endpoint answers, code=invalid for options that make no sense.
   */
  static async open(options: EtcdStorageOptions): Promise<EtcdStorage> {
    const storage = new EtcdStorage(options)
    try {
      await storage.currentRevision()
      return storage
    } catch (error) {
      await storage[Symbol.asyncDispose]()
      throw error
    }
  }

  private constructor(options: EtcdStorageOptions) {
    const clock = options.clock ?? systemClock
    const keySpace = new KeySpace(options.prefix ?? '')
    const sealed = sealedHeader(clock)
    this.#seals = options.checksums === true
    const connection = new EtcdConnection({
      endpoints: options.endpoints,
      ...(options.tls ? { tls: options.tls } : {}),
      ...(options.user ? { user: options.user } : {}),
      clock,
      requestTimeoutMs: options.requestTimeoutMs ?? 10_000,
      connectTimeoutMs: options.connectTimeoutMs ?? 3_000,
    })
    this.#keySpace = keySpace
    this.#connection = connection
    this.#queue = new CommitQueue({
      keySpace,
      issuer: this,
      header: (key, position, previous, value) =>
        this.#seals || isFormatRecord(key) ? sealed(key, position, previous, value) : recordHeader(position),
      send: (request, repeatable) => this.#send(request, repeatable),
    })
    this.#feed = new ChangeFeed({
      clock,
      watchLimit: options.watchLimit ?? 10_000,
      onFault: options.onFault ?? (() => undefined),
      origin: {
        currentModRevision: (signal) => this.#currentModRevision(signal),
        read: (start, signal) => readChanges(connection, keySpace, start, signal),
        checkReadable: async (revision, signal) => {
          await this.#fetch({ key: keySpace.barrier, revision, countOnly: true }, signal)
        },
        writeBarrier: async (signal) => {
          const success = [plainPut(keySpace.barrier, new Uint8Array(0))]
          await connection.call(txnMethod, { compare: [], success, failure: [] }, { signal, repeatable: true })
        },
      },
    })
  }

  async get(key: string, options: ReadOptions = {}): ReturnType<Storage['get']> {
    const revision = this.#readAt(options)
    const findable = key !== '' && key.isWellFormed() && !this.#keySpace.isInternal(key)
    // What can't be a key of ours is not there; the barrier stands in for it to learn the store's revision.
    const rawKey = findable ? this.#keySpace.toRaw(key) : this.#keySpace.barrier
    const answer = await this.#fetch({ key: rawKey, revision, countOnly: !findable }, options.signal)
    const kv = findable ? answer.kvs[0] : undefined
    return { revision: this.#revisionOf(answer, options), entry: kv && toEntry(key, kv) }
  }

  async range(span: Span, options: RangeOptions = {}): ReturnType<Storage['range']> {
    checkLimit(options.limit)
    const revision = this.#readAt(options)
    const range = this.#keySpace.toRange(span)
    if (!range) {
      const answer = await this.#fetch({ key: this.#keySpace.barrier, revision, countOnly: true }, options.signal)
      return { revision: this.#revisionOf(answer, options), entries: [], more: false }
    }
    const limit = options.limit ?? Number.POSITIVE_INFINITY
    const entries: Entry[] = []
    let page: RangeResponse | undefined
    do {
      page = await this.#fetchPage(range, page, revision, limit - entries.length, options.signal)
      for (const kv of page.kvs) {
        const key = this.#keySpace.fromRaw(kv.key)
        if (!this.#keySpace.isInternal(key)) entries.push(toEntry(key, kv))
      }
    } while (page.more && entries.length <= limit)
    const more = entries.length > limit
    return { revision: this.#revisionOf(page, options), entries: more ? entries.slice(0, limit) : entries, more }
  }

  async count(span: Span, signal?: AbortSignal): Promise<number> {
    const range = this.#keySpace.toRange(span)
    if (!range) return 0
    return (await this.#fetch({ key: range.key, rangeEnd: range.rangeEnd, countOnly: true }, signal)).count
  }

  commit(transaction: Transaction): PendingCommit {
    return this.#queue.commit(transaction)
  }

  watch(span: Span, after: Revision, signal: AbortSignal): Stream<ChangeBatch> {
    return this.#feed.watch(span, after, signal)
  }

  writeLevel(level: number): void {
    this.#seals = level > 0
  }

  condition(): StoreCondition {
    if (!this.#isFull) return { writes: 'all', warnings: [] }
    const warning = 'etcd is full (NOSPACE): it takes deletes alone until it is compacted, defragmented and disarmed'
    return { writes: 'small', warnings: [warning] }
  }

  async currentRevision(): Promise<Revision> {
    return endOf(await this.#currentModRevision(undefined))
  }

  async compact(before: Revision): Promise<void> {
    const modRevision = modRevisionOf(before)
    if (modRevision < 1) {
      await this.#currentModRevision(undefined)
      return
    }
    try {
      this.#checkOpen()
      await this.#connection.call(compactMethod, modRevision, { repeatable: true })
    } catch (error) {
      // Another process was here before, with this revision or a later one.
      if (!isStorageError(error, 'compacted')) throw error
      await this.compactedRevision()
      return
    }
    this.#noteCompacted(modRevision)
  }

  async compactedRevision(): Promise<Revision> {
    const known = this.#compacted
    try {
      await this.#fetch({ key: this.#keySpace.barrier, revision: Math.max(known, 1), countOnly: true }, undefined)
    } catch (error) {
      if (!isStorageError(error, 'compacted')) throw error
      this.#noteCompacted(await this.#askCompacted())
    }
    return endOf(this.#compacted)
  }

  /** Commits handed in before are still decided. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= (async () => {
      await Promise.all([this.#queue[Symbol.asyncDispose](), this.#feed[Symbol.asyncDispose]()])
      this.#connection.close()
    })()
    await this.#closed
  }

  async #send(request: TxnRequest, repeatable: boolean): Promise<TxnResponse> {
    try {
      const answer = await this.#connection.call(txnMethod, request, { repeatable })
      // Others pass a full etcd too.
      if (putsSomething(request.success)) this.#isFull = false
      return answer
    } catch (error) {
      if (isStorageError(error, 'full')) this.#isFull = true
      throw error
    }
  }

  #checkOpen(): void {
    if (this.#closed) throw new StorageError('closed', 'the storage is closed')
  }

  /** etcd's revision to read at; 0 = now. */
  #readAt({ at }: ReadOptions): number {
    // Revision 1 is etcd's name for the empty store before the first write; 0 would mean 'now'.
    return at === undefined ? 0 : Math.max(modRevisionOf(at), 1)
  }

  #revisionOf(answer: RangeResponse, { at }: ReadOptions): Revision {
    return at === undefined ? endOf(answer.revision) : endOfCommit(at)
  }

  /**
   * Pages after the first read at the revision of the first. One key more than the limit tells whether there are more.
   */
  async #fetchPage(
    range: RawRange,
    before: RangeResponse | undefined,
    revision: number,
    wanted: number,
    signal: AbortSignal | undefined,
  ): Promise<RangeResponse> {
    const last = before?.kvs.at(-1)
    const key = last ? Buffer.concat([last.key, Buffer.of(0)]) : range.key
    const limit = Math.min(wanted + 1 + KeySpace.internalKeys, pageKeys)
    const request: RangeRequest = {
      key,
      rangeEnd: range.rangeEnd,
      limit,
      revision: revision || (before?.revision ?? 0),
    }
    const page = await this.#fetch(request, signal)
    return before ? { ...page, revision: before.revision } : page
  }

  async #fetch(request: RangeRequest, signal: AbortSignal | undefined): Promise<RangeResponse> {
    signal?.throwIfAborted()
    this.#checkOpen()
    const answer = await this.#connection.call(rangeMethod, request, { signal, repeatable: true })
    // A read at a revision may wait for a watch to reach it.
    if (!request.revision) this.#feed.want(endOf(answer.revision))
    return answer
  }

  async #currentModRevision(signal: AbortSignal | undefined): Promise<number> {
    return (await this.#fetch({ key: this.#keySpace.barrier, countOnly: true }, signal)).revision
  }

  #noteCompacted(modRevision: number): void {
    this.#compacted = Math.max(this.#compacted, modRevision)
    this.#feed.compact(endOf(this.#compacted))
  }

  /** No request tells it, but a watch from the very beginning is refused with it. */
  async #askCompacted(): Promise<number> {
    const stop = new AbortController()
    const barrier = this.#keySpace.barrier
    const watch = { key: barrier, rangeEnd: Buffer.concat([barrier, Buffer.of(0)]), startRevision: 1 }
    try {
      for await (const { canceled, compactRevision } of this.#connection.watch(watch, stop.signal)) {
        if (canceled) return compactRevision
      }
    } finally {
      stop.abort()
    }
    throw new StorageError('unavailable', 'etcd did not tell its compaction revision')
  }
}
