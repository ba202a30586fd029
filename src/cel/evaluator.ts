/**
 * Evaluates here what is cheap, and on another thread what is not: an evaluation begins here, within an allowance
 * (`budget.ts`), and where that is used up it is given up and done again by a thread of its own, from the beginning.
 * The verdict is the same. Most evaluations cost microseconds: for those a copy of the object would cost more.
 *
 * Threads are started when they are needed and end when they have been idle. What waits for one is taken flow by flow:
 * a user with many costly evaluations does not keep others from theirs. How much may wait is bounded by the seats that
 * requests hold meanwhile.
 */
import { availableParallelism } from 'node:os'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { Clock, Timer } from '../base/clock.ts'
import type { Eventual } from '../base/eventual.ts'
import { sliceMs, Turns } from '../base/turns.ts'
import { parseJson } from '../kube/strict-json.ts'
import type { JsonValue } from '../kube/types.ts'
import { Allowance, AllowanceExceeded } from './budget.ts'
import type { EvaluationName, Evaluations } from './evaluations.ts'
import type { AskPermission } from './library/authorizer.ts'
import type { EvaluationRequest, ThreadData, ThreadMessage } from './thread-messages.ts'

const maxThreads = 2
const idleMs = 30_000
/** Sources that a thread remembers. */
const maxSources = 100
/** What a thread may take: one evaluation holds its object, and what its expressions make. */
const maxHeapMiB = 128

export interface Costly<N extends EvaluationName> {
  readonly name: N
  readonly source: Evaluations[N]['source']
  /** What it is put to; asked for only if it must go elsewhere. */
  input(): Evaluations[N]['input']
  /** Of whom the request is that it is done for. */
  readonly flow: string
  readonly ask?: AskPermission
  /** @throws AllowanceExceeded */
  here(allowance: Allowance): Evaluations[N]['result']
}

export interface EvaluatorOptions {
  readonly clock: Clock
  readonly turns?: Turns
  /** At once. */
  readonly threads?: number
}

interface Waiting {
  readonly work: Costly<EvaluationName>
  readonly sourceId: number
  readonly members: EvaluationRequest['members']
  readonly resolve: (result: never) => void
  readonly reject: (error: unknown) => void
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const noPermission: AskPermission = () => ({ allowed: false, reason: '' })

export class Evaluator implements Disposable {
  /** How many evaluations went to another thread. */
  readonly offloaded: ReadonlyMap<EvaluationName, number>
  readonly #options: Required<EvaluatorOptions>
  readonly #counts = new Map<EvaluationName, number>()
  readonly #threads = new Set<EvaluationThread>()
  readonly #waiting = new Map<string, Waiting[]>()
  readonly #ids = new WeakMap<object, number>()
  #lastId = 0
  #isClosed = false
  /** In this turn of the loop. */
  #spentMs = 0

  constructor({
    clock,
    turns = new Turns(),
    threads = Math.min(maxThreads, availableParallelism()),
  }: EvaluatorOptions) {
    this.#options = { clock, turns, threads }
    this.offloaded = this.#counts
  }

  run<N extends EvaluationName>(work: Costly<N>): Eventual<Evaluations[N]['result']> {
    const { clock, turns } = this.#options
    const began = clock.monotonic()
    try {
      const result = work.here(new Allowance())
      return this.#isUsedUp(clock.monotonic() - began) ? turns.next().then(() => result) : result
    } catch (error) {
      if (!(error instanceof AllowanceExceeded)) throw error
      return this.#elsewhere(work)
    }
  }

  /** Policies may have thousands of expressions: those of one turn of the loop count together, of all requests. */
  #isUsedUp(tookMs: number): boolean {
    if (this.#spentMs === 0 && tookMs > 0) {
      setImmediate(() => {
        this.#spentMs = 0
      })
    }
    this.#spentMs += tookMs
    return this.#spentMs >= sliceMs
  }

