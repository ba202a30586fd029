/**
 * Engines against a model that can hardly be wrong: a list of commits, replayed from the start for every question.
 *
 * Transactions are submitted several at a time, so that followers name tickets whose outcome is unknown; what each must
 * answer is decided by the model when it is submitted, because transactions take effect in the order of the calls.
 * A watch runs along from the first step to the last, over reopenings too, and must have seen every change once.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type {
  Change,
  Commit,
  Expect,
  PendingCommit,
  Revision,
  Storage,
  Transaction,
} from '../../src/storage/storage.ts'
import { endOfCommit, isStorageError, prefixSpan } from '../../src/storage/storage.ts'
import { bytes, text, WatchReader } from '../contract/storage-reader.ts'

export interface ModelOptions {
  readonly runs: number
  /** Fixed by default, so that a failure is the change's and not the day's. */
  readonly seed?: number
}

export interface ModelOpened {
  readonly storage: Storage
  readonly reopen?: () => Promise<Storage>
}

const everything = prefixSpan('/')
const keys = ['/a', '/b', '/b/c', '/b/d', '/é'] as const

/** A version of a key: the place of a write in a transaction whose revision may not be known yet. */
interface Version {
  readonly by: Submitted
  readonly position: number
  readonly value: string
}

type State = ReadonlyMap<string, Version>

interface Submitted {
  readonly transaction: Transaction
  readonly pending: PendingCommit
  /** The keys whose expectation must fail; none = must commit. */
  readonly lost: readonly string[]
  /** What refusal must report. */
  readonly before: State
  readonly after: State
  revision: Revision | undefined
}

function revisionOf({ by, position }: Version): Revision {
  if (by.revision === undefined) throw new Error('not settled')
  return by.revision + position
}

class World {
  storage: Storage
  readonly reopen: (() => Promise<Storage>) | undefined
  readonly start: Revision
  /** Settled and committed, in order. */
  readonly commits: Submitted[] = []
  /** Everything ever submitted, for tickets. Emptied by a reopening: tickets are of one storage object. */
  tickets: Submitted[] = []
  unsettled: Submitted[] = []
  state: State = new Map()
  compacted: Revision
  reader: WatchReader
  #seenBefore: Change[] = []

  constructor(opened: ModelOpened, start: Revision, compacted: Revision) {
    this.storage = opened.storage
    this.reopen = opened.reopen
    this.start = start
    this.compacted = compacted
    this.reader = new WatchReader(this.storage, everything, start)
  }

  submit(transaction: Transaction, lost: readonly string[], after: State): void {
    const pending = this.storage.commit(transaction)
    const submitted: Submitted = { transaction, pending, lost, before: this.state, after, revision: undefined }
    this.unsettled.push(submitted)
    this.tickets.push(submitted)
  }

  async settle(): Promise<void> {
    const group = this.unsettled
    this.unsettled = []
    const results = await Promise.all(group.map(({ pending }) => pending.done))
    for (const [i, submitted] of group.entries()) this.#check(submitted, results[i] as Commit)
  }

  #check(submitted: Submitted, result: Commit): void {
    if (result.ok) {
      expect(submitted.lost, 'committed, but should have been refused').toEqual([])
      // Transactions may share a commit, so it is the last write of the one before that counts.
      const last = this.commits.at(-1)
      const lastWrite = last ? (last.revision ?? 0) + last.transaction.writes.length - 1 : this.start
      expect(result.revision).toBeGreaterThan(lastWrite)
      submitted.revision = result.revision
      this.commits.push(submitted)
      return
    }
    expect([...result.current.keys()].sort()).toEqual([...new Set(submitted.lost)].sort())
    for (const [key, entry] of result.current) {
      const version = submitted.before.get(key)
      expect(text(entry?.value)).toBe(version?.value)
      expect(entry?.revision).toBe(version && revisionOf(version))
    }
  }

  /** Ends of commits that may be read at, the start first. */
  ends(): Revision[] {
    return [this.start, ...this.commits.map(({ revision }) => endOfCommit(revision ?? 0))]
  }

  stateAt(end: Revision): State {
    return this.commits.findLast(({ revision }) => (revision ?? 0) <= end)?.after ?? new Map()
  }

  /** What a watch must deliver after `after`. */
  changesAfter(after: Revision): string[] {
    return this.commits
      .flatMap(({ transaction, before, revision }) =>
        transaction.writes.map((write, position) => ({
          at: (revision ?? 0) + position,
          shown: showChange(write.key, (revision ?? 0) + position, write.value, before.get(write.key)),
        })),
      )
      .filter(({ at }) => at > after)
      .map(({ shown }) => shown)
  }

  async catchUpReader(): Promise<void> {
    await this.reader.until(await this.storage.currentRevision())
  }

  /** Everything the long watch has delivered. */
  seen(): Change[] {
    return [...this.#seenBefore, ...this.reader.changes]
  }

  async close(): Promise<void> {
    await this.settle()
    await this.catchUpReader()
    await this.reader.stop()
  }

  async openAgain(): Promise<void> {
    if (!this.reopen) return
    await this.close()
    this.#seenBefore = this.seen()
    this.storage = await this.reopen()
    this.tickets = []
    const last = this.#seenBefore.at(-1)?.revision ?? this.start
    this.reader = new WatchReader(this.storage, everything, Math.max(last, this.compacted))
  }
}

