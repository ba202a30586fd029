/**
 * A request between its admission and its end, the flow it belongs to, and the queue in which it waits.
 */

import type { FlowHeaders, FlowRequest, Seat, SeatLevel } from './flow-control.ts'
import type { FlowStats } from './flow-stats.ts'
import { estimatedServiceMs, maxSeatsOf, type WorkEstimate } from './work-estimate.ts'

/**
 * The requests that share a fate: one FlowSchema, and of it one user or one namespace where the schema distinguishes
 * them. Made when a request of it is first seen; forgotten when it has not been seen for long, or at a new
 * configuration.
 */
export interface Flow {
  readonly schemaName: string
  /** The user's or the namespace's name; '' where the schema does not distinguish. */
  readonly distinguisher: string
  readonly level: SeatOwner
  /** The queues that were dealt to it; empty where the level has none. */
  readonly hand: readonly Queue[]
  readonly stats: FlowStats
  readonly headers: FlowHeaders
}

/** A request is charged in few pieces: most end before it is charged at all, and are charged when they end. */
const chargedAtOnceMs = 5

/** The priority level, as its seats know it. */
export interface SeatOwner extends SeatLevel {
  /** Now or at the end of the turn: `finish`. */
  release(seat: RequestSeat, cpuMs: number): void
  finish(seat: RequestSeat, cpuMs: number): void
  charge(seat: RequestSeat, cpuMs: number): void
}

/**
 * The record that queues hold and the seat that the caller gets are one object, so an undisturbed request costs a
 * single small allocation.
 *
 *     waiting ──dispatch──► executing ──release──► released
 *        └────time-out, cancelled────────────────────▲
 */
export class RequestSeat implements Seat {
  readonly granted = true
  readonly flow: Flow
  readonly request: FlowRequest
  readonly work: WorkEstimate
  /** Occupied from dispatch until the change has gone out to watchers. */
  readonly seats: number
  /** Estimated, in seat-milliseconds. */
  readonly totalWork: number
  /** By the monotonic clock. */
  readonly arrivedAtMs: number
  state: 'waiting' | 'executing' | 'released' = 'waiting'
  /** Undefined where the level has no queues. */
  queue: Queue | undefined
  /** Virtual time at its arrival. */
  arrival = 0
  startedAtMs = 0
  /** Of the main thread, and not counted yet: at the end, or when it is worth the while. */
  unchargedMs = 0
  /** Called once when a request that had to wait is dispatched. */
  onDispatch: (() => void) | undefined
  previous: RequestSeat | undefined
  next: RequestSeat | undefined

  constructor(flow: Flow, request: FlowRequest, work: WorkEstimate, nowMs: number) {
    this.flow = flow
    this.request = request
    this.work = work
    this.seats = maxSeatsOf(work)
    this.totalWork = work.initialSeats * estimatedServiceMs + work.finalSeats * work.additionalLatencyMs
    this.arrivedAtMs = nowMs
    this.queue = undefined
    this.onDispatch = undefined
    this.previous = undefined
    this.next = undefined
  }

  get headers(): FlowHeaders {
    return this.flow.headers
  }

  get level(): SeatLevel {
    return this.flow.level
  }

  release(cpuMs = 0): void {
    this.flow.level.release(this, cpuMs)
  }

  charge(cpuMs: number): void {
    this.unchargedMs += cpuMs
    if (this.state === 'executing' && this.unchargedMs < chargedAtOnceMs) return
    this.flow.level.charge(this, this.takeUncharged())
  }

  takeUncharged(): number {
    const uncharged = this.unchargedMs
    this.unchargedMs = 0
    return uncharged
  }
}

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
