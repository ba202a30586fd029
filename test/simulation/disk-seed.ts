/** One seed of the SQLite engine on a simulated disk: commits, power failures, and what is left of the commits. */
import { damageOf } from '../../src/storage/damaged-value.ts'
import { RelayStorage } from '../../src/storage/relay/relay-storage.ts'
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts'
import {
  type Commit,
  type Entry,
  endOfCommit,
  isStorageError,
  type PendingCommit,
  prefixSpan,
  type Revision,
  type Storage,
  StorageError,
  type Transaction,
} from '../../src/storage/storage.ts'
import { Random } from '../fuzz/random.ts'
import { Ledger, textOf, type Version, versionOf } from './disk/ledger.ts'
import { drawLives, type Life, type Trouble } from './disk/lives.ts'
import { markOnDisk } from './disk/mark.ts'
import { portTo } from './disk/relay-ports.ts'
import { SimulatedMachine } from './machine.ts'
import { simulated } from './runtime/simulated-process.ts'
import { Scheduler } from './scheduler.ts'
import type { Outcome, SeedOptions } from './seed.ts'

const directory = '/store'
const keys = 6
const writers = 3
const lifeMs = 400
const patienceMs = 60_000
const reserveBytes: number = 256 * 1024
const roomBytes = 2_500_000
/** After which a store has its reserve, and has seen that there is room again. */
const reserveMs = 3000
const span = prefixSpan('/k/')

/** `isAimed`: a server that stops has deleted something last, and made history begin after it. */
export async function runDiskSeed(
  { seed, without = [], keepsTrace = false }: SeedOptions,
  isAimed: boolean,
): Promise<Outcome> {
  const scheduler = new Scheduler({ keepsTrace })
  simulated.begin(scheduler, seed)
  const all = drawLives(new Random(seed, 5))
  const run = new DiskRun(scheduler, new Random(seed, 4), isAimed)
  const lives = all.filter((_, i) => !without.includes(i))
  const broken = await run.play(lives).then(
    () => [],
    (error: unknown) => [`the run broke off: ${error instanceof Error ? error.stack : String(error)}`],
  )
  scheduler.end()
  return {
    seed,
    hash: scheduler.traceHash(),
    trace: scheduler.trace,
    steps: scheduler.steps,
    operations: run.commits,
    faults: all.map(({ text }) => text),
    without,
    problems: [...broken, ...run.problems],
  }
}

interface Recovered {
  readonly found: ReadonlyMap<Revision, Version>
  readonly entries: readonly Entry[]
  readonly head: Revision
  readonly compacted: Revision
}

/** As `damageNote` has it; its first byte is no UTF-8. */
const isNote = ({ text }: Version): boolean => text?.startsWith('\ufffdborough: damaged value: ') === true

/** Of the past, and of the present: where a loss was accepted there is no past. */
function* versionsIn({ found, entries }: Recovered): Generator<readonly [Revision, Version]> {
  yield* found
  for (const entry of entries) yield [entry.revision, { key: entry.key, text: textOf(entry) }]
}

class DiskRun {
  readonly problems: string[] = []
  commits = 0
  readonly #scheduler: Scheduler
  readonly #random: Random
  readonly #isAimed: boolean
  readonly #ledger = new Ledger()
  #hasLied = false
  /** Of what a disk lied about once, parts may be missing that only writes come by, lives later. */
  #mayBeDamaged = false
  /** The last life ended without a failure of power. */
  #hasStopped = false
  #mayFail = false
  #fills = false
  #processes = 0

  constructor(scheduler: Scheduler, random: Random, isAimed: boolean) {
    this.#isAimed = isAimed
    this.#scheduler = scheduler
    this.#random = random
  }

  async play(lives: readonly Life[]): Promise<void> {
    const lastly: Life = { trouble: 'none', operations: undefined, text: 'the last life' }
    for (const life of [...lives, lastly]) {
      this.#scheduler.tell(life.text)
      const lived = await this.#scheduler.until(this.#live(life), { what: life.text, withinMs: patienceMs })
      if (lived === 'unusable' || this.problems.length > 0) return
    }
  }

