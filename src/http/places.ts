/**
 * Which of many requests have one of a few places: two of a flow, six of a priority level and eight in all. A place
 * that is given back goes to the next level that has room, of that to the next flow: a client with many names has no
 * more of them than its level's turn, and a level that is full of such clients leaves two for the others.
 */

export interface PlaceAsked {
  readonly level: string
  readonly flow: string
}

const maxOfFlow = 2
const maxOfLevel = 6
const maxInAll = 8

/** In the order in which they are served: what was served goes behind. */
type InTurn<T> = Map<string, T>

export class Places<T extends object> {
  readonly #waiting: InTurn<InTurn<Set<T>>> = new Map()
  readonly #ofFlow = new Map<string, number>()
  readonly #ofLevel = new Map<string, number>()
  #inAll = 0

  /** True: there was a place. One that waits has been offered it before. */
  tryTake(asked: PlaceAsked): boolean {
    if (!this.#hasRoom(asked)) return false
    this.#inAll++
    change(this.#ofLevel, asked.level, 1)
    change(this.#ofFlow, asked.flow, 1)
    return true
  }

  queue({ level, flow }: PlaceAsked, waiting: T): void {
    let ofLevel = this.#waiting.get(level)
    if (ofLevel === undefined) this.#waiting.set(level, (ofLevel = new Map()))
    const ofFlow = ofLevel.get(flow)
    if (ofFlow === undefined) ofLevel.set(flow, new Set([waiting]))
    else ofFlow.add(waiting)
  }

  /** Harmless if it is in no queue. */
  leaveQueue({ level, flow }: PlaceAsked, waiting: T): void {
    const ofLevel = this.#waiting.get(level)
    const ofFlow = ofLevel?.get(flow)
    if (ofLevel === undefined || ofFlow === undefined) return
    ofFlow.delete(waiting)
    if (ofFlow.size === 0) ofLevel.delete(flow)
    if (ofLevel.size === 0) this.#waiting.delete(level)
  }

  /** Who has the place now: it has left its queue. */
  release(asked: PlaceAsked): T | undefined {
    this.#inAll--
    change(this.#ofLevel, asked.level, -1)
    change(this.#ofFlow, asked.flow, -1)
    return this.#next()
  }

  /** Its holder waits for something else: the place is for others meanwhile, but not for more of its own flow. */
  rest({ level }: PlaceAsked): T | undefined {
    this.#inAll--
    change(this.#ofLevel, level, -1)
    return this.#next()
  }

  /** Its holder goes on, also where there is no room: it has seats, of which there are few. */
  resume({ level }: PlaceAsked): void {
    this.#inAll++
    change(this.#ofLevel, level, 1)
  }

  #next(): T | undefined {
    for (const [level, ofLevel] of this.#waiting) {
      if (!this.#levelHasRoom(level)) continue
      for (const [flow, ofFlow] of ofLevel) {
        const [next] = ofFlow
        if (next === undefined || !this.tryTake({ level, flow })) continue
        // Behind the others, both.
        ofLevel.delete(flow)
        this.#waiting.delete(level)
        ofFlow.delete(next)
        if (ofFlow.size > 0) ofLevel.set(flow, ofFlow)
        if (ofLevel.size > 0) this.#waiting.set(level, ofLevel)
        return next
      }
    }
    return undefined
  }

  #hasRoom({ level, flow }: PlaceAsked): boolean {
    return this.#levelHasRoom(level) && (this.#ofFlow.get(flow) ?? 0) < maxOfFlow
  }

  #levelHasRoom(level: string): boolean {
    return this.#inAll < maxInAll && (this.#ofLevel.get(level) ?? 0) < maxOfLevel
  }
}

function change(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}
