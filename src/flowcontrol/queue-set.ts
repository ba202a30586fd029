/**
 * The queues of one priority level and the seats that they share: fair queuing for server requests.
 *
 * Virtual time is the work, in seat-milliseconds, that each active queue has been given its fair share of. It passes at
 *
 *     min(limit, seats in use) / active queues      seat-milliseconds per millisecond
 *
 * A queue's `nextStart` says how much work it has been given. The waiting request that would be done first, nextStart
 * plus its estimated work, is dispatched. Its estimate moves nextStart forward at once, and at its end the real
 * duration takes the place of the estimate.
 *
 * Ours: seats alone do not model a server with one main thread, where a request that holds the thread makes all others
 * stand still. A millisecond of the thread is a millisecond of every seat, so `charge` counts it as that much work: it
 * moves the queue's nextStart forward, and virtual time as if the work had been shared out.
 *
 * And ours: upstream counts seats that are asked for, too, since there requests wait only where all seats are in use.
 * Here they also wait for the next turn (`turn.ts`). Counted, virtual time would run ahead of the work that is done, so
 * of all queues where requests wait: a newcomer begins at the present, behind everything that came before it.
 *
 * Always: the seats in use stay within the limit, except for a request that is wider than the whole limit, which runs
 * alone, and after the limit has been lowered. No queue is longer than its limit.
 * @see k8s.io/apiserver/pkg/util/flowcontrol/fairqueuing/queueset v0.36
 */
import type { Clock } from '../base/clock.ts'
import type { RefusalReason } from './flow-control.ts'
import type { Queuing } from './priority-level.ts'
import { Queue, type RequestSeat, SeatList } from './queue.ts'
import { QueueHeap } from './queue-heap.ts'
import { estimatedServiceMs } from './work-estimate.ts'

export interface QueueSetOptions {
  readonly clock: Clock
  /** No limit at all. */
  readonly exempt: boolean
  /** Seats or requests have come or gone. */
  readonly onChange: (nowMs: number) => void
  /** No further request is to begin now; those that come are queued. Only where there are queues. */
  readonly isTurnSpent: (nowMs: number) => boolean
  /** Requests wait, and there may be seats for them: `dispatchNext` is to be called, now or soon. */
  readonly onDispatchable: () => void
}

/**
 * In milliseconds of the main thread. What a flow is charged beyond this is forgotten: a single terrible request must
 * not lock its user out for minutes.
 */
const maxDebtMs = 10_000

export class QueueSet {
  readonly #options: QueueSetOptions
  readonly #queues = new Map<number, Queue>()
  readonly #heap = new QueueHeap()
  readonly executing: SeatList = new SeatList()
  #queuing: Queuing | undefined
  #limit = 0
  #virtualTime = 0
  #virtualTimeAtMs: number
  #activeQueues = 0
  #arrivals = 0
  #waiting = 0
  #seatsWaiting = 0
  #seatsInUse = 0
  #dispatches = 0
  #lastStart = 0
  #virtualTimeOfDispatch = 0

  constructor(options: QueueSetOptions) {
    this.#options = options
    this.#virtualTimeAtMs = options.clock.monotonic()
  }

