/**
 * What an etcd cluster holds: every version of every key, by revision, as its documentation and its observed behaviour
 * have it. One state for the whole cluster: that its members agree is etcd's business, not what is tried here.
 */
import type {
  Compare,
  KeyValue,
  Op,
  OpResponse,
  RangeRequest,
  RangeResponse,
  TxnRequest,
  WatchEvent,
} from '../../../src/storage/etcd/messages.ts'

interface Version {
  readonly mod: number
  readonly create: number
  /** undefined: deleted. */
  readonly value: Buffer | undefined
}

export interface Commit {
  readonly revision: number
  /** When it was applied, in simulated time. */
  readonly at: number
  readonly events: readonly WatchEvent[]
}

export interface AppliedTxn {
  readonly revision: number
  readonly succeeded: boolean
  readonly responses: readonly OpResponse[]
}

/** As etcd says it: `details` of a gRPC error. */
export class EtcdRefusal extends Error {
  readonly code: number
  constructor(code: number, details: string) {
    super(details)
    this.code = code
  }
}

const outOfRange = 11
const invalidArgument = 3
const compactedText = 'etcdserver: mvcc: required revision has been compacted'
const futureText = 'etcdserver: mvcc: required revision is a future revision'
/** etcd's default for the operations of one list. */
const maxOperations = 128

export class EtcdMvcc {
  /** Keys in latin1, which sorts as their bytes do. */
  readonly #versions = new Map<string, Version[]>()
  readonly #commits: Commit[] = []
  #keys: string[] = []
  #revision = 1
  #compacted = 0
  /** What a disk gives back in place of what was written. */
  readonly #damaged = new Map<Version, Buffer>()