  [Symbol.dispose](): void {
    this.#isClosed = true
    for (const thread of this.#threads) thread.end()
    for (const queue of this.#waiting.values()) for (const { reject } of queue) reject(closed())
    this.#waiting.clear()
  }

  async #elsewhere<N extends EvaluationName>(work: Costly<N>): Promise<Evaluations[N]['result']> {
    this.#counts.set(work.name, (this.#counts.get(work.name) ?? 0) + 1)
    const members: [string, string][] = []
    for (const [name, value] of Object.entries(work.input())) {
      // Each may be as large as a body.
      await turn()
      if (value !== undefined) members.push([name, JSON.stringify(value)])
    }
    if (this.#isClosed) throw closed()
    return new Promise((resolve, reject) => {
      const waiting = { work: work as never, sourceId: this.#idOf(work.source), members, resolve, reject }
      const queue = this.#waiting.get(work.flow)
      if (queue === undefined) this.#waiting.set(work.flow, [waiting])
      else queue.push(waiting)
      this.#assign()
    })
  }

  #idOf(source: object): number {
    let id = this.#ids.get(source)
    if (id === undefined) this.#ids.set(source, (id = ++this.#lastId))
    return id
  }

  #assign(): void {
    while (this.#waiting.size > 0) {
      const thread = this.#idleThread()
      const next = thread && this.#next()
      if (next === undefined) return
      thread?.evaluate(next)
    }
  }

  #idleThread(): EvaluationThread | undefined {
    for (const thread of this.#threads) if (thread.isIdle) return thread
    if (this.#threads.size >= this.#options.threads) return undefined
    const thread = new EvaluationThread({
      clock: this.#options.clock,
      idle: () => this.#assign(),
      ended: () => {
        this.#threads.delete(thread)
        if (!this.#isClosed) this.#assign()
      },
    })
    this.#threads.add(thread)
    return thread
  }

  /** Of the flow that has waited for longest since its last turn. */
  #next(): Waiting | undefined {
    for (const [flow, queue] of this.#waiting) {
      const next = queue.shift()
      this.#waiting.delete(flow)
      if (queue.length > 0) this.#waiting.set(flow, queue)
      return next
    }
    return undefined
  }
}

const closed = (): Error => new Error('the server stops: the evaluation is given up')

interface ThreadOptions {
  readonly clock: Clock
  /** It may be given the next. */
  idle(): void
  ended(): void
}

class EvaluationThread {
  readonly #worker: Worker
  readonly #decisions: MessagePort
  readonly #flag: Int32Array
  readonly #idle: () => void
  readonly #known = new Set<number>()
  #current: Waiting | undefined
  readonly #clock: Clock
  #timer: Timer | undefined

  constructor({ clock, idle, ended }: ThreadOptions) {
    this.#clock = clock
    this.#idle = idle
    const { port1, port2 } = new MessageChannel()
    this.#decisions = port1
    const signal = new SharedArrayBuffer(4)
    this.#flag = new Int32Array(signal)
    const workerData: ThreadData = { decisions: port2, signal }
    // The same file runs as TypeScript from the sources and as JavaScript from the build.
    const file = new URL(`./thread${extname(fileURLToPath(import.meta.url))}`, import.meta.url)
    this.#worker = new Worker(file, {
      workerData,
      transferList: [port2],
      name: 'cel',
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMiB },
    })
    this.#worker.unref()
    port1.unref()
    this.#worker.on('message', (message: ThreadMessage) => this.#heard(message))
    // Why it ends comes before that it has.
    this.#worker.on('error', (error) => this.#take()?.reject(error))
    this.#worker.on('exit', () => {
      this.#timer?.cancel()
      port1.close()
      this.#take()?.reject(closed())
      ended()
    })
  }

  get isIdle(): boolean {
    return this.#current === undefined
  }

  evaluate(waiting: Waiting): void {
    const { work, sourceId, members } = waiting
    this.#timer?.cancel()
    this.#current = waiting
    this.#worker.ref()
    const forgets = this.#known.size >= maxSources && !this.#known.has(sourceId)
    if (forgets) this.#known.clear()
    const isNew = !this.#known.has(sourceId)
    this.#known.add(sourceId)
    const source = isNew ? { source: work.source } : {}
    const request: EvaluationRequest = { name: work.name, sourceId, ...source, members, forgets }
    this.#worker.postMessage(request)
  }

  end(): void {
    void this.#worker.terminate()
  }

  #heard(message: ThreadMessage): void {
    if ('asks' in message) return this.#decide(message.asks)
    const { resolve, reject } = this.#take() ?? {}
    if ('failure' in message) reject?.(new Error(`an evaluation failed: ${message.failure}`))
    else resolve?.(parseJson(message.result).value as unknown as never)
    this.#worker.unref()
    this.#timer = this.#clock.after(idleMs, () => this.end())
    this.#idle()
  }

  #decide({ user, verb, what }: Extract<ThreadMessage, { asks: unknown }>['asks']): void {
    const { ask = noPermission } = this.#current?.work ?? {}
    this.#decisions.postMessage(ask(user, verb, what))
    Atomics.store(this.#flag, 0, 1)
    Atomics.notify(this.#flag, 0)
  }

  #take(): Waiting | undefined {
    const current = this.#current
    this.#current = undefined
    return current
  }
}

/** Facts without what another thread can't be sent, and without the objects that they name twice. */
export function plainFacts<F extends { readonly ask: AskPermission; readonly request: Record<string, JsonValue> }>({
  ask: _,
  ...facts
}: F): Omit<F, 'ask'> {
  const { object: __, oldObject: ___, ...request } = facts.request
  return { ...facts, request }
}
