/**
 * How many watches of one flow are sent their beginning at once: all that exists, or all that they missed. Each of them
 * keeps a part of it in memory, and what it keeps is read at the same rate whether two or two thousand share it. The
 * others wait in order; what changes meanwhile is queued for them as for any watch.
 *
 * A watch whose client stops reading keeps its place until it is cut off for that. Only watches of its own flow wait
 * for it.
 */
import { Link, LinkedList } from '../base/linked-list.ts'

/** More than the types that a controller watches at a start are read at once over one connection. */
const defaultAtOnce = 32

class Waiting extends Link {
  readonly begin: () => void

  constructor(begin: () => void) {
    super()
    this.begin = begin
  }
}

interface FlowBeginnings {
  running: number
  readonly waiting: LinkedList<Waiting>
}

/** Of one watch. To be ended once it is not needed any longer, also if it was never taken. */
export interface BeginningPlace {
  /** Undefined: it is there. Else it is there when the promise resolves. */
  take(): Promise<void> | undefined
  /** Harmless when it has ended. A promise of `take` is resolved. */
  end(): void
}

export class Beginnings {
  readonly #atOnce: number
  readonly #flows = new Map<string, FlowBeginnings>()

  constructor(atOnce: number = defaultAtOnce) {
    this.#atOnce = atOnce
  }

  place(flow: string): BeginningPlace {
    let state: 'none' | 'waiting' | 'taken' | 'over' = 'none'
    let waiting: Waiting | undefined
    let awaited: Promise<void> | undefined
    return {
      take: () => {
        if (state !== 'none') return state === 'waiting' ? awaited : undefined
        const of = this.#of(flow)
        if (of.running < this.#atOnce) {
          of.running++
          state = 'taken'
          return undefined
        }
        state = 'waiting'
        awaited = new Promise((resolve) => {
          waiting = new Waiting(() => {
            state = 'taken'
            resolve()
          })
          of.waiting.add(waiting)
        })
        return awaited
      },
      end: () => {
        const was = state
        if (was === 'waiting' && waiting !== undefined) {
          this.#of(flow).waiting.remove(waiting)
          waiting.begin()
        }
        state = 'over'
        if (was === 'taken') this.#leave(flow)
      },
    }
  }

  #of(flow: string): FlowBeginnings {
    let of = this.#flows.get(flow)
    if (of === undefined) {
      of = { running: 0, waiting: new LinkedList() }
      this.#flows.set(flow, of)
    }
    return of
  }

  #leave(flow: string): void {
    const of = this.#of(flow)
    const [next] = of.waiting
    if (next !== undefined) {
      of.waiting.remove(next)
      next.begin()
    } else if (--of.running === 0) this.#flows.delete(flow)
  }
}
