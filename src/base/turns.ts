/**
 * Long work on the main thread, in slices. Everything a process does shares one event loop: work that holds it makes
 * every other request wait. A loop over many objects therefore takes a `Slice`, asks it after each object, and when the
 * slice is used up waits for its turn:
 *
 *   const slice = turns.slice()
 *   for (const object of objects) {
 *     work(object)
 *     const pause = slice.pause()
 *     if (pause) await pause
 *   }
 *
 * Work on one large object is made of a few passes over it: there `afterPause` (`eventual.ts`) stands between two
 * passes.
 *
 * One slice begins in each turn of the event loop, in the order in which they paused, however many there are: between
 * two slices all sockets are served, so a request that needs no slice waits for one slice at most.
 */

import { type Topic, topic } from './diagnostics.ts'
import type { Eventual } from './eventual.ts'

/** Work begins in a slice, or goes on in the next: told is whose it is, as far as that is known. */
export const sliceBegan: Topic<object | undefined> = topic('a slice of the loop began')

/** Long enough that a pause costs little beside it, short beside the time that a request takes on a network. */
export const sliceMs = 2.5

/**
 * Runs something when all is done that waits for nothing but its own promises: what a turn has begun is known to have
 * taken its time then, be it in one function or in a hundred that await each other.
 */
export function behindMicrotasks(run: () => void): void {
  // Node empties the queue of promises before it looks at its own again. (`queueMicrotask` costs three times as much.)
  void resolved.then(() => process.nextTick(run))
}

const resolved = Promise.resolve()

export interface TurnsOptions {
  /** Monotonic milliseconds. */
  readonly now?: () => number
  /** Runs something when the sockets have been served. */
  readonly soon?: (run: () => void) => void
  /** Told whose work begins or goes on. */
  readonly began?: (owner: object | undefined) => void
}

export class Turns {
  readonly #now: () => number
  readonly #soon: (run: () => void) => void
  readonly #began: (owner: object | undefined) => void
  readonly #waiting: (() => void)[] = []
  #hasBegun = false

  constructor({ now = () => performance.now(), soon = setImmediate, began = () => {} }: TurnsOptions = {}) {
    this.#now = now
    this.#soon = soon
    this.#began = began
  }

  /** Begins now. `owner`: the request that it works for. `check` is called before work goes on, and may end it. */
  slice(owner?: object, check: () => void = () => {}): Slice {
    this.#began(owner)
    return new Slice(
      this.#now,
      () => this.next(),
      () => this.#began(owner),
      check,
    )
  }

  /**
   * Waits where a slice has begun in this turn of the loop: for work that is long from its first piece on, and that
   * many may bring at once.
   */
  begin(owner?: object, check?: () => void): Eventual<Slice> {
    if (!this.#hasBegun && this.#waiting.length === 0) {
      this.#mark()
      return this.slice(owner, check)
    }
    return this.next().then(() => {
      check?.()
      return this.slice(owner, check)
    })
  }

  /** Waits for its turn, behind what waits already: for work that is many short pieces, of which some were done. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.push(resolve) === 1) this.#soon(() => this.#turn())
    })
  }

  /** Until the sockets have been served again. */
  #mark(): void {
    if (this.#hasBegun) return
    this.#hasBegun = true
    this.#soon(() => {
      this.#hasBegun = false
    })
  }

  #turn(): void {
    const begin = this.#waiting.shift()
    if (this.#waiting.length > 0) this.#soon(() => this.#turn())
    this.#mark()
    begin?.()
  }
}

export class Slice {
  readonly #now: () => number
  readonly #next: () => Promise<void>
  readonly #began: () => void
  readonly #check: () => void
  #until: number

  /** `next` resolves when another slice may begin. `began` is told that work goes on. */
  constructor(
    now: () => number,
    next: () => Promise<void>,
    began: () => void = () => {},
    check: () => void = () => {},
  ) {
    this.#now = now
    this.#next = next
    this.#began = began
    this.#check = check
    this.#until = now() + sliceMs
  }

  get isOver(): boolean {
    return this.#now() >= this.#until
  }

  /** Undefined while there is time left; else to be awaited before going on. Rejects with what `check` throws. */
  pause(): Promise<void> | undefined {
    return this.isOver ? this.#resume() : undefined
  }

  /** The work goes on after something else was awaited than the slice's turn: a reader, the store. */
  goOn(): void {
    this.#began()
  }

  async #resume(): Promise<void> {
    await this.#next()
    this.#check()
    this.#began()
    this.#until = this.#now() + sliceMs
  }
}