  /** The same store once more, to go its own way. */
  copy(): EtcdMvcc {
    const copy = new EtcdMvcc()
    for (const [key, versions] of this.#versions) copy.#versions.set(key, [...versions])
    for (const commit of this.#commits) copy.#commits.push({ ...commit, at: 0 })
    copy.#keys = [...this.#keys]
    copy.#revision = this.#revision
    copy.#compacted = this.#compacted
    return copy
  }

  get revision(): number {
    return this.#revision
  }

  get compacted(): number {
    return this.#compacted
  }

  /** Of all time, also what was compacted since. */
  get commits(): readonly Commit[] {
    return this.#commits
  }

  /** `applied`: what a member knows that answers by itself. */
  range(request: RangeRequest, applied: number = this.#revision): Pick<RangeResponse, 'kvs' | 'more' | 'count'> {
    const at = request.revision || applied
    if (at > this.#revision) throw new EtcdRefusal(outOfRange, futureText)
    if (at < Math.min(this.#compacted, applied)) throw new EtcdRefusal(outOfRange, compactedText)
    const kvs: KeyValue[] = []
    let count = 0
    for (const key of this.#keysIn(request)) {
      const version = this.#versionAt(key, at)
      if (version?.value === undefined) continue
      count++
      const isFull = request.limit && kvs.length === request.limit
      if (!request.countOnly && !isFull) kvs.push(this.#read(key, version))
    }
    return { kvs, more: !request.countOnly && kvs.length < count, count }
  }

  txn(request: TxnRequest, at: number): AppliedTxn {
    checkShape(request)
    const revision = this.#revision + 1
    // Comparisons of the whole tree are made before anything is applied.
    const chosen = this.#choose(request)
    const events: WatchEvent[] = []
    const responses = this.#apply(chosen.ops, revision, events)
    if (events.length > 0) {
      this.#revision = revision
      this.#commits.push({ revision, at, events })
    }
    return { revision: this.#revision, succeeded: chosen.succeeded, responses }
  }

  compact(revision: number): void {
    if (revision > this.#revision) throw new EtcdRefusal(outOfRange, futureText)
    if (revision <= this.#compacted) throw new EtcdRefusal(outOfRange, compactedText)
    this.#compacted = revision
  }

  /** Of what is there: keys, in their order. */
  keys(): readonly string[] {
    return this.#keys.filter((key) => this.#versionAt(key, this.#revision)?.value !== undefined)
  }

  /** From now on this is read in place of what is there under the key. Answers how to undo it. */
  damage(key: string, make: (sound: Buffer) => Buffer): () => void {
    const version = this.#versionAt(key, this.#revision)
    if (version?.value === undefined) return () => undefined
    this.#damaged.set(version, make(version.value))
    return () => this.#damaged.delete(version)
  }

  /** What a watch from `start` on is sent of one commit; previous values as far as they can still be looked up. */
  eventsOf(commit: Commit): readonly WatchEvent[] {
    const { revision } = commit
    if (revision > this.#compacted) return this.#damaged.size === 0 ? commit.events : commit.events.map(this.#readEvent)
    // Of the revision that history now begins with, etcd has kept what is there, and dropped deletes.
    return commit.events
      .filter(({ type, kv }) => type === 'put' && this.#versionAt(latin1(kv.key), this.#compacted)?.mod === revision)
      .map((event) => ({ ...event, previous: undefined }))
  }

  /** As it comes from the disk. */
  #read(key: string, version: Version): KeyValue {
    const sound = keyValue(key, version)
    const value = this.#damaged.get(version)
    return value === undefined ? sound : { ...sound, value }
  }

  readonly #readEvent = (event: WatchEvent): WatchEvent => {
    const key = latin1(event.kv.key)
    const version = this.#versions.get(key)?.find(({ mod }) => mod === event.kv.modRevision)
    return version === undefined || event.type === 'delete' ? event : { ...event, kv: this.#read(key, version) }
  }

  #keysIn({ key, rangeEnd }: RangeRequest): readonly string[] {
    const start = latin1(key)
    if (rangeEnd === undefined) return this.#versions.has(start) ? [start] : []
    const end = latin1(rangeEnd)
    const from = this.#lowerBound(start === '\0' ? '' : start)
    return end === '\0' ? this.#keys.slice(from) : this.#keys.slice(from, this.#lowerBound(end))
  }

  #lowerBound(key: string): number {
    let low = 0
    let high = this.#keys.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#keys[middle] as string) < key) low = middle + 1
      else high = middle
    }
    return low
  }

  #versionAt(key: string, revision: number): Version | undefined {
    return this.#versions.get(key)?.findLast(({ mod }) => mod <= revision)
  }

  #choose({ compare, success, failure }: TxnRequest): Chosen {
    const succeeded = compare.every((each) => this.#holds(each))
    const ops = (succeeded ? success : failure).map(
      (op): ChosenOp => (op.type === 'txn' ? { type: 'chosen', ...this.#choose(op.request) } : op),
    )
    return { succeeded, ops }
  }

  #holds(compare: Compare): boolean {
    const version = this.#versionAt(latin1(compare.key), this.#revision)
    if (compare.target === 'mod') {
      const mod = version?.value === undefined ? 0 : version.mod
      return compare.result === 'equal' ? mod === compare.revision : mod < compare.revision
    }
    if (version?.value === undefined) return false
    const order = Buffer.compare(this.#damaged.get(version) ?? version.value, compare.value)
    return compare.result === 'greater' ? order > 0 : order < 0
  }

  #apply(ops: readonly ChosenOp[], revision: number, events: WatchEvent[]): OpResponse[] {
    return ops.map((op): OpResponse => {
      switch (op.type) {
        case 'chosen': {
          const responses = this.#apply(op.ops, revision, events)
          const now = events.length > 0 ? revision : this.#revision
          return { type: 'txn', response: { revision: now, succeeded: op.succeeded, responses, term: 0 } }
        }
        case 'range':
          return { type: 'range', kvs: this.range(op.request).kvs }
        case 'put':
          this.#write(op.key, Buffer.concat([op.header, op.value]), revision, events)
          return { type: 'done' }
        case 'delete':
          this.#write(op.key, undefined, revision, events)
          return { type: 'done' }
      }
    })
  }

  #write(rawKey: Uint8Array, value: Buffer | undefined, revision: number, events: WatchEvent[]): void {
    const key = latin1(rawKey)
    const versions = this.#versions.get(key)
    const last = versions?.at(-1)
    const before = last?.value === undefined ? undefined : last
    if (value === undefined && before === undefined) return
    const version = { mod: revision, create: before?.create ?? revision, value }
    if (versions) versions.push(version)
    else {
      this.#versions.set(key, [version])
      this.#keys.splice(this.#lowerBound(key), 0, key)
    }
    const previous = before && keyValue(key, before)
    events.push({ type: value === undefined ? 'delete' : 'put', kv: keyValue(key, version), previous })
  }
}

type ChosenOp = Exclude<Op, { readonly type: 'txn' }> | ({ readonly type: 'chosen' } & Chosen)

interface Chosen {
  readonly succeeded: boolean
  readonly ops: readonly ChosenOp[]
}

const latin1 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')

function keyValue(key: string, { mod, create, value }: Version): KeyValue {
  const deleted = value === undefined
  return {
    key: Buffer.from(key, 'latin1'),
    createRevision: deleted ? 0 : create,
    modRevision: mod,
    value: value ?? Buffer.alloc(0),
  }
}

/** etcd refuses what writes a key twice, in whichever branch. */
function checkShape(request: TxnRequest, depth = 0): number {
  const longest = Math.max(request.compare.length, request.success.length, request.failure.length)
  const nested = [...request.success, ...request.failure].map((op) =>
    op.type === 'txn' ? checkShape(op.request, depth + 1) : 0,
  )
  const operations = longest + Math.max(0, ...nested)
  if (operations > maxOperations)
    throw new EtcdRefusal(invalidArgument, 'etcdserver: too many operations in txn request')
  if (depth === 0) {
    const written = new Set<string>()
    for (const key of keysWritten(request.success)) {
      if (written.has(key)) throw new EtcdRefusal(invalidArgument, 'etcdserver: duplicate key given in txn request')
      written.add(key)
    }
  }
  return operations
}

function keysWritten(ops: readonly Op[]): string[] {
  return ops.flatMap((op) => {
    if (op.type === 'txn') return keysWritten(op.request.success)
    return op.type === 'range' ? [] : [latin1(op.key)]
  })
}
