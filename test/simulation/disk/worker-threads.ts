/**
 * Stands in for `node:worker_threads` in the SQLite engine: a thread is a module of its own that takes turns with all
 * else. Messages arrive in order, some time later; while it works on one, others may have come.
 */
import { simulated } from '../runtime/simulated-process.ts'

const slowestMs = 0.4
/** What the writer sends has been flushed first. */
const slowestFlushMs = 4

type Listener = (message: unknown) => void

/** One end. */
export class MessagePort {
  readonly #slowestMs: number
  readonly #generation = simulated.disk.generation
  readonly #arrived: unknown[] = []
  readonly #listeners = new Set<Listener>()
  #other: MessagePort | undefined
  readonly #exitListeners = new Set<() => void>()
  #lastDue = 0
  #closed = false
  /** Messages that are on their way from here. */
  #underWay = 0

  constructor(slowest: number) {
    this.#slowestMs = slowest
  }

  connect(other: MessagePort): void {
    this.#other = other
  }

  postMessage(message: unknown, transfer: readonly ArrayBuffer[] = []): void {
    const { scheduler, random } = simulated
    const copy = structuredClone(message, { transfer: [...transfer] })
    const due = Math.max(this.#lastDue, scheduler.now + this.#slowestMs * random.next())
    this.#lastDue = due
    this.#underWay++
    scheduler.after(due - scheduler.now, () => this.#other?.arrive(copy))
  }

  on(event: string, listener: Listener): void {
    if (event === 'message') this.#listeners.add(listener)
  }

  /** Of a thread: it ends when it has closed its end, behind all that it has sent. */
  onExit(listener: () => void): void {
    this.#exitListeners.add(listener)
  }

  off(_event: string, listener: Listener): void {
    this.#listeners.delete(listener)
  }

  close(): void {
    this.#closed = true
  }

  take(): unknown {
    return this.#arrived.shift()
  }

  arrive(message: unknown): void {
    // The power has failed: neither thread is there any more.
    if (this.#closed || this.#generation !== simulated.disk.generation) return
    this.#arrived.push(message)
    simulated.scheduler.after(0, () => {
      if (this.#arrived.length === 0 || this.#generation !== simulated.disk.generation) return
      const next = this.take()
      for (const listener of [...this.#listeners]) listener(next)
      if (this.#other?.delivered() === true) for (const listener of this.#exitListeners) listener()
    })
  }

  /** One more of its messages has been received. Answers whether none will follow. */
  delivered(): boolean {
    return --this.#underWay === 0 && this.#closed
  }
}

export const receiveMessageOnPort = (port: MessagePort): { readonly message: unknown } | undefined => {
  const message = port.take()
  return message === undefined ? undefined : { message }
}

export class Worker {
  readonly #port = new MessagePort(slowestMs)

  constructor(file: URL, { workerData: data }: { readonly workerData: unknown }) {
    const inside = new MessagePort(slowestFlushMs)
    this.#port.connect(inside)
    inside.connect(this.#port)
    const id = simulated.addThread({ port: inside, data })
    // A module of its own for each, as each thread has.
    simulated.scheduler.hold(import(`${file.href}?thread=${id}`))
  }

  postMessage(message: unknown, transfer: readonly ArrayBuffer[] = []): void {
    this.#port.postMessage(message, transfer)
  }

  on(event: string, listener: Listener): void {
    this.#port.on(event, listener)
  }

  once(event: string, listener: () => void): void {
    if (event === 'exit') this.#port.onExit(listener)
  }

  off(event: string, listener: Listener): void {
    this.#port.off(event, listener)
  }
}

/** Of the thread that this copy of the module was loaded for. */
const thread = simulated.threadOf(import.meta.url)
export const parentPort: unknown = thread?.port
export const workerData: unknown = thread?.data
