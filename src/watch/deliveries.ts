/**
 * Hands what is queued to the watches that wait for it. A watch writes what it is handed at once: a frame, and what TLS
 * makes of it. Thousands may see one change, so they are handed it in slices of the loop (`turns.ts`), a few watches
 * at a time, since their work is done in the queue of promises.
 *
 * Flows take turns: a client with one watch does not wait for those of a client with thousands. Watches have no order
 * among each other; what each is told stays in order, since all of it is in its own queue. What changes meanwhile comes
 * with what waits there, and so a watch that is served late is served less often.
 */
import { Link, LinkedList } from '../base/linked-list.ts'
import { behindMicrotasks, sliceMs } from '../base/turns.ts'
import type { WatchSession } from './watch-session.ts'

/** Less than a millisecond's work; a look at the time costs little beside it. */
export const sessionsAtOnce = 16

export interface DeliveriesOptions {
  /** Monotonic milliseconds. */
  readonly now: () => number
  /** Runs something when the sockets have been served. */
  readonly soon?: (run: () => void) => void
}

/** The watches of one flow. */
export class DeliveryPlace extends Link {
  readonly flow: string
  readonly waiting: LinkedList<WatchSession> = new LinkedList()
  readonly #busy: LinkedList<DeliveryPlace>
  sessions = 0

  constructor(flow: string, busy: LinkedList<DeliveryPlace>) {
    super()
    this.flow = flow
    this.#busy = busy
  }

  add(session: WatchSession): void {
    this.waiting.add(session)
    this.#busy.add(this)
  }
}

export class Deliveries {
  readonly #now: () => number
  readonly #soon: (run: () => void) => void
  readonly #places = new Map<string, DeliveryPlace>()
  /** Places where watches wait. */
  readonly #busy = new LinkedList<DeliveryPlace>()
  #isRunning = false
  #until = 0

  constructor({ now, soon = setImmediate }: DeliveriesOptions) {
    this.#now = now
    this.#soon = soon
  }

  /** Of a watch that begins. */
  enter(flow: string): DeliveryPlace {
    let place = this.#places.get(flow)
    if (place === undefined) {
      place = new DeliveryPlace(flow, this.#busy)
      this.#places.set(flow, place)
    }
    place.sessions++
    return place
  }

  leave(place: DeliveryPlace, session: WatchSession): void {
    place.waiting.remove(session)
    if (place.waiting.isEmpty) this.#busy.remove(place)
    if (--place.sessions === 0) this.#places.delete(place.flow)
  }

  /** Once after what was queued, however much that is. The first few watches are handed it at once. */
  start(): void {
    if (!this.#isRunning) this.#begin()
  }

  readonly #begin = (): void => {
    this.#until = this.#now() + sliceMs
    this.#handOut()
  }

  readonly #goOn = (): void => {
    if (this.#now() < this.#until) this.#handOut()
    else this.#soon(this.#begin)
  }

  #handOut(): void {
    for (let n = 0; n < sessionsAtOnce; n++) if (!this.#handNext()) break
    this.#isRunning = !this.#busy.isEmpty
    if (this.#isRunning) behindMicrotasks(this.#goOn)
  }

  #handNext(): boolean {
    const place = this.#busy.first
    const session = place?.waiting.first
    if (place === undefined || session === undefined) return false
    place.waiting.remove(session)
    this.#busy.remove(place)
    if (!place.waiting.isEmpty) this.#busy.add(place)
    session.flush()
    return true
  }
}
