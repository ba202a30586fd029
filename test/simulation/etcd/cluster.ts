/**
 * An etcd cluster as its clients meet it: members that answer requests by agreeing with the others, that fall behind in
 * what they show to watches, are cut off, restart, and elect a leader anew. Names of errors are etcd's.
 */
import type { TxnRequest, WatchEvent, WatchResponse } from '../../../src/storage/etcd/messages.ts'
import type { Random } from '../../fuzz/random.ts'
import type { Scheduler } from '../scheduler.ts'
import { type Commit, type EtcdMvcc, EtcdRefusal } from './mvcc.ts'
import {
  readCompact,
  readRange,
  readTxn,
  readWatch,
  writeCompact,
  writeRange,
  writeStatus,
  writeTxn,
  writeWatch,
} from './wire.ts'

const failedPrecondition = 9
const resourceExhausted = 8
const unavailable = 14
const timedOut = 'etcdserver: request timed out'
const noSpace = 'etcdserver: mvcc: database space exceeded'
const notOfLearners = 'etcdserver: rpc not supported for learner'
/** etcd's own patience with a request: 5 s and two elections. */
const requestTimeoutMs = 7_000
const electionMs = 1_000
/** A watch that asked for a leader ends when there has been none for so long. */
const leaderlessMs = 3_000
/** Events of one answer; what is more follows in the next. */
const eventsPerAnswer = 50

export type Reply = (answer: Buffer | EtcdRefusal) => void

export class EtcdCluster {
  readonly scheduler: Scheduler
  readonly random: Random
  readonly store: EtcdMvcc
  readonly members: readonly EtcdMember[]
  #term = 2
  #electedAt = 0
  /**
   * The alarm NOSPACE is raised: nothing is put. `passing`: it is being raised, and a put may still be applied that is
   * refused all the same, as etcd does when its members count differently.
   */
  full: 'no' | 'passing' | 'yes' = 'no'
  /** Called with each commit, before any member shows it. */
  readonly onApplied: Set<(commit: Commit) => void> = new Set()

  constructor(scheduler: Scheduler, random: Random, store: EtcdMvcc, count: number) {
    this.scheduler = scheduler
    this.random = random
    this.store = store
    this.members = Array.from({ length: count }, (_, i) => new EtcdMember(this, `m${i}`))
  }

  get term(): number {
    return this.#term
  }

  /** Until then nothing is decided. */
  get electedAt(): number {
    return this.#electedAt
  }

  /** The leader is gone: another is elected, and what was under way is lost or not. */
  elect(): void {
    this.#term++
    this.#electedAt = this.scheduler.now + electionMs * (0.5 + this.random.next())
    this.scheduler.tell(`etcd elects, term ${this.#term}`)
  }

  /** A commit has been applied through one member; the others follow. */
  applied(by: EtcdMember): void {
    const newest = this.store.commits.at(-1)
    if (newest !== undefined) for (const listener of [...this.onApplied]) listener(newest)
    for (const member of this.members) {
      if (member === by) member.apply()
      else this.scheduler.after(member.lagMs * this.random.next(), () => member.apply())
    }
  }
}

interface MemberWatch {
  readonly key: Buffer
  readonly rangeEnd: Buffer
  /** The next revision to be sent. */
  next: number
  readonly send: (message: Buffer) => void
  readonly fail: (refusal: EtcdRefusal) => void
}

export class EtcdMember {
  readonly name: string
  readonly #cluster: EtcdCluster
  readonly #watches = new Set<MemberWatch>()
  #applied: number
  #isJoined = true
  #isUp = true
  /** It has joined, and has no vote before it has caught up: it answers no client. */
  #isLearner = false
  /** How far it may be behind the others. */
  lagMs = 3

  constructor(cluster: EtcdCluster, name: string) {
    this.#cluster = cluster
    this.name = name
    this.#applied = cluster.store.revision
  }

  get isUp(): boolean {
    return this.#isUp
  }

  /** Cut off from the other members, or with them again. */
  set joined(joined: boolean) {
    const { scheduler } = this.#cluster
    this.#isJoined = joined
    if (joined) this.apply()
    else this.#endWatchesSoon(scheduler)
  }

  #endWatchesSoon(scheduler: Scheduler): void {
    scheduler.after(leaderlessMs, () => {
      if (!this.#isJoined) this.#endWatches(new EtcdRefusal(unavailable, 'etcdserver: no leader'))
    })
  }

