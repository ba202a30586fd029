/**
 * Brings transactions to etcd in the order they were handed in.
 *
 * One request is under way at a time; what arrives meanwhile waits and goes out together in the next one, as nested
 * transactions that succeed or fail each for itself (etcd evaluates all comparisons before it applies anything, so
 * only transactions that do not touch each other's writes may share a request):
 *
 *   commit() ──► waiting ──(does it depend on what the request already holds? then it is the first of the next)──►
 *   request ──► etcd ──► each transaction's outcome
 *
 * All of one request share an etcd revision; positions keep them apart. One request at a time gives the promised order;
 * several transactions in a request make up for the waiting.
 */
import type { Commit, PendingCommit, Transaction } from '../storage.ts'
import { positionsPerCommit, StorageError } from '../storage.ts'
import { checkTickets, QueuedTicket } from '../ticket.ts'
import { checkTransaction } from '../transaction-shape.ts'
import { encodeNote } from './delete-note.ts'
import { toStorageError } from './errors.ts'
import type { KeySpace } from './key-space.ts'
import type { Op, TxnRequest, TxnResponse } from './messages.ts'
import { type HeaderOf, PreparedTransaction, plainPut } from './prepared-transaction.ts'

/** etcd's default `--max-txn-ops`, counted along the nesting. */
const maxEtcdOperations = 128
/** etcd's default `--max-request-bytes` is 1.5 MiB; a request of several transactions stays well below. */
const maxSharedBytes = 1024 * 1024
/** Beyond this a caller commits without ever waiting for an outcome. */
const maxWaiting = 100_000

interface Waiting {
  readonly transaction: Transaction
  readonly ticket: QueuedTicket
  readonly resolve: (commit: Commit) => void
  readonly reject: (error: StorageError) => void
}

interface Member extends Waiting {
  readonly prepared: PreparedTransaction
  readonly firstPosition: number
}

export interface CommitQueueOptions {
  readonly keySpace: KeySpace
  /** Whose tickets these are. */
  readonly issuer: object
  readonly send: (request: TxnRequest, repeatable: boolean) => Promise<TxnResponse>
  readonly header: HeaderOf
}

export class CommitQueue implements AsyncDisposable {
  readonly #keySpace: KeySpace
  readonly #issuer: object
  readonly #send: CommitQueueOptions['send']
  readonly #header: HeaderOf
  #waiting: Waiting[] = []
  /** Index of the first that still waits; the array is cut now and then. */
  #head = 0
  #tickets = 0
  #running: Promise<void> | undefined
  #closed = false

  constructor(options: CommitQueueOptions) {
    this.#keySpace = options.keySpace
    this.#issuer = options.issuer
    this.#send = options.send
    this.#header = options.header
  }

