/**
 * Long looks at all that there is of something, beside other work: each is a generator that does a little, yields, and
 * is taken up in slices of the loop (`turns.ts`), several of them by turns.
 *
 * What it looks at changes between two slices. So a walk looks at each thing as it is when it comes to it, and who
 * begins it hears of changes in another way.
 */
import { Turns } from './turns.ts'

type Walk = Iterable<unknown>

interface Walking {
  readonly steps: Iterator<unknown>
  /** Begins when this one has ended. */
  next: Walk | undefined
}

export class Walks {
  readonly #turns: Turns
  readonly #onError: (error: unknown) => void
  readonly #walking = new Map<unknown, Walking>()
  #isRunning = false
  #wake: () => void = () => {}

  /** `onError`: told of what ended a walk before its end. */
  constructor(onError: (error: unknown) => void, turns: Turns = new Turns()) {
    this.#onError = onError
    this.#turns = turns
  }

  /** In place of the one of this key that is under way. Without effect while nothing runs. */
  begin(key: unknown, walk: Walk): void {
    if (!this.#isRunning) return
    this.#walking.set(key, { steps: walk[Symbol.iterator](), next: undefined })
    this.#wake()
  }

  /** After the one of this key that is under way, which goes on to its end: what has changed it may have passed. */
  again(key: unknown, walk: Walk): void {
    const under = this.#walking.get(key)
    if (under === undefined) this.begin(key, walk)
    else under.next = walk
  }

  /** Until `signal` aborts: then all walks end where they are. */
  async run(signal: AbortSignal): Promise<void> {
    this.#isRunning = true
    signal.addEventListener('abort', () => this.#wake(), { once: true })
    while (!signal.aborted) {
      if (this.#walking.size > 0) await this.#goOn(signal)
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
    this.#isRunning = false
    this.#walking.clear()
  }

  /** Until all have ended. */
  async #goOn(signal: AbortSignal): Promise<void> {
    const slice = await this.#turns.begin()
    for (let first = this.#first(); first !== undefined && !signal.aborted; first = this.#first()) {
      const [key, walking] = first
      let pause: Promise<void> | undefined
      while (pause === undefined && this.#walking.get(key) === walking) {
        this.#step(key, walking)
        pause = slice.pause()
      }
      if (pause === undefined) continue
      // The others have their turn first.
      if (this.#walking.get(key) === walking && this.#walking.delete(key)) this.#walking.set(key, walking)
      await pause
    }
  }

  #first(): readonly [unknown, Walking] | undefined {
    for (const first of this.#walking) return first
    return undefined
  }

  #step(key: unknown, walking: Walking): void {
    try {
      if (walking.steps.next().done !== true) return
    } catch (error) {
      this.#onError(error)
    }
    // A last step may have begun another.
    if (this.#walking.get(key) !== walking) return
    this.#walking.delete(key)
    if (walking.next !== undefined) this.begin(key, walking.next)
  }
}