  async #live({ trouble, operations }: Life): Promise<'lived' | 'unusable'> {
    const { disk } = simulated
    if (trouble === 'decays') await this.#readDecayed()
    const storage = await this.#open()
    if (storage === undefined) return 'unusable'
    const recovered = await this.#recovered(storage).catch((error: unknown) => {
      // Of what a disk lied about, parts may be there. That must be said, and then nothing can be asked of it.
      if (!this.#mayBeDamaged || !isStorageError(error, 'corrupt')) throw error
      this.#scheduler.tell(`it can't be read: ${error.message}`)
    })
    if (recovered === undefined) return 'unusable'
    if (this.#mayBeDamaged && [...versionsIn(recovered)].some(([, version]) => isNote(version))) {
      return this.#checkNamed(recovered)
    }
    this.#checkRecovered(recovered)
    if (this.problems.length > 0) return 'lived'
    const life = new AbortController()
    const dead = new Promise<'dead'>((resolve) => {
      if (operations !== undefined) disk.failPowerAfter(operations, () => resolve('dead'))
    })
    disk.lies = trouble === 'lies'
    // What was not flushed then is still not where the server has only stopped.
    this.#hasLied = disk.lies || (this.#hasLied && this.#hasStopped)
    this.#mayBeDamaged ||= disk.lies
    this.#mayFail = trouble === 'failing write' || trouble === 'failing flush' || trouble === 'full'
    // It is filled by the store alone, or by others in one blow before a failure of power.
    if (trouble === 'full' && operations === undefined) disk.capacity = disk.usedBytes + roomBytes
    // A store that has just been opened has no reserve yet.
    if (trouble === 'full') await Promise.race([dead, this.#pause(reserveMs)])
    this.#fills = trouble === 'full'
    const troubling = this.#trouble(trouble)
    const over = this.#pause(lifeMs)
    // Other processes of the machine use the same store through the one that holds it.
    const relayed = this.#random.chance(0.4) ? new RelayStorage(portTo(storage)) : storage
    for (const followed of new Set([storage, relayed])) void this.#follow(followed, life.signal)
    const writing = Array.from({ length: writers }, (_, i) => this.#write(i === 0 ? storage : relayed, life.signal))
    const how = await Promise.race([dead, over])
    if (how !== 'dead' && operations !== undefined) disk.failPower()
    life.abort()
    troubling.cancel()
    this.#hasStopped = how !== 'dead' && operations === undefined
    if (this.#hasStopped) {
      await Promise.all(writing)
      if (trouble === 'full') await this.#emptyFull(storage)
      if (this.#isAimed) await this.#deleteLast(storage)
      // What was not flushed where a flush failed is not believed; that it is told is tried elsewhere.
      await this.#close(storage)
      this.#scheduler.tell('a clean stop')
    }
    if (operations !== undefined) this.#scheduler.tell('the power fails')
    disk.lies = false
    disk.failing = 'no'
    disk.capacity = Number.POSITIVE_INFINITY
    simulated.end()
    return 'lived'
  }

  async #close(storage: Storage): Promise<void> {
    try {
      await storage[Symbol.asyncDispose]()
    } catch (error) {
      this.#expectFault(error)
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#scheduler.after(ms, resolve))
  }

  #trouble(trouble: Trouble): { cancel(): void } {
    const { disk } = simulated
    return this.#scheduler.after(lifeMs * 0.7 * this.#random.next(), () => {
      if (trouble === 'failing write') disk.failing = 'write'
      if (trouble === 'failing flush') disk.failing = 'flush'
      if (trouble === 'full' && !Number.isFinite(disk.capacity)) disk.capacity = disk.usedBytes + 8_000
    })
  }

  /** undefined: it says what is wrong with it, and can't be used. */
  async #open(): Promise<Storage | undefined> {
    const mark = markOnDisk(simulated.disk, `${directory}/acknowledged`)
    const options = this.#options()
    const opened = await this.#tryOpen(options)
    if (!(opened instanceof StorageError)) return opened
    if (!this.#mayBeDamaged) this.problems.push(`no power is no damage, and yet: ${opened.message}`)
    if (!opened.message.includes('--accept-loss')) return undefined
    const accepted = await this.#tryOpen({ ...options, acceptLoss: true })
    // What is left may be damaged besides.
    if (accepted instanceof StorageError) return undefined
    const recovered = await this.#recovered(accepted)
    if (recovered.head < mark) this.problems.push(`${recovered.head} begins before ${mark}, which was given out`)
    this.#ledger.forget(this.#lost(recovered, 0))
    return accepted
  }

  async #tryOpen(options: Parameters<typeof SqliteStorage.open>[0]): Promise<Storage | StorageError> {
    try {
      return await SqliteStorage.open(options)
    } catch (error) {
      simulated.end()
      if (!isStorageError(error, 'corrupt')) throw error
      this.#scheduler.tell(`it does not open: ${error.message}`)
      return error
    }
  }

  #options(): Parameters<typeof SqliteStorage.open>[0] {
    const machine = new SimulatedMachine(`d${this.#processes}`, this.#scheduler, new Random(this.#processes++))
    return { directory, clock: machine.clock, reserveBytes }
  }

  async #recovered(storage: Storage): Promise<Recovered> {
    const compacted = await storage.compactedRevision()
    const head = await storage.currentRevision()
    if (head < compacted) throw new Error(`the store ends at ${head}, and its history begins at ${compacted}`)
    const found = new Map<Revision, Version>()
    const stop = new AbortController()
    for await (const batch of storage.watch(span, compacted, stop.signal)) {
      if (batch.type === 'changes') for (const change of batch.changes) found.set(change.revision, versionOf(change))
      else if (batch.revision >= head) break
    }
    stop.abort()
    const { entries } = await storage.range(span)
    this.#scheduler.tell(`recovered ${found.size} changes of ${compacted} to ${head}`)
    return { found, entries, head, compacted }
  }

  /** Of what a disk lied about, values may be there in part: each is named, and all else is what it was. */
  #checkNamed(recovered: Recovered): 'unusable' {
    for (const [revision, version] of versionsIn(recovered)) {
      if (!isNote(version)) this.problems.push(...this.#ledger.see(revision, version))
    }
    this.#scheduler.tell('what the disk lied about is damaged, and named')
    return 'unusable'
  }

  #checkRecovered(recovered: Recovered): void {
    const { found, entries, head } = recovered
    this.problems.push(...this.#ledger.problems(found))
    const lost = this.#lost(recovered, recovered.compacted)
    if (lost.length > 0) this.#checkLoss(lost, found, head)
    this.#ledger.forget(lost)
    if (endOfCommit(head) < this.#ledger.newest)
      this.problems.push(`the store begins at ${head}, and ${this.#ledger.newest} was visible`)
    for (const [revision, version] of found) this.problems.push(...this.#ledger.see(revision, version))
    this.problems.push(...this.#stateProblems(entries, false))
  }

  /** Of what was visible. `compacted`: history up to here is only what is left of it. */
  #lost({ found, entries, head }: Recovered, compacted: Revision): Revision[] {
    const there = new Map<Revision, Version>(found)
    for (const entry of entries) there.set(entry.revision, { key: entry.key, text: textOf(entry) })
    return this.#ledger.missing(there, Math.min(compacted, head))
  }

  /** Only a disk that lied may lose, only the end, and only what nothing on it tells of. */
  #checkLoss(lost: readonly Revision[], found: ReadonlyMap<Revision, Version>, head: Revision): void {
    const first = lost[0] as Revision
    if (!this.#hasLied)
      this.problems.push(`${lost.length} changes from ${first} on were acknowledged or seen, and are lost`)
    const kept = [...found.keys()].filter((revision) => revision > first)
    if (kept.length > 0) this.problems.push(`${first} is lost, and ${kept.join()} behind it are there`)
    const mark = markOnDisk(simulated.disk, `${directory}/acknowledged`)
    if (endOfCommit(mark) > head) this.problems.push(`${first} is lost without a word, and the mark says ${mark}`)
  }

  #stateProblems(entries: readonly Entry[], mayBeDamaged: boolean): string[] {
    const want = this.#ledger.state()
    const got = new Map(entries.map((entry) => [entry.key, entry]))
    const differing = new Set([...want.keys(), ...got.keys()])
    return [...differing].flatMap((key) => {
      const [is, should] = [got.get(key), want.get(key)]
      if (is !== undefined && mayBeDamaged && damageOf(is.value) !== undefined) return []
      if (is?.revision === should?.revision && (is && textOf(is)) === should?.text) return []
      return [`${key} is at ${is?.revision}, and should be at ${should?.revision}`]
    })
  }

  /** A copy of the disk decays, and is read: everything it answers is right, or said to be damaged. */
  async #readDecayed(): Promise<void> {
    const { disk } = simulated
    const image = disk.image()
    // First as it is, to know what is on it: more may be there than was acknowledged.
    const sound = await this.#open()
    if (sound === undefined) return
    this.#checkRecovered(await this.#recovered(sound))
    this.#putBack(image)
    const paths = disk.paths.filter((path) => disk.get(path).length > 0)
    if (paths.length === 0) return
    for (let flips = 1 + this.#random.below(3); flips > 0; flips--) {
      const path = this.#random.pick(paths)
      const bit = this.#random.below(disk.get(path).length * 8)
      disk.get(path).flip(bit)
      this.#scheduler.tell(`bit ${bit} of ${path} flips`)
    }
    this.#mayFail = true
    try {
      const storage = await SqliteStorage.open(this.#options())
      const { head } = { head: await storage.currentRevision() }
      const { entries } = await storage.range(span)
      const mark = markOnDisk(disk, `${directory}/acknowledged`)
      // What no mark tells of may be lost from the end of the log: docs/adr/0048.
      if (mark >= this.#ledger.newest || endOfCommit(head) >= this.#ledger.newest) {
        this.problems.push(...this.#stateProblems(entries, true))
      }
    } catch (error) {
      this.#expectFault(error)
    }
    this.#putBack(image)
  }

  #putBack(image: ReturnType<typeof simulated.disk.image>): void {
    simulated.end()
    simulated.disk.newGeneration()
    simulated.disk.restore(image)
  }

  #expectFault(error: unknown): void {
    if (!(error instanceof StorageError)) throw error
    this.#scheduler.tell(`it says ${error.code}: ${error.message}`)
    const isNamed = this.#mayBeDamaged && error.message.includes('state.db is damaged')
    if (!this.#mayFail && !isNamed)
      this.problems.push(`nothing is wrong with the disk, and it says ${error.code}: ${error.message}`)
  }

  /** One writer: reads, and writes one to three keys as if what it read still held. */
  async #write(storage: Storage, signal: AbortSignal): Promise<void> {
    const random = this.#random
    while (!signal.aborted) {
      await this.#pause(12 * random.next())
      if (random.chance(0.03)) await this.#compact(storage)
      const chosen = [...new Set(random.some(2, () => this.#key()).concat(this.#key()))]
      const found = await Promise.all(chosen.map((key) => storage.get(key).catch(() => undefined)))
      if (signal.aborted || found.includes(undefined)) continue
      const { writes } = this.#ledger.attempt(
        chosen.map((key, i) => {
          const deletes = found[i]?.entry !== undefined && random.chance(0.3)
          return { key, sizeBytes: deletes ? undefined : this.#size() }
        }),
      )
      const transaction: Transaction = {
        guards: [],
        writes: writes.map(({ key, text }, i) => ({
          key,
          value: text === undefined ? undefined : Buffer.from(text),
          expect: found[i]?.entry?.revision ?? 'absent',
        })),
      }
      const pending = this.#commit(storage, writes, transaction)
      if (random.chance(0.3)) this.#followUp(storage, pending, chosen[0] as string)
      await pending.settled
    }
  }

  #key(): string {
    return `/k/${this.#random.below(keys)}`
  }

  /** Mostly small; some take several pages. A disk that will be full is filled. */
  #size(): number {
    if (this.#fills) return this.#random.below(60_000)
    return this.#random.chance(0.15) ? this.#random.below(9_000) : this.#random.below(200)
  }

  #commit(
    storage: Storage,
    writes: readonly Version[],
    transaction: Transaction,
  ): PendingCommit & { readonly settled: Promise<void> } {
    const pending = storage.commit(transaction)
    this.commits++
    const settled = pending.done.then(
      (commit: Commit) => {
        if (!commit.ok) return
        this.#scheduler.tell(`acknowledged ${commit.revision}: ${writes.map(({ key }) => key).join()}`)
        this.problems.push(...this.#ledger.acknowledge({ writes }, commit.revision))
      },
      (error: unknown) => this.#expectFault(error),
    )
    return { ...pending, settled }
  }

  /** Another one that stands on a transaction whose outcome is not known yet. */
  #followUp(storage: Storage, { ticket }: PendingCommit, key: string): void {
    const { writes } = this.#ledger.attempt([{ key, sizeBytes: this.#size() }])
    const value = Buffer.from(writes[0]?.text ?? '')
    const follower = { guards: [], writes: [{ key, value, expect: { asLeftBy: ticket } }] }
    void this.#commit(storage, writes, follower)
  }

  async #compact(storage: Storage): Promise<void> {
    try {
      await storage.compact(await storage.currentRevision())
    } catch (error) {
      this.#expectFault(error)
    }
  }

  /** A store that is full, and is emptied by its clients, takes everything again, although the disk gained nothing. */
  async #emptyFull(storage: Storage): Promise<void> {
    const { disk } = simulated
    if (storage.condition?.()?.writes !== 'small') return
    this.#scheduler.tell('it is full, and is emptied')
    const { entries } = await storage.range(span)
    for (const { key, revision } of entries) {
      const { writes } = this.#ledger.attempt([{ key, sizeBytes: undefined }])
      const transaction = { guards: [], writes: [{ key, value: undefined, expect: revision }] }
      await this.#commit(storage, writes, transaction).settled
    }
    await this.#compact(storage)
    await this.#pause(reserveMs)
    const left = (await storage.range(span)).entries.length
    const { writes: takes = 'none', freeBytes = 0 } = storage.condition?.() ?? {}
    const room = `${freeBytes} bytes are free, ${disk.freeBytes} of them outside`
    const told = `${left} keys are left, ${room}: it takes ${takes}`
    this.#scheduler.tell(told)
    if (left > 0 || (takes !== 'all' && freeBytes >= 2 * reserveBytes)) this.problems.push(`emptied: ${told}`)
    if (takes !== 'all') return
    const { writes } = this.#ledger.attempt([{ key: '/k/0', sizeBytes: 9000 }])
    const value = Buffer.from(writes[0]?.text ?? '')
    await this.#commit(storage, writes, { guards: [], writes: [{ key: '/k/0', value, expect: 'absent' }] }).settled
    if ((await storage.get('/k/0')).entry === undefined) this.problems.push('an emptied store takes nothing')
  }

  async #deleteLast(storage: Storage): Promise<void> {
    const { entries } = await storage.range(span)
    const last = entries.at(-1)
    if (last !== undefined) {
      const { writes } = this.#ledger.attempt([{ key: last.key, sizeBytes: undefined }])
      const transaction = { guards: [], writes: [{ key: last.key, value: undefined, expect: last.revision }] }
      await this.#commit(storage, writes, transaction).settled
    }
    await this.#compact(storage)
  }

  /** What a watch shows is durable: it must be there in the next life. */
  async #follow(storage: Storage, signal: AbortSignal): Promise<void> {
    let last = await storage.currentRevision()
    try {
      for await (const batch of storage.watch(span, last, signal)) {
        if (batch.type !== 'changes') continue
        for (const change of batch.changes) {
          if (change.revision <= last) this.problems.push(`a watch shows ${change.revision} after ${last}`)
          last = change.revision
          this.problems.push(...this.#ledger.see(last, versionOf(change)))
        }
      }
    } catch (error) {
      // One that is behind what was compacted is told so, and begins anew.
      const isBehind = isStorageError(error, 'compacted') && (await storage.compactedRevision()) > last
      if (isBehind) return this.#follow(storage, signal)
      this.#expectFault(error)
    }
  }
}