  /** See `Storage.commit`. */
  commit(transaction: Transaction): PendingCommit {
    checkTransaction(transaction)
    for (const { key } of transaction.writes) this.#keySpace.check(key)
    for (const { key } of transaction.guards) this.#keySpace.check(key)
    checkTickets(transaction, this.#issuer)
    const ticket = new QueuedTicket(++this.#tickets, this.#issuer, transaction)
    const refusal = this.#refusal()
    if (refusal) {
      ticket.failed()
      return { ticket, done: Promise.reject(refusal) }
    }
    const done = new Promise<Commit>((resolve, reject) => {
      this.#waiting.push({ transaction, ticket, resolve, reject })
    })
    this.#running ??= this.#run()
    return { ticket, done }
  }

  /** What was handed in before still goes out. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    await this.#running
  }

  #refusal(): StorageError | undefined {
    if (this.#closed) return new StorageError('closed', 'the storage is closed')
    if (this.#waiting.length - this.#head < maxWaiting) return undefined
    return new StorageError('overflow', `${maxWaiting} transactions are waiting already`)
  }

  async #run(): Promise<void> {
    // Lets the rest of this turn's commits join the first request.
    await Promise.resolve()
    for (;;) {
      const members = this.#take()
      if (members.length === 0) break
      await this.#deliver(members)
    }
    this.#running = undefined
  }

  /** The next request's transactions: a run from the head of the queue that can go together. */
  #take(): readonly Member[] {
    const members: Member[] = []
    const inRequest = new Set<object>()
    const written = new Set<string>()
    let longest = 0
    let position = 0
    let sizeBytes = 0
    for (;;) {
      const next = this.#waiting[this.#head]
      if (!next || dependsOn(next.transaction, inRequest, written)) break
      const prepared = new PreparedTransaction(next.transaction, this.#keySpace)
      longest = Math.max(longest, prepared.operations)
      sizeBytes += prepared.sizeBytes
      const fits =
        // One operation per transaction, one for a note, and then the longest list of them all.
        members.length + 2 + longest <= maxEtcdOperations &&
        position + prepared.writeCount <= positionsPerCommit &&
        sizeBytes <= maxSharedBytes
      if (members.length > 0 && !fits) break
      this.#head++
      members.push({ ...next, prepared, firstPosition: position })
      inRequest.add(next.ticket)
      for (const { key } of next.transaction.writes) written.add(key)
      position += prepared.writeCount
    }
    if (this.#head === this.#waiting.length || this.#head > 1024) {
      this.#waiting = this.#waiting.slice(this.#head)
      this.#head = 0
    }
    return members
  }

  async #deliver(members: readonly Member[]): Promise<void> {
    try {
      const [only] = members
      if (members.length === 1 && only) await this.#deliverOne(only)
      else await this.#deliverTogether(members)
    } catch (error) {
      for (const member of members) fail(member, error)
    }
  }

  async #deliverOne(member: Member): Promise<void> {
    const { prepared } = member
    if (prepared.operations > maxEtcdOperations) {
      const reads: TxnRequest = { compare: [], success: prepared.doubtfulReads(), failure: [] }
      prepared.confirm(await this.#send(reads, true))
    }
    const response = await this.#send(prepared.toRequest(0, this.#header), false)
    member.resolve(prepared.settle(response, response.revision, 0, member.ticket))
  }

  /** A full etcd takes no note, but deletes: each for itself. One that was taken all the same finds its key gone. */
  async #deliverDeletes(members: readonly Member[], refusal: unknown): Promise<void> {
    for (const member of members) {
      if (member.prepared.onlyDeletes) await this.#deliver([member])
      else fail(member, refusal)
    }
  }

  async #deliverTogether(members: readonly Member[]): Promise<void> {
    const deletes = members.flatMap(({ prepared, firstPosition }) => prepared.deletes(firstPosition))
    const note = deletes.length > 0 ? [plainPut(this.#keySpace.note, encodeNote(deletes))] : []
    const nested = members.map(
      ({ prepared, firstPosition }): Op => ({ type: 'txn', request: prepared.toRequest(firstPosition, this.#header) }),
    )
    let response: TxnResponse
    try {
      response = await this.#send({ compare: [], success: [...note, ...nested], failure: [] }, false)
    } catch (error) {
      const { code } = toStorageError(error, '')
      if (code === 'full' && note.length > 0) return this.#deliverDeletes(members, error)
      if (code !== 'tooLarge' && code !== 'invalid') throw error
      // Refused for its shape, so nothing is done: an etcd with narrower limits. Each for itself, then.
      for (const member of members) await this.#deliver([member])
      return
    }
    for (const [i, member] of members.entries()) {
      const answer = response.responses[note.length + i]
      try {
        if (answer?.type !== 'txn') throw new StorageError('unavailable', 'etcd left a transaction unanswered')
        const { prepared, firstPosition, ticket } = member
        member.resolve(prepared.settle(answer.response, response.revision, firstPosition, ticket))
      } catch (error) {
        fail(member, error)
      }
    }
  }
}

/** True if the transaction must see what the ones in the request do. */
function dependsOn(transaction: Transaction, inRequest: ReadonlySet<object>, written: ReadonlySet<string>): boolean {
  if (inRequest.size === 0) return false
  return [...transaction.guards, ...transaction.writes].some(
    ({ key, expect }) => written.has(key) || (typeof expect === 'object' && inRequest.has(expect.asLeftBy)),
  )
}

function fail(member: Member, error: unknown): void {
  // Whether it was applied may be unknown. Followers are refused either way, and decide again on what they find.
  member.ticket.failed()
  member.reject(toStorageError(error, 'a transaction'))
}