function showChange(
  key: string,
  revision: Revision,
  value: Uint8Array | undefined,
  previous: Version | undefined,
): string {
  const before = previous ? `${previous.value}@${revisionOf(previous)}` : 'nothing'
  return `${key}@${revision}: ${before} -> ${text(value) ?? 'nothing'}`
}

function show({ key, revision, value, previous }: Change): string {
  const before = previous ? `${text(previous.value)}@${previous.revision}` : 'nothing'
  return `${key}@${revision}: ${before} -> ${text(value) ?? 'nothing'}`
}

type Command = fc.AsyncCommand<object, World>

interface Intent {
  readonly key: (typeof keys)[number]
  /** `known`: whatever makes it true; `ticket`: as an earlier transaction left it; the others are mostly false. */
  readonly expect: 'known' | 'absent' | 'stale' | 'ticket'
  readonly pick: number
  /** undefined deletes; a guard has none. */
  readonly value: string | undefined
}

/** How the model sees an expectation, and whether it holds. */
function resolve({ key, expect: kind, pick }: Intent, world: World): { expect: Expect; holds: boolean } {
  const present = world.state.get(key)
  const followed = world.tickets.filter(({ transaction }) =>
    [...transaction.guards, ...transaction.writes].some((named) => named.key === key),
  )
  const ticket = followed[pick % Math.max(followed.length, 1)]
  if (kind === 'ticket' && ticket) {
    const left = ticket.after.get(key)
    const same = left?.by === present?.by && left?.position === present?.position
    return { expect: { asLeftBy: ticket.pending.ticket }, holds: ticket.lost.length === 0 && same }
  }
  if (kind === 'known' && present) {
    const expected = present.by.revision === undefined ? { asLeftBy: present.by.pending.ticket } : revisionOf(present)
    return { expect: expected, holds: true }
  }
  if (kind === 'stale') {
    const old = world.commits[pick % Math.max(world.commits.length, 1)]?.revision ?? 1
    return { expect: old, holds: present?.by.revision !== undefined && revisionOf(present) === old }
  }
  return { expect: 'absent', holds: present === undefined }
}

class Submit implements Command {
  readonly guards: readonly Intent[]
  readonly writes: readonly Intent[]

  constructor(guards: readonly Intent[], writes: readonly Intent[]) {
    this.guards = guards
    this.writes = writes
  }

  check(): boolean {
    return true
  }

  async run(_: object, world: World): Promise<void> {
    const lost: string[] = []
    const guards = this.guards.map((intent) => {
      const { expect: expected, holds } = resolve(intent, world)
      if (!holds) lost.push(intent.key)
      return { key: intent.key, expect: expected }
    })
    const writes = this.writes.map((intent) => {
      const { expect: expected, holds } = resolve(intent, world)
      // A delete that expects absence is not a transaction at all.
      const value = intent.value ?? (expected === 'absent' ? 'instead of a delete' : undefined)
      if (!holds || (value === undefined && !world.state.has(intent.key))) lost.push(intent.key)
      return { key: intent.key, expect: expected, value: value === undefined ? undefined : bytes(value) }
    })
    const after = new Map(world.state)
    world.submit({ guards, writes }, lost, after)
    if (lost.length > 0) return
    const by = world.tickets.at(-1)
    if (!by) throw new Error('nothing was submitted')
    for (const [position, { key, value }] of writes.entries()) {
      if (value === undefined) after.delete(key)
      else after.set(key, { by, position, value: text(value) ?? '' })
    }
    world.state = after
  }

  toString(): string {
    const tell = ({ key, expect: kind, pick, value }: Intent): string => `${key} ${kind}/${pick} ${value ?? '-'}`
    return `submit(${this.guards.map(tell).join(', ')} | ${this.writes.map(tell).join(', ')})`
  }
}

class Step implements Command {
  readonly name: string
  readonly act: (world: World) => Promise<void>

  constructor(name: string, act: (world: World) => Promise<void>) {
    this.name = name
    this.act = act
  }

  check(): boolean {
    return true
  }

  async run(_: object, world: World): Promise<void> {
    await world.settle()
    await this.act(world)
  }

  toString(): string {
    return this.name
  }
}