  get waiting(): number {
    return this.#waiting
  }
  get seatsWaiting(): number {
    return this.#seatsWaiting
  }
  get seatsInUse(): number {
    return this.#seatsInUse
  }
  get limit(): number {
    return this.#limit
  }
  get idle(): boolean {
    return this.#waiting === 0 && this.executing.length === 0
  }
  get virtualTime(): number {
    return this.#virtualTime
  }
  /** Virtual times of the last dispatch and of the request that it dispatched. */
  get lastDispatch(): { readonly at: number; readonly start: number } {
    return { at: this.#virtualTimeOfDispatch, start: this.#lastStart }
  }
  /** Those that have ever been used, by index. */
  get queues(): readonly Queue[] {
    return [...this.#queues.values()].sort((a, b) => a.index - b.index)
  }

  /** Queues beyond the new number take no new requests; they go when they are empty. */
  configure(queuing: Queuing | undefined, limit: number): void {
    this.#sync()
    this.#queuing = queuing
    this.#limit = limit
    for (const queue of this.#queues.values()) if (queue.idle) this.#retire(queue)
    this.#dispatch()
  }

  /** The queue with this index, made when it is first dealt to a flow. */
  queueAt(index: number): Queue {
    let queue = this.#queues.get(index)
    if (queue === undefined) {
      queue = new Queue(index)
      this.#queues.set(index, queue)
    }
    return queue
  }

  /** The seat executes or waits from now on, or is refused. */
  enter(seat: RequestSeat, nowMs: number): 'executing' | 'waiting' | RefusalReason {
    this.#syncAt(nowMs)
    if (this.#options.exempt) {
      this.#execute(seat, nowMs)
      return 'executing'
    }
    if (this.#queuing === undefined) {
      if (!this.#accommodates(seat)) return 'concurrency-limit'
      this.#execute(seat, nowMs)
      return 'executing'
    }
    const queue = this.#leastLoaded(seat.flow.hand)
    const isSpent = this.#options.isTurnSpent(nowMs)
    // Here every request would be dispatched as soon as it is queued.
    if (this.#waiting === 0 && this.#seatsInUse < this.#limit && this.#accommodates(seat) && !isSpent) {
      seat.queue = queue
      seat.flow.stats.queueLength.observe(1)
      this.#activate(queue, nowMs)
      this.#execute(seat, nowMs)
      return 'executing'
    }
    if (queue.waiting.length >= this.#queuing.queueLengthLimit) return 'queue-full'
    this.#enqueue(seat, queue, nowMs)
    this.#dispatch()
    return seat.state === 'executing' ? 'executing' : 'waiting'
  }

  /** Takes a request that still waits out of its queue. */
  withdraw(seat: RequestSeat): boolean {
    if (seat.state !== 'waiting') return false
    const nowMs = this.#sync()
    this.#dequeue(seat)
    seat.state = 'released'
    this.#afterChange(seat.queue, nowMs)
    // It may have been the head that waited for many seats while others would have fit.
    this.#dispatch()
    this.#options.onChange(nowMs)
    return true
  }

  /** Answers how long the request has executed; undefined if it did not. */
  finish(seat: RequestSeat, cpuMs: number): number | undefined {
    if (seat.state !== 'executing') return undefined
    const nowMs = this.#sync()
    const durationMs = nowMs - seat.startedAtMs
    const { queue, work, flow } = seat
    seat.state = 'released'
    this.executing.remove(seat)
    flow.stats.executing--
    if (queue) queue.nextStart += work.initialSeats * (durationMs - estimatedServiceMs)
    this.#charge(seat, cpuMs + seat.takeUncharged())
    if (queue) queue.executing--
    if (work.additionalLatencyMs > 0) {
      this.#options.clock.after(work.additionalLatencyMs, () => {
        const laterMs = this.#sync()
        this.#vacate(seat)
        this.#dispatch()
        this.#options.onChange(laterMs)
      })
    } else this.#vacate(seat)
    this.#afterChange(queue, nowMs)
    this.#dispatch()
    this.#options.onChange(nowMs)
    return durationMs
  }

  /** Begins the request that would be done first; false if none waits or there is no seat for it. */
  dispatchNext(): boolean {
    if (this.#waiting === 0 || this.#seatsInUse >= this.#limit) return false
    const queue = this.#heap.first
    const seat = queue?.waiting.first
    if (queue === undefined || seat === undefined) throw new Error('requests wait, but in no queue')
    // Nothing overtakes it: a wide request would never find enough seats free.
    if (!this.#accommodates(seat)) {
      seat.flow.stats.notAccommodated++
      return false
    }
    const nowMs = this.#sync()
    this.#dequeue(seat)
    this.#execute(seat, nowMs)
    this.#bound(queue)
    seat.onDispatch?.()
    return true
  }

  charge(seat: RequestSeat, cpuMs: number): void {
    this.#sync()
    this.#charge(seat, cpuMs)
    if (seat.queue) this.#bound(seat.queue)
  }

  #charge(seat: RequestSeat, cpuMs: number): void {
    if (!(cpuMs > 0)) return
    seat.flow.stats.chargedMs += cpuMs
    const { queue } = seat
    if (queue === undefined) return
    const work = cpuMs * this.#limit
    if (this.#activeQueues > 0) this.#virtualTime += work / this.#activeQueues
    const most = this.#virtualTime + maxDebtMs * this.#limit
    queue.nextStart = Math.max(queue.nextStart, Math.min(queue.nextStart + work, most))
  }

  #accommodates({ seats }: RequestSeat): boolean {
    return seats > this.#limit ? this.#seatsInUse === 0 : this.#seatsInUse + seats <= this.#limit
  }

  /**
   * The queue in which the request would be served first. A queue that has been charged much counts as loaded even
   * when nothing waits in it, so a flow that shares it with a greedy one goes elsewhere. Equal queues take turns.
   */
  #leastLoaded(hand: readonly Queue[]): Queue {
    const offset = this.#arrivals++ % hand.length
    let best: Queue | undefined
    let least = Number.POSITIVE_INFINITY
    for (let i = 0; i < hand.length; i++) {
      const at = offset + i
      const queue = hand[at < hand.length ? at : at - hand.length]
      if (queue === undefined) continue
      const load = Math.max(this.#virtualTime, queue.nextStart) + queue.workWaiting
      if (load < least) {
        least = load
        best = queue
      }
    }
    if (best === undefined) throw new Error('a flow of a level with queues has no hand')
    return best
  }

  /**
   * An idle queue begins at the present. Only what it has been charged beyond its share is still ahead of it, less what
   * the thread could have worked off since then.
   */
  #activate(queue: Queue, nowMs: number): void {
    if (!queue.idle) return
    const forgiven = (nowMs - queue.idleSinceMs) * this.#limit
    queue.nextStart = Math.max(this.#virtualTime, queue.nextStart - forgiven)
    this.#activeQueues++
  }

  #enqueue(seat: RequestSeat, queue: Queue, nowMs: number): void {
    this.#activate(queue, nowMs)
    seat.queue = queue
    seat.arrival = this.#virtualTime
    queue.waiting.push(seat)
    queue.workWaiting += seat.totalWork
    this.#waiting++
    this.#seatsWaiting += seat.seats
    const { stats } = seat.flow
    stats.waiting++
    stats.seatsWaiting += seat.seats
    stats.queueLength.observe(queue.waiting.length)
    this.#bound(queue)
    this.#options.onChange(nowMs)
  }

  #dequeue(seat: RequestSeat): void {
    const { queue, seats, totalWork, flow } = seat
    queue?.waiting.remove(seat)
    if (queue) queue.workWaiting = queue.waiting.length === 0 ? 0 : queue.workWaiting - totalWork
    this.#waiting--
    this.#seatsWaiting -= seats
    flow.stats.waiting--
    flow.stats.seatsWaiting -= seats
  }

  #dispatch(): void {
    if (this.#waiting > 0 && this.#seatsInUse < this.#limit) this.#options.onDispatchable()
  }

  #execute(seat: RequestSeat, nowMs: number): void {
    const { queue, seats, flow } = seat
    seat.state = 'executing'
    seat.startedAtMs = nowMs
    this.executing.push(seat)
    this.#seatsInUse += seats
    if (queue) {
      this.#virtualTimeOfDispatch = this.#virtualTime
      this.#lastStart = queue.nextStart
      queue.executing++
      queue.seatsInUse += seats
      queue.nextStart += seat.totalWork
      queue.lastDispatch = ++this.#dispatches
    }
    flow.stats.executing++
    flow.stats.seatsExecuting += seats
    this.#options.onChange(nowMs)
  }