  /** Its connections are broken by the network. */
  set up(up: boolean) {
    if (up === this.#isUp) return
    this.#isUp = up
    this.#watches.clear()
    if (up) this.apply()
  }

  /** Another member takes the place, at the same address and without its data; it learns what there is. */
  replace(): void {
    this.#isLearner = true
    this.up = true
  }

  /** It has a vote, and knows all but the last `missing` commits: those come when it falls behind no more. */
  promote(missing: number): void {
    this.#isLearner = false
    const { store } = this.#cluster
    this.#applied = Math.max(1, store.revision - missing)
  }

  get isLearner(): boolean {
    return this.#isLearner
  }

  /** Takes what the cluster has decided, as far as it hears of it, and tells its watches. */
  apply(): void {
    if (!this.#isJoined || !this.#isUp || this.#isLearner) return
    this.#applied = this.#cluster.store.revision
    for (const watch of this.#watches) this.#tell(watch, (commit) => commit.events)
  }

  answer(path: string, body: Buffer, reply: Reply): void {
    const { scheduler, random } = this.#cluster
    if (path.endsWith('/Status')) {
      const hasLeader = this.#isJoined && scheduler.now >= this.#cluster.electedAt
      reply(writeStatus({ version: '3.5.21', hasLeader, term: this.#cluster.term }))
      return
    }
    if (this.#isLearner) return reply(new EtcdRefusal(failedPrecondition, notOfLearners))
    const { electedAt, term } = this.#cluster
    const waitMs = Math.max(0, electedAt - scheduler.now) + 0.2 + random.next() * 2
    scheduler.after(waitMs, () => {
      // What was handed to a leader that is gone is decided by the next one, or never heard of again.
      const isLost = this.#cluster.term !== term && random.chance(0.5)
      if (isLost || !this.#isJoined || !this.#isUp) {
        scheduler.after(requestTimeoutMs - waitMs, () => reply(new EtcdRefusal(unavailable, timedOut)))
        return
      }
      reply(this.#decide(path, body))
    })
  }

  /** Answers how to end it. */
  watch(body: Buffer, send: (message: Buffer) => void, fail: (refusal: EtcdRefusal) => void): () => void {
    const { key, rangeEnd, startRevision } = readWatch(body)
    const { store } = this.#cluster
    if (this.#isLearner) {
      fail(new EtcdRefusal(failedPrecondition, notOfLearners))
      return () => undefined
    }
    const blank: WatchResponse = { ...noEvents, revision: this.#applied }
    send(writeWatch({ ...blank, created: true }))
    if (startRevision < store.compacted) {
      send(writeWatch({ ...blank, canceled: true, compactRevision: store.compacted }))
      return () => undefined
    }
    const watch: MemberWatch = {
      key: Buffer.from(key),
      rangeEnd: Buffer.from(rangeEnd),
      next: startRevision,
      send,
      fail,
    }
    this.#watches.add(watch)
    if (!this.#isJoined) this.joined = false
    this.#tell(watch, (commit) => store.eventsOf(commit))
    return () => this.#watches.delete(watch)
  }

  #decide(path: string, body: Buffer): Buffer | EtcdRefusal {
    const { store, term, scheduler } = this.#cluster
    try {
      if (path.endsWith('/Range')) {
        const request = readRange(body)
        if (request.serializable) {
          return writeRange({ ...store.range(request, this.#applied), revision: this.#applied, term })
        }
        const found = store.range(request)
        this.apply()
        return writeRange({ ...found, revision: store.revision, term })
      }
      if (path.endsWith('/Txn')) {
        const before = store.revision
        const request = readTxn(body)
        const isRefused = this.#cluster.full !== 'no' && putsOpenly(request)
        if (isRefused && this.#cluster.full === 'yes') return new EtcdRefusal(resourceExhausted, noSpace)
        const done = store.txn(request, scheduler.now)
        if (store.revision > before) {
          scheduler.tell(`${this.name} commits ${store.revision}: ${describe(store.commits.at(-1)?.events ?? [])}`)
          this.#cluster.applied(this)
        } else this.apply()
        if (isRefused) {
          this.#cluster.full = 'yes'
          return new EtcdRefusal(resourceExhausted, noSpace)
        }
        return writeTxn({ ...done, term })
      }
      if (path.endsWith('/Compact')) {
        store.compact(readCompact(body))
        scheduler.tell(`${this.name} compacts ${store.compacted}`)
        return writeCompact(store.revision, term)
      }
    } catch (error) {
      if (error instanceof EtcdRefusal) return error
      throw error
    }
    throw new Error(`the engine calls ${path}, which this cluster does not know`)
  }

  /**
   * `eventsOf`: a watch that has come to the present is told of each commit when the member applies it, before any
   * compaction behind it; one that begins is told what is left of the past.
   */
  #tell(watch: MemberWatch, eventsOf: (commit: Commit) => readonly WatchEvent[]): void {
    const { store, random } = this.#cluster
    // The first commit has revision 2, and none is left out.
    const first = Math.max(0, watch.next - 2)
    let events: WatchEvent[] = []
    for (const commit of store.commits.slice(first)) {
      if (commit.revision > this.#applied) break
      watch.next = commit.revision + 1
      const mine = eventsOf(commit).filter(({ kv }) => isIn(kv.key, watch))
      // A long commit comes in fragments.
      if (mine.length > 1 && random.chance(0.1)) {
        if (events.length > 0) watch.send(writeWatch({ ...noEvents, revision: this.#applied, events }))
        const part = 1 + random.below(mine.length - 1)
        watch.send(writeWatch({ ...noEvents, revision: this.#applied, events: mine.slice(0, part), fragment: true }))
        events = mine.slice(part)
      } else events = [...events, ...mine]
      if (events.length < eventsPerAnswer && !random.chance(0.3)) continue
      if (events.length > 0) watch.send(writeWatch({ ...noEvents, revision: this.#applied, events }))
      events = []
    }
    if (events.length > 0) watch.send(writeWatch({ ...noEvents, revision: this.#applied, events }))
  }

  #endWatches(refusal: EtcdRefusal): void {
    const watches = [...this.#watches]
    this.#watches.clear()
    for (const watch of watches) watch.fail(refusal)
  }
}

const noEvents: WatchResponse = {
  revision: 0,
  created: false,
  canceled: false,
  compactRevision: 0,
  cancelReason: '',
  fragment: false,
  events: [],
}

function isIn(key: Buffer, { key: start, rangeEnd }: MemberWatch): boolean {
  if (Buffer.compare(key, start) < 0) return false
  return (rangeEnd.length === 1 && rangeEnd[0] === 0) || Buffer.compare(key, rangeEnd) < 0
}

/** What etcd takes for a put where it counts: not those of nested transactions. */
const putsOpenly = ({ success, failure }: TxnRequest): boolean =>
  [...success, ...failure].some(({ type }) => type === 'put')

const describe = (events: readonly WatchEvent[]): string =>
  events.map(({ type, kv }) => `${type} ${kv.key.toString()} ${kv.value.length}`).join(', ')
