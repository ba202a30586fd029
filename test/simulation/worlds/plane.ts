/**
 * One machine with one store on its own disk, as `borough up` serves it: a whole control plane on the SQLite engine;
 * or, as with `--workers`, a process that holds the store, and two whole planes that reach it through the relay. They
 * start, are killed, stop, and lose their power together.
 */
import { defaultConfig } from '../../../src/app/config.ts'
import { type ControlPlane, createControlPlane } from '../../../src/app/control-plane.ts'
import type { Client } from '../../../src/client/client.ts'
import { Compactor } from '../../../src/storage/compactor.ts'
import { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.ts'
import { isStorageError, type Storage } from '../../../src/storage/storage.ts'
import { Random } from '../../fuzz/random.ts'
import { markOnDisk } from '../disk/mark.ts'
import { portTo } from '../disk/relay-ports.ts'
import type { Target } from '../load.ts'
import { SimulatedMachine } from '../machine.ts'
import { simulated } from '../runtime/simulated-process.ts'
import type { Scheduler } from '../scheduler.ts'
import { PlaneHistory, type Recovered } from './plane-history.ts'
import { GoneError, logOf } from './replicas.ts'

const directory = '/store'
const retryMs = 500

export interface PlaneOptions {
  readonly historyMs: number
  readonly hasWorkers: boolean
}

type Config = Parameters<typeof createControlPlane>[0]

/** What clients reach; in each life of the machine another process. */
class Place implements Target {
  readonly name: string
  readonly #whileAlive: <T>(work: Promise<T>) => Promise<T>
  plane: ControlPlane | undefined

  constructor(name: string, whileAlive: Place['ask']) {
    this.name = name
    this.#whileAlive = whileAlive
  }

  client(user?: Parameters<ControlPlane['client']>[0]): Client | undefined {
    return this.plane?.client(user)
  }

  ask<T>(work: Promise<T>): Promise<T> {
    return this.#whileAlive(work)
  }
}

export class PlaneWorld {
  readonly scheduler: Scheduler
  readonly history: PlaneHistory
  readonly problems: string[] = []
  readonly targets: readonly Place[]
  readonly #seed: number
  readonly #options: PlaneOptions
  #gone = Promise.withResolvers<never>()
  #life = new AbortController()
  #storage: Storage | undefined
  #compactor: Compactor | undefined
  #machines: SimulatedMachine[] = []
  #stopping: Promise<void> = Promise.resolve()
  #starts = 0
  #processes = 0
  /** Of all revisions that had been visible, the first that a lying disk has lost. */
  lostFrom: number | undefined
  /** The disk has answered flushes that it did not do. */
  hasLied = false
  /** Something may be refused that a sound disk would take. */
  mayFail = false

  constructor(scheduler: Scheduler, seed: number, options: PlaneOptions) {
    this.scheduler = scheduler
    this.#seed = seed
    this.#options = options
    this.history = new PlaneHistory(() => scheduler.now)
    this.#gone.promise.catch(() => undefined)
    const names = options.hasWorkers ? ['w1', 'w2'] : ['p']
    this.targets = names.map((name) => new Place(name, (work) => this.#unlessGone(work)))
  }

  get isServing(): boolean {
    return this.targets.every(({ plane }) => plane !== undefined)
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.scheduler.after(ms, resolve))
  }

  /** Tries until it serves, as a supervisor does. */
  async start(): Promise<void> {
    let start = ++this.#starts
    // Not before the process has ended.
    await this.#stopping
    while (!this.isServing && start === this.#starts && this.lostFrom === undefined) {
      try {
        await this.#unlessGone(this.#open())
        if (this.lostFrom === undefined) this.scheduler.tell('the plane serves')
      } catch (error) {
        if (error instanceof GoneError) return
        this.scheduler.tell(`the plane does not start: ${String(error)}`)
        if (!this.mayFail && !this.hasLied) this.problems.push(`the plane does not start: ${String(error)}`)
        this.#endProcess()
        simulated.disk.newGeneration()
        start = this.#starts
        await this.pause(retryMs)
      }
    }
  }

  /** As `kill -9`: what was written is there, flushed or not. */
  kill(): void {
    this.scheduler.tell('the plane is killed')
    this.#endProcess()
    simulated.disk.newGeneration()
  }

  /** In the middle of what the disk is told. */
  failPowerAfter(operations: number): void {
    simulated.disk.failPowerAfter(operations, () => this.#powerFailed())
  }

  /** Now; nothing, where it has failed already. */
  failPower(): void {
    if (this.#storage === undefined) return
    simulated.disk.failPowerAfter(1, () => this.#powerFailed())
    simulated.disk.failPower()
  }

  stop(): Promise<void> {
    this.#stopping = Promise.all([this.#stopping, this.#stop()]).then(() => undefined)
    return this.#stopping
  }

  async #stop(): Promise<void> {
    const planes = this.targets.flatMap(({ plane }) => plane ?? [])
    const storage = this.#storage
    const compactor = this.#compactor
    this.#starts++
    this.#life.abort()
    for (const target of this.targets) target.plane = undefined
    // One that has not come up ends as it is.
    if (planes.length < this.targets.length) return this.kill()
    this.scheduler.tell('the plane stops')
    const ending = (async () => {
      // The store last: of workers, the process that holds it closes it.
      for (const plane of planes) await plane[Symbol.asyncDispose]()
      await compactor?.[Symbol.asyncDispose]()
      await storage?.[Symbol.asyncDispose]()
    })()
    try {
      await this.#unlessGone(ending)
    } catch (error) {
      if (error instanceof GoneError) return
      this.scheduler.tell(`the stop: ${String(error)}`)
      if (!this.mayFail) this.problems.push(`the plane does not stop: ${String(error)}`)
    }
    this.scheduler.tell('the plane has stopped')
    this.#endProcess()
    simulated.disk.newGeneration()
  }

  jumpClock(ms: number): void {
    for (const { clock } of this.#machines) clock.jump(ms)
  }

  /** Called from within a call of SQLite's: what is open is closed after it. */
  #powerFailed(): void {
    this.scheduler.tell('the power fails')
    this.#endSoon()
    this.scheduler.after(0, () => simulated.end())
  }

  #endProcess(): void {
    this.#endSoon()
    simulated.end()
  }

  #endSoon(): void {
    this.#starts++
    this.#life.abort()
    for (const target of this.targets) target.plane = undefined
    for (const machine of this.#machines) machine.isAlive = false
    this.#machines = []
    this.#storage = undefined
    this.#compactor = undefined
    const gone = this.#gone
    this.#gone = Promise.withResolvers<never>()
    this.#gone.promise.catch(() => undefined)
    gone.reject(new GoneError('the process is gone'))
  }

  async #open(): Promise<void> {
    this.#life = new AbortController()
    const { signal } = this.#life
    const primary = this.#machine('p')
    const storage = await this.#openStore(primary)
    if (storage === undefined) return
    this.#storage = storage
    const recovered = await this.#recover(storage)
    if (recovered === undefined) return
    const { head, problems, lost } = recovered
    this.problems.push(...problems)
    if (lost.length > 0) return this.#judgeLoss(lost, head)
    void this.history.follow(storage, head, signal, (problem) => {
      // A disk that can't be read ends watches too.
      if (!this.mayFail) this.problems.push(problem)
    })
    for (const place of this.targets) {
      const plane = await (this.#options.hasWorkers ? this.#worker(place, storage) : this.#alone(primary, storage))
      if (signal.aborted) return
      place.plane = plane
    }
    if (!this.#options.hasWorkers) return
    this.#compactor = this.#compactorOf(storage, primary)
    this.#compactor.start()
  }

  #alone(machine: SimulatedMachine, storage: Storage): Promise<ControlPlane> {
    return createControlPlane(this.#config(machine), { opened: Promise.resolve(storage) })
  }

  #worker({ name }: Place, storage: Storage): Promise<ControlPlane> {
    const choice = { engine: 'relay', port: portTo(storage) } as const
    const workerSlot = this.targets.findIndex((each) => each.name === name) + 1
    return createControlPlane({ ...this.#config(this.#machine(name)), storage: choice, workerSlot })
  }

  /** As the process that holds the store has one. */
  #compactorOf(storage: SqliteStorage, { clock }: SimulatedMachine): Compactor {
    const windowMs = this.#options.historyMs
    const onError = (error: unknown): void => this.scheduler.tell(`history is not compacted: ${String(error)}`)
    return new Compactor({ storage, clock, windowMs, windowBytes: defaultConfig.history.bytes, onError })
  }

  /** undefined: it is told that parts are missing, and nothing more is to be tried. */
  async #recover(storage: Storage): Promise<Recovered | undefined> {
    try {
      return await this.history.recover(storage)
    } catch (error) {
      if (!isStorageError(error, 'corrupt') || !this.hasLied) throw error
      this.scheduler.tell(`it can't be read: ${error.message}`)
      this.lostFrom = 0
      return undefined
    }
  }

  /** undefined: it is lost what the mark tells of, and nothing more is to be tried. */
  async #openStore({ clock }: SimulatedMachine): Promise<SqliteStorage | undefined> {
    const options = { directory, clock, reserveBytes: 64 * 1024 }
    try {
      return await SqliteStorage.open(options)
    } catch (error) {
      if (!isStorageError(error, 'corrupt') || !this.hasLied) throw error
      this.scheduler.tell(`it does not open: ${error.message}`)
      this.lostFrom = 0
      if (!error.message.includes('--accept-loss')) return undefined
      const mark = markOnDisk(simulated.disk, `${directory}/acknowledged`)
      const opened = await SqliteStorage.open({ ...options, acceptLoss: true })
      const head = await opened.currentRevision()
      if (head < mark) this.problems.push(`${head} begins before ${mark}, which was given out`)
      await opened[Symbol.asyncDispose]()
      return undefined
    }
  }

  /** Only a disk that lied may lose, only the end, and only what nothing on it tells of. */
  #judgeLoss(lost: readonly number[], head: number): void {
    const first = lost[0] as number
    this.lostFrom = first
    if (!this.hasLied) this.problems.push(`${lost.length} changes from ${first} on were visible, and are lost`)
    const mark = markOnDisk(simulated.disk, `${directory}/acknowledged`)
    if (Math.floor(mark / 1024) > Math.floor(head / 1024)) {
      this.problems.push(`${first} is lost without a word, and the mark says ${mark}`)
    }
    if (head >= this.history.newest) this.problems.push(`${first} is lost from the midst: the store goes up to ${head}`)
  }

  #machine(name: string): SimulatedMachine {
    const number = ++this.#processes
    const machine = new SimulatedMachine(`${name}${number}`, this.scheduler, new Random(this.#seed, 3, number))
    this.#machines.push(machine)
    return machine
  }

  #config({ name, clock, ids }: SimulatedMachine): Config {
    return {
      ...defaultConfig,
      storage: { engine: 'sqlite' },
      history: { ...defaultConfig.history, ageMs: this.#options.historyMs },
      clock,
      ids,
      log: logOf(name, this.scheduler),
    }
  }

  #unlessGone<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#gone.promise])
  }
}
