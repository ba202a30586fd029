/**
 * The process as the simulated server sees it. What would differ from run to run is replaced: clocks, timers, random
 * numbers, keys, files, threads and the network. Globals are replaced here; built-in modules and gRPC are, for `src/`
 * alone, by the modules that `install` names. The server's code is the shipped one; nothing of it knows.
 */
import { registerHooks } from 'node:module'
import { Random } from '../../fuzz/random.ts'
import { Disk } from '../disk/disk.ts'
import type { Network } from '../etcd/network.ts'
import type { SimulatedKms } from '../kms/kms.ts'
import { Scheduler } from '../scheduler.ts'

/** Time begins here in every seed. */
export const epochMs: number = Date.UTC(2026, 0, 1)

const here = (file: string): string => new URL(file, import.meta.url).href
const sources = new URL('../../../src/', import.meta.url).href
const sqliteEngine = `${sources}storage/sqlite/`

/** For whom which module is another one. */
const replaced: readonly { readonly importer: string; readonly name: string; readonly by: string }[] = [
  { importer: sources, name: 'node:crypto', by: here('crypto.ts') },
  { importer: sources, name: 'node:timers/promises', by: here('timers-promises.ts') },
  { importer: `${sources}storage/etcd/`, name: './grpc-channel.ts', by: here('../etcd/grpc.ts') },
  { importer: `${sources}encryption/`, name: './kms-client.ts', by: here('../kms/client.ts') },
  { importer: `${sources}encryption/encryption.ts`, name: '../base/secret-file.ts', by: here('secret-file.ts') },
  { importer: sqliteEngine, name: 'node:fs', by: here('../disk/files.ts') },
  { importer: `${sources}base/inode.ts`, name: 'node:fs', by: here('../disk/files.ts') },
  { importer: sqliteEngine, name: 'node:sqlite', by: here('../disk/sqlite.ts') },
  { importer: sqliteEngine, name: 'node:worker_threads', by: here('../disk/worker-threads.ts') },
]

interface Thread {
  readonly port: unknown
  readonly data: unknown
}

/** What the modules that stand in for others find the world of the running seed by. */
export class SimulatedProcess {
  #scheduler = new Scheduler()
  #random = new Random(0)
  #network: Network | undefined

  get scheduler(): Scheduler {
    return this.#scheduler
  }

  /** For what the server itself draws. */
  get random(): Random {
    return this.#random
  }

  #disk = new Disk(new Random(0))
  readonly #threads = new Map<number, Thread>()
  readonly #timers = new Set<SimulatedTimer>()
  #threadCount = 0
  /** Open ones: memory of theirs is not the garbage collector's. */
  readonly databases: Set<{ close(): void }> = new Set()
  readonly directories: Set<string> = new Set()
  /** By their paths. */
  readonly secretFiles: Map<string, string> = new Map()
  #kms: SimulatedKms | undefined

  get disk(): Disk {
    return this.#disk
  }

  addThread(thread: Thread): number {
    this.#threads.set(++this.#threadCount, thread)
    return this.#threadCount
  }

  /** `url`: of a module that was loaded for one thread alone. */
  threadOf(url: string): Thread | undefined {
    const id = Number(new URL(url).searchParams.get('thread'))
    const thread = this.#threads.get(id)
    this.#threads.delete(id)
    return thread
  }

  addTimer(timer: SimulatedTimer): void {
    this.#timers.add(timer)
  }

  forgetTimer(timer: SimulatedTimer): void {
    this.#timers.delete(timer)
  }

  /** The process is gone: what it planned does not happen, what it had open is closed. */
  end(): void {
    for (const timer of this.#timers) timer.close()
    this.#timers.clear()
    for (const database of [...this.databases]) database.close()
  }

  get network(): Network {
    if (this.#network === undefined) throw new Error('this world has no network')
    return this.#network
  }

  set network(network: Network) {
    this.#network = network
  }

  get kms(): SimulatedKms {
    if (this.#kms === undefined) throw new Error('this world has no key management service')
    return this.#kms
  }

  set kms(kms: SimulatedKms) {
    this.#kms = kms
  }

  begin(scheduler: Scheduler, seed: number): void {
    this.#scheduler.end()
    this.end()
    this.#scheduler = scheduler
    this.#random = new Random(seed, 1)
    this.#disk = new Disk(new Random(seed, 8))
    this.directories.clear()
    this.secretFiles.clear()
    this.#kms = undefined
  }
}

/** One for the process, as what it replaces is. */
export const simulated: SimulatedProcess = new SimulatedProcess()

/** Before anything of `src/` is loaded. */
export function install(): void {
  registerHooks({
    resolve(specifier, context, next) {
      const { parentURL = '' } = context
      const found = replaced.find(({ importer, name }) => specifier === name && parentURL.startsWith(importer))
      if (found === undefined) return next(specifier, context)
      // A module of one thread has its own view of threads.
      const url = found.name === 'node:worker_threads' ? `${found.by}${new URL(parentURL).search}` : found.by
      return { url, shortCircuit: true }
    },
  })
  replaceTime()
  Math.random = () => simulated.random.next()
}

function replaceTime(): void {
  const now = (): number => epochMs + simulated.scheduler.now
  const RealDate = globalThis.Date
  class SimulatedDate extends RealDate {
    constructor(...parts: readonly unknown[]) {
      if (parts.length === 0) super(now())
      else super(...(parts as ConstructorParameters<typeof RealDate>))
    }
    static override now = (): number => Math.floor(now())
  }
  const timer = (ms: number, run: () => void): SimulatedTimer => new SimulatedTimer(ms, run)
  const cancel = (given: unknown): void => {
    if (given instanceof SimulatedTimer) given.close()
  }
  Object.assign(globalThis, {
    Date: SimulatedDate,
    setTimeout: (run: (...given: unknown[]) => void, ms = 0, ...given: unknown[]) => timer(ms, () => run(...given)),
    setImmediate: (run: (...given: unknown[]) => void, ...given: unknown[]) => timer(0, () => run(...given)),
    setInterval() {
      throw new Error('nothing in the server repeats by setInterval')
    },
    clearTimeout: cancel,
    clearImmediate: cancel,
  })
  performance.now = () => simulated.scheduler.now
  AbortSignal.timeout = (ms) => {
    const stop = new AbortController()
    timer(ms, () => stop.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')))
    return stop.signal
  }
}

/** As far as the server uses Node's. */
export class SimulatedTimer {
  readonly #timer: { cancel(): void }

  constructor(ms: number, run: () => void) {
    simulated.addTimer(this)
    this.#timer = simulated.scheduler.after(ms, () => {
      simulated.forgetTimer(this)
      run()
    })
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  close(): void {
    this.#timer.cancel()
    simulated.forgetTimer(this)
  }
}
