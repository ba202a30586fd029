/**
 * One transaction in etcd's terms: what to compare, what to write, what to read if a comparison fails, and what the
 * answer means. It knows nothing of queues or connections.
 *
 * An expected revision is etcd's revision of the key *and* its position in that commit. The first is one comparison,
 * the second one or two more on the value's header, needed only where the caller's number might be made up.
 */
import type { Commit, Entry, Expect, Revision, Transaction } from '../storage.ts'
import { StorageError } from '../storage.ts'
import type { QueuedTicket, Settled } from '../ticket.ts'
import { settle } from '../ticket.ts'
import type { PlacedDelete } from './delete-note.ts'
import type { KeySpace } from './key-space.ts'
import type { Compare, KeyValue, Op, TxnRequest, TxnResponse } from './messages.ts'
import { modRevisionOf, positionCompares, positionOf, toEntry, toRevision } from './record.ts'

interface Condition {
  readonly key: string
  readonly rawKey: Buffer
  /** `never` fails in any case. */
  want: Settled
  /** Known to be the position of that commit's write of the key. */
  positionKnown: boolean
}

/** Of a value: see `record.ts`. `previous`: the guarded revision that it replaces, 0 = none. */
export type HeaderOf = (key: string, position: number, previous: Revision, value: Uint8Array) => Uint8Array

const noHeader = new Uint8Array(0)

export class PreparedTransaction {
  readonly #conditions: readonly Condition[]
  readonly #writes: readonly {
    readonly condition: Condition
    readonly rawKey: Buffer
    readonly value: Uint8Array | undefined
  }[]
  /** Every key named, once. */
  readonly #keys = new Map<string, Buffer>()
  readonly sizeBytes: number

  /** All tickets that the transaction names are settled. */
  constructor(transaction: Transaction, keySpace: KeySpace) {
    const condition = (key: string, expect: Expect): Condition => {
      const rawKey = this.#keys.get(key) ?? keySpace.toRaw(key)
      this.#keys.set(key, rawKey)
      return { key, rawKey, want: settle(key, expect) ?? 'never', positionKnown: typeof expect === 'object' }
    }
    const guards = transaction.guards.map(({ key, expect }) => condition(key, expect))
    let sizeBytes = 0
    const conditions: Condition[] = []
    this.#writes = transaction.writes.map(({ key, value, expect }) => {
      const writes = condition(key, expect)
      // To delete what is not there is to have lost a race.
      if (value === undefined && writes.want === 'absent') writes.want = 'never'
      conditions.push(writes)
      sizeBytes += value?.byteLength ?? 0
      return { condition: writes, rawKey: writes.rawKey, value }
    })
    this.#conditions = [...guards, ...conditions]
    // A key appears in comparisons, in the write, and in the read for the case of failure.
    for (const rawKey of this.#keys.values()) sizeBytes += 5 * rawKey.length + 64
    this.sizeBytes = sizeBytes
  }

  get writeCount(): number {
    return this.#writes.length
  }

  get onlyDeletes(): boolean {
    return this.#writes.every(({ value }) => value === undefined)
  }

  /** etcd limits the longest of a transaction's three lists. */
  get operations(): number {
    return Math.max(this.#compareCount(), this.#writes.length, this.#keys.size)
  }

  #compareCount(): number {
    let count = 0
    for (const condition of this.#conditions) count += compares(condition).length
    return count
  }

  /**
   * For a transaction with too many comparisons: reads of the keys whose position is in doubt. The answer, given to
   * `confirm`, settles it for good, since a key's position in a commit never changes.
   */
  doubtfulReads(): readonly Op[] {
    return this.#doubtful().map(({ rawKey }) => ({ type: 'range', request: { key: rawKey } }))
  }

  confirm(response: TxnResponse): void {
    for (const [i, condition] of this.#doubtful().entries()) {
      const kv = readOf(response, i)
      const revision = kv && toRevision(kv.modRevision, positionOf(kv.value))
      if (revision === condition.want) condition.positionKnown = true
      else condition.want = 'never'
    }
  }

  #doubtful(): readonly Condition[] {
    return this.#conditions.filter(({ want, positionKnown }) => typeof want === 'number' && !positionKnown)
  }

  deletes(firstPosition: number): readonly PlacedDelete[] {
    return this.#writes.flatMap(({ rawKey, value }, i) =>
      value === undefined ? [{ rawKey, position: firstPosition + i }] : [],
    )
  }

  /** The writes have positions from `firstPosition` on. `header`: what is put in front of a value. */
  toRequest(firstPosition: number, header: HeaderOf): TxnRequest {
    return {
      compare: this.#conditions.flatMap(compares),
      success: this.#writes.map(({ condition: { key, want }, rawKey, value }, i): Op => {
        if (value === undefined) return { type: 'delete', key: rawKey }
        const previous = typeof want === 'number' ? want : 0
        return { type: 'put', key: rawKey, header: header(key, firstPosition + i, previous, value), value }
      }),
      failure: Array.from(this.#keys.values(), (key): Op => ({ type: 'range', request: { key } })),
    }
  }

  /** `modRevision` is etcd's, of the commit; settles the ticket too. */
  settle(response: TxnResponse, modRevision: number, firstPosition: number, ticket: QueuedTicket): Commit {
    if (response.succeeded) {
      const revision = toRevision(modRevision, firstPosition)
      ticket.committed(revision)
      return { ok: true, revision }
    }
    ticket.failed()
    const entries = new Map<string, Entry | undefined>()
    for (const [i, key] of [...this.#keys.keys()].entries()) {
      const kv = readOf(response, i)
      entries.set(key, kv && toEntry(key, kv))
    }
    const current = new Map<string, Entry | undefined>()
    for (const { key, want } of this.#conditions) {
      const entry = entries.get(key)
      if (want !== (entry?.revision ?? 'absent')) current.set(key, entry)
    }
    if (current.size === 0) throw new StorageError('corrupt', 'etcd refused a transaction whose expectations all hold')
    return { ok: false, current }
  }
}

function compares({ rawKey, want, positionKnown }: Condition): readonly Compare[] {
  if (want === 'absent') return [{ key: rawKey, target: 'mod', result: 'equal', revision: 0 }]
  // No revision is below 0, not even that of a key that does not exist.
  if (want === 'never' || !(Number.isSafeInteger(want) && modRevisionOf(want) > 0)) {
    return [{ key: rawKey, target: 'mod', result: 'less', revision: 0 }]
  }
  const sameCommit: Compare = { key: rawKey, target: 'mod', result: 'equal', revision: modRevisionOf(want) }
  if (positionKnown) return [sameCommit]
  return [sameCommit, ...positionCompares(rawKey, want - toRevision(modRevisionOf(want), 0))]
}

function readOf(response: TxnResponse, index: number): KeyValue | undefined {
  const answer = response.responses[index]
  if (answer?.type !== 'range') throw new StorageError('unavailable', 'etcd left a read of a transaction unanswered')
  return answer.kvs[0]
}

/** A put of the engine's own, without header. */
export function plainPut(key: Uint8Array, value: Uint8Array): Op {
  return { type: 'put', key, header: noHeader, value }
}
