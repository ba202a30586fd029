/**
 * Virtual time, and the order of everything that happens in it. What a step sets going by promises alone has come to
 * rest before the next step begins, so that one seed gives one order.
 *
 * Due at the same time: in the order in which it was planned. All that varies is therefore planned with a delay that
 * the seed gives.
 */
import { createHash, type Hash } from 'node:crypto'
import type { Timer } from '../../src/base/clock.ts'

interface Step {
  readonly due: number
  readonly number: number
  /** Absent: it was cancelled. */
  run: (() => void) | undefined
}

/** Taken before the globals are replaced. */
const endOfTurn = globalThis.setImmediate

export class Scheduler {
  readonly #heap: Step[] = []
  readonly #hash: Hash = createHash('sha256')
  readonly #lines: string[] | undefined
  readonly #holds = new Set<Promise<unknown>>()
  #now = 0
  #planned = 0
  #steps = 0
  #ended = false

  /** `keepsTrace`: for a reader; the hash is made in any case. */
  constructor({ keepsTrace = false }: { readonly keepsTrace?: boolean } = {}) {
    this.#lines = keepsTrace ? [] : undefined
  }

  /** Milliseconds since the beginning. */
  get now(): number {
    return this.#now
  }

  get steps(): number {
    return this.#steps
  }

  get trace(): readonly string[] {
    return this.#lines ?? []
  }

  traceHash(): string {
    return this.#hash.copy().digest('hex')
  }

  /** One line: what happened, with nothing in it that another run of the seed could have otherwise. */
  tell(line: string): void {
    const told = `${this.#now.toFixed(3)} ${line}`
    this.#hash.update(told).update('\n')
    this.#lines?.push(told)
  }

  after(ms: number, run: () => void): Timer {
    const step: Step = { due: this.#now + (ms > 0 ? ms : 0), number: this.#planned++, run }
    if (!this.#ended) this.#push(step)
    return {
      cancel() {
        step.run = undefined
      },
    }
  }

  /** No step begins before this has settled: for what the process itself must wait for, such as a module. */
  hold(work: Promise<unknown>): void {
    this.#holds.add(work)
    const settled = (): void => void this.#holds.delete(work)
    work.then(settled, settled)
  }

  /** Steps until `work` has settled. @throws what it throws; Error if that never happens, or takes too long */
  async until<T>(
    work: Promise<T>,
    { what, withinMs }: { readonly what: string; readonly withinMs: number },
  ): Promise<T> {
    let settled = false
    const settle = (): void => {
      settled = true
    }
    work.then(settle, settle)
    const end = this.#now + withinMs
    await this.#rest()
    while (!settled) {
      const step = this.#pop()
      if (step === undefined) throw new Error(`nothing more happens, and ${what} has not ended`)
      if (step.due > end) throw new Error(`${what} has not ended within ${withinMs} ms`)
      this.#now = step.due
      this.#steps++
      step.run?.()
      await this.#rest()
    }
    return work
  }

  /** Nothing that is planned happens any more. */
  end(): void {
    this.#ended = true
    this.#heap.length = 0
  }

  /** Everything that can go on without a further step has gone on. */
  async #rest(): Promise<void> {
    do await new Promise<void>((resolve) => endOfTurn(resolve))
    while (this.#holds.size > 0)
  }

  #push(step: Step): void {
    const heap = this.#heap
    let at = heap.push(step) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (isBefore(heap[parent] as Step, step)) break
      heap[at] = heap[parent] as Step
      at = parent
    }
    heap[at] = step
  }

  /** The next that was not cancelled. */
  #pop(): Step | undefined {
    for (;;) {
      const first = this.#heap[0]
      const last = this.#heap.pop()
      if (first === undefined || last === undefined) return undefined
      if (this.#heap.length > 0) this.#sink(last)
      if (first.run !== undefined) return first
    }
  }

  #sink(step: Step): void {
    const heap = this.#heap
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      const right = heap[child + 1]
      if (right !== undefined && isBefore(right, heap[child] as Step)) child++
      const next = heap[child]
      if (next === undefined || isBefore(step, next)) break
      heap[at] = next
      at = child
    }
    heap[at] = step
  }
}

const isBefore = (a: Step, b: Step): boolean => a.due < b.due || (a.due === b.due && a.number < b.number)