function readStep(pick: number, limit: number | undefined, start: string): Step {
  return new Step(`read(${pick}, ${limit}, ${start})`, async (world) => {
    const ends = world.ends()
    const at = ends[pick % ends.length] ?? 0
    const span = { start, end: everything.end }
    const options = { at, ...(limit === undefined ? {} : { limit }) }
    if (at < world.compacted) {
      await expect(world.storage.range(span, options)).rejects.toMatchObject({ code: 'compacted' })
      return
    }
    const want = [...world.stateAt(at)]
      .filter(([key]) => Buffer.compare(Buffer.from(key), Buffer.from(start)) >= 0)
      .sort((a, b) => Buffer.compare(Buffer.from(a[0]), Buffer.from(b[0])))
      .map(([key, version]) => `${key}=${version.value}@${revisionOf(version)}`)
    const { entries, more, revision } = await world.storage.range(span, options)
    expect(revision).toBe(at)
    expect(entries.map((e) => `${e.key}=${text(e.value)}@${e.revision}`)).toEqual(want.slice(0, limit))
    expect(more).toBe(want.length > (limit ?? want.length))
    for (const key of keys) {
      const { entry } = await world.storage.get(key, { at })
      expect(text(entry?.value)).toBe(world.stateAt(at).get(key)?.value)
    }
  })
}

function presentStep(): Step {
  return new Step('present', async (world) => {
    const { entries } = await world.storage.range(everything)
    const want = [...world.state].map(([key, v]) => `${key}=${v.value}@${revisionOf(v)}`).sort()
    expect(entries.map((e) => `${e.key}=${text(e.value)}@${e.revision}`).sort()).toEqual(want)
  })
}

function watchStep(pick: number, inside: number): Step {
  return new Step(`watch(${pick}, ${inside})`, async (world) => {
    const ends = world.ends()
    const end = ends[pick % ends.length] ?? 0
    // Sometimes from within a commit: after its first write.
    const after = inside === 0 ? end : Math.max(world.start, end - 1023)
    const reader = new WatchReader(world.storage, everything, after)
    try {
      const changes = await reader.until(await world.storage.currentRevision())
      expect(after).toBeGreaterThanOrEqual(world.compacted)
      expect(changes.map(show)).toEqual(world.changesAfter(after))
    } catch (error) {
      if (!isStorageError(error, 'compacted')) throw error
      expect(after).toBeLessThan(world.compacted)
    } finally {
      await reader.stop()
    }
  })
}

function compactStep(pick: number): Step {
  return new Step(`compact(${pick})`, async (world) => {
    const ends = world.ends()
    const before = ends[pick % ends.length] ?? 0
    // Else the long watch might rightly be told that it is too late.
    await world.catchUpReader()
    await world.storage.compact(before)
    world.compacted = Math.max(world.compacted, before)
    expect(await world.storage.compactedRevision()).toBe(world.compacted)
  })
}

function commands(): fc.Arbitrary<Iterable<Command>> {
  const key = fc.constantFrom(...keys)
  const intent = (value: fc.Arbitrary<string | undefined>): fc.Arbitrary<Intent> =>
    fc.record({
      key,
      expect: fc.oneof(
        { weight: 6, arbitrary: fc.constant('known' as const) },
        { weight: 3, arbitrary: fc.constant('ticket' as const) },
        fc.constantFrom('absent' as const, 'stale' as const),
      ),
      pick: fc.nat(50),
      value,
    })
  const guards = fc.array(intent(fc.constant(undefined)), { maxLength: 2 })
  const value = fc.oneof({ weight: 3, arbitrary: fc.string({ maxLength: 4 }) }, fc.constant(undefined))
  const writes = fc.uniqueArray(intent(value), { minLength: 1, maxLength: 3, selector: (i) => i.key })
  const submit = fc.tuple(guards, writes).map(([g, w]) => new Submit(g, w))
  const reopen = new Step('reopen', (world) => world.openAgain())
  const others: fc.Arbitrary<Command>[] = [
    fc
      .tuple(
        fc.nat(50),
        fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
        fc.constantFrom('/', '/b', '/b/c'),
      )
      .map(([pick, limit, start]) => readStep(pick, limit, start)),
    fc.constant(presentStep()),
    fc.tuple(fc.nat(50), fc.nat(1)).map(([pick, inside]) => watchStep(pick, inside)),
    fc.nat(50).map(compactStep),
    fc.constant(reopen),
    fc.constant(reopen),
  ]
  // Commands that submit are repeated in the list: each arbitrary is drawn equally often.
  return fc.commands([submit, submit, submit, submit, submit, submit, ...others], { maxCommands: 40 })
}

export function describeStorageModel(
  name: string,
  open: () => Promise<ModelOpened>,
  { runs, seed = 20261121 }: ModelOptions,
): void {
  describe(`storage model: ${name}`, () => {
    it('answers as the naive model does, whatever is done in whatever order', { timeout: 120_000 }, async () => {
      await fc.assert(
        fc.asyncProperty(commands(), async (sequence) => {
          const opened = await open()
          const start = await opened.storage.currentRevision()
          const world = new World(opened, start, await opened.storage.compactedRevision())
          try {
            await fc.asyncModelRun(() => ({ model: {}, real: world }), sequence)
            await world.close()
            expect(world.seen().map(show)).toEqual(world.changesAfter(start))
          } finally {
            await world.reader.stop()
            await world.storage[Symbol.asyncDispose]()
          }
        }),
        { numRuns: runs, seed },
      )
    })
  })
}
