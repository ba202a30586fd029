/**
 * One queue of a priority level: its waiting requests in the order of their arrival, and its place in virtual time.
 * `QueueHeap` orders the queues that have waiting requests by which of them is served next.
 */
import type { RequestSeat } from './request-seat.ts'

/** A doubly linked list through the requests themselves: what waits may leave from the middle at no cost. */
export class SeatList {
  #first: RequestSeat | undefined
  #last: RequestSeat | undefined
  #length = 0

  get first(): RequestSeat | undefined {
    return this.#first
  }

  get length(): number {
    return this.#length
  }

  push(seat: RequestSeat): void {
    seat.previous = this.#last
    seat.next = undefined
    if (this.#last) this.#last.next = seat
    else this.#first = seat
    this.#last = seat
    this.#length++
  }

  remove(seat: RequestSeat): void {
    if (seat.previous) seat.previous.next = seat.next
    else this.#first = seat.next
    if (seat.next) seat.next.previous = seat.previous
    else this.#last = seat.previous
    seat.previous = undefined
    seat.next = undefined
    this.#length--
  }

  *[Symbol.iterator](): Generator<RequestSeat> {
    for (let seat = this.#first; seat; seat = seat.next) yield seat
  }
}

export class Queue {
  readonly index: number
  readonly waiting: SeatList = new SeatList()
  /** Of the waiting requests, in seat-milliseconds. */
  workWaiting = 0
  /** Requests of this queue that are worked on. */
  executing = 0
  /** Those of requests whose change still goes out to watchers, too. */
  seatsInUse = 0
  /** The virtual time at which the next request starts: how much work this queue has been given. */
  nextStart = 0
  idleSinceMs = 0
  /** Grows with each dispatch of the level: equal queues take turns. */
  lastDispatch = 0
  /** Where it is in the heap; -1 if nothing waits. */
  heapIndex = -1

  constructor(index: number) {
    this.index = index
  }

  get idle(): boolean {
    return this.executing === 0 && this.waiting.length === 0
  }

  /** When its oldest waiting request would be done in virtual time. */
  get nextFinish(): number {
    return this.nextStart + (this.waiting.first?.totalWork ?? 0)
  }
}

/** A binary heap of the queues with waiting requests. Each queue knows its place, so that it can move or leave. */
export class QueueHeap {
  readonly #queues: Queue[] = []

  get first(): Queue | undefined {
    return this.#queues[0]
  }

  /** After any change of the queue: puts it where it belongs, or takes it out once nothing waits in it. */
  update(queue: Queue): void {
    if (queue.waiting.length === 0) {
      if (queue.heapIndex >= 0) this.#remove(queue)
      return
    }
    if (queue.heapIndex < 0) {
      queue.heapIndex = this.#queues.length
      this.#queues.push(queue)
    }
    this.#sift(queue)
  }

  #remove(queue: Queue): void {
    const last = this.#queues.pop()
    if (last !== undefined && last !== queue) {
      this.#put(last, queue.heapIndex)
      this.#sift(last)
    }
    queue.heapIndex = -1
  }

  #sift(queue: Queue): void {
    let at = queue.heapIndex
    for (let parent = this.#at((at - 1) >> 1); at > 0 && before(queue, parent); parent = this.#at((at - 1) >> 1)) {
      const above = (at - 1) >> 1
      this.#put(parent, at)
      at = above
    }
    for (;;) {
      const left = 2 * at + 1
      if (left >= this.#queues.length) break
      const right = left + 1
      const child = right < this.#queues.length && before(this.#at(right), this.#at(left)) ? right : left
      const smaller = this.#at(child)
      if (!before(smaller, queue)) break
      this.#put(smaller, at)
      at = child
    }
    this.#put(queue, at)
  }

  #put(queue: Queue, at: number): void {
    this.#queues[at] = queue
    queue.heapIndex = at
  }

  #at(index: number): Queue {
    const queue = this.#queues[Math.max(0, index)]
    if (queue === undefined) throw new Error(`the heap has no place ${index}`)
    return queue
  }
}

function before(a: Queue, b: Queue): boolean {
  const [finishA, finishB] = [a.nextFinish, b.nextFinish]
  return finishA < finishB || (finishA === finishB && a.lastDispatch < b.lastDispatch)
}