  #vacate({ queue, seats, flow }: RequestSeat): void {
    this.#seatsInUse -= seats
    flow.stats.seatsExecuting -= seats
    if (queue) queue.seatsInUse -= seats
  }

  /** Something has left the queue. */
  #afterChange(queue: Queue | undefined, nowMs: number): void {
    if (queue === undefined) return
    this.#bound(queue)
    if (!queue.idle) return
    this.#activeQueues--
    queue.idleSinceMs = nowMs
    this.#retire(queue)
  }

  /**
   * A queue that used less than its share while it never went idle would save up for a burst: no request starts, in
   * virtual time, before it has arrived.
   */
  #bound(queue: Queue): void {
    const oldest = queue.waiting.first
    if (oldest && queue.nextStart < oldest.arrival) queue.nextStart = oldest.arrival
    this.#heap.update(queue)
  }

  #retire({ index }: Queue): void {
    if (index >= (this.#queuing?.queues ?? 0)) this.#queues.delete(index)
  }

  #sync(): number {
    const nowMs = this.#options.clock.monotonic()
    this.#syncAt(nowMs)
    return nowMs
  }

  /** To be called before anything changes: the present state has held since the last call. */
  #syncAt(nowMs: number): void {
    if (this.#activeQueues > 0) {
      const busy = Math.min(this.#limit, this.#seatsInUse)
      this.#virtualTime += ((nowMs - this.#virtualTimeAtMs) * busy) / this.#activeQueues
    }
    this.#virtualTimeAtMs = nowMs
  }
}
