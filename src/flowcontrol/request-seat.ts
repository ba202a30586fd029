/**
 * One request between its admission and its end. The record that queues hold and the seat that the caller gets are one
 * object, so an undisturbed request costs a single small allocation.
 *
 *     waiting ──dispatch──► executing ──release──► released
 *        └────time-out, cancelled────────────────────▲
 */
import type { Flow } from './flow.ts'
import type { FlowHeaders, FlowRequest, Seat } from './flowcontrol.ts'
import type { Queue } from './queue.ts'
import { estimatedServiceMs, maxSeatsOf, type WorkEstimate } from './work-estimate.ts'

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

  release(cpuMs = 0): void {
    this.flow.level.release(this, cpuMs)
  }

  charge(cpuMs: number): void {
    this.flow.level.charge(this, cpuMs)
  }
}
