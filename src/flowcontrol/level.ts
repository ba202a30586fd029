/**
 * A priority level at work: its configuration, its seats and queues, its demand, and what its clients are told when it
 * refuses. It outlives changes of its configuration; once it is undesired it stays until its last request is done.
 */
import type { Clock, Timer } from '../base/clock.ts'
import type { Eventual } from '../base/eventual.ts'
import type { Adjustment } from './borrowing.ts'
import type { Admission, FlowCaller, FlowRequest, RefusalReason, Refused } from './flow-control.ts'
import { TimingRatioHistogram } from './histogram.ts'
import { type ConcurrencyLimits, maxSeatsPerRequest, type PriorityLevelConfig } from './priority-level.ts'
import { type Flow, RequestSeat, type SeatOwner } from './queue.ts'
import { QueueSet } from './queue-set.ts'
import { RetryAfter } from './retry-after.ts'
import { SeatDemand } from './seat-demand.ts'
import type { Turn, TurnLevel } from './turn.ts'
import type { WorkEstimate } from './work-estimate.ts'

export interface PriorityLevelOptions {
  readonly clock: Clock
  readonly serverSeats: number
  /** How long a request may wait, counted from when it was received. */
  readonly waitLimitMs: number
  readonly turn: Turn
  /** The last request of a level that is undesired is done. */
  readonly onDrained: () => void
}

const seatBuckets = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1]
const requestBuckets = [0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1]
const demandBuckets = [0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.7, 2, 2.8, 4, 6]

export class PriorityLevel implements SeatOwner, TurnLevel {
  readonly #options: PriorityLevelOptions
  #config: PriorityLevelConfig
  #limits: ConcurrencyLimits = { nominal: 0, min: 0, max: 0 }
  #adjustment: Adjustment | undefined
  /** Not in the configuration any more; goes when it is idle. */
  undesired = false
  readonly queues: QueueSet
  readonly demand: SeatDemand
  readonly #retryAfter = new RetryAfter()
  readonly totals = { dispatched: 0, rejected: 0, timedOut: 0, cancelled: 0 }
  readonly utilization: {
    readonly demand: TimingRatioHistogram
    readonly seats: TimingRatioHistogram
    readonly executing: TimingRatioHistogram
    readonly waiting: TimingRatioHistogram
  }

  constructor(config: PriorityLevelConfig, options: PriorityLevelOptions) {
    const { clock, turn } = options
    const nowMs = clock.monotonic()
    this.#options = options
    this.#config = config
    this.queues = new QueueSet({
      clock,
      exempt: config.exempt,
      onChange: (atMs) => turn.changed(this, atMs),
      isTurnSpent: (atMs) => turn.isSpent(atMs),
      onDispatchable: () => turn.dispatch(this),
    })
    this.demand = new SeatDemand(nowMs)
    this.utilization = {
      demand: new TimingRatioHistogram(demandBuckets, nowMs),
      seats: new TimingRatioHistogram(seatBuckets, nowMs),
      executing: new TimingRatioHistogram(requestBuckets, nowMs),
      waiting: new TimingRatioHistogram(requestBuckets, nowMs),
    }
  }

  get name(): string {
    return this.#config.name
  }
  get isExempt(): boolean {
    return this.#config.exempt
  }
  get config(): PriorityLevelConfig {
    return this.#config
  }
  get limits(): ConcurrencyLimits {
    return this.#limits
  }
  get currentLimit(): number {
    return this.#adjustment?.currentLimit ?? 0
  }
  /** Of the last adjustment, in seats. */
  get target(): number {
    return this.#adjustment?.target ?? 0
  }

  configure(config: PriorityLevelConfig, limits: ConcurrencyLimits): void {
    this.#config = config
    this.#limits = limits
  }

  adjust(adjustment: Adjustment): void {
    const nowMs = this.#options.clock.monotonic()
    this.#adjustment = adjustment
    const seats =
      adjustment.currentLimit > 0 ? adjustment.currentLimit : Math.max(1, Math.round(this.#options.serverSeats / 10))
    const { queues = 1, queueLengthLimit = 1 } = this.#config.queuing ?? {}
    this.utilization.demand.setDenominator(seats, nowMs)
    this.utilization.seats.setDenominator(seats, nowMs)
    this.utilization.executing.setDenominator(seats, nowMs)
    this.utilization.waiting.setDenominator(queues * queueLengthLimit, nowMs)
    this.queues.configure(this.#config.queuing, adjustment.currentLimit)
  }

  /** A request that asks for more would wait until the level is empty. Undefined: the level sets no bound. */
  get maxSeats(): number | undefined {
    if (this.#config.exempt) return undefined
    const most = maxSeatsPerRequest(this.#config, this.#limits.nominal) ?? this.currentLimit
    return Math.max(1, Math.min(most, this.currentLimit))
  }

  /** Whether requests wait here that find no seat. */
  get canWait(): boolean {
    return this.#config.queuing !== undefined
  }

  admit(flow: Flow, request: FlowRequest, work: WorkEstimate, caller: FlowCaller): Eventual<Admission> {
    const nowMs = this.#options.clock.monotonic()
    const seat = new RequestSeat(flow, request, work, nowMs)
    flow.stats.estimatedSeats.observe(seat.seats)
    const outcome = this.queues.enter(seat, nowMs)
    if (outcome === 'executing') return this.#dispatched(seat)
    if (outcome === 'waiting') return this.#wait(seat, caller.signal)
    return this.#refuse(seat, outcome)
  }

  release(seat: RequestSeat, cpuMs: number): void {
    this.#options.turn.release(seat, cpuMs)
  }

  finish(seat: RequestSeat, cpuMs: number): void {
    const durationMs = this.queues.finish(seat, cpuMs)
    if (durationMs === undefined) return
    const { executionSeconds } = seat.flow.stats
    const histogram = seat.request.info.verb === 'watch' ? executionSeconds.watch : executionSeconds.regular
    histogram.observe(durationMs / 1000)
    this.#drained()
  }

  charge(seat: RequestSeat, cpuMs: number): void {
    this.queues.charge(seat, cpuMs)
  }

  observe(sinceMs: number): void {
    const { seatsInUse, seatsWaiting, waiting, executing } = this.queues
    this.demand.set(seatsInUse + seatsWaiting, sinceMs)
    this.utilization.demand.set(seatsInUse + seatsWaiting, sinceMs)
    this.utilization.seats.set(seatsInUse, sinceMs)
    this.utilization.executing.set(executing.length, sinceMs)
    this.utilization.waiting.set(waiting, sinceMs)
  }

  dispatchNext(): boolean {
    return this.queues.dispatchNext()
  }

  #dispatched(seat: RequestSeat): RequestSeat {
    const { stats } = seat.flow
    stats.dispatched++
    this.totals.dispatched++
    if (!this.#config.exempt) stats.waitSeconds.executed.observe((seat.startedAtMs - seat.arrivedAtMs) / 1000)
    return seat
  }

  #wait(seat: RequestSeat, signal: AbortSignal): Eventual<Admission> {
    const { clock, waitLimitMs } = this.#options
    const remainingMs = waitLimitMs - (clock.now() - seat.request.receivedAtMs)
    if (signal.aborted) return this.#giveUp(seat, 'cancelled')
    if (remainingMs <= 0) return this.#giveUp(seat, 'time-out')
    return new Promise((resolve) => {
      const end = (admission: Admission): void => {
        timer.cancel()
        signal.removeEventListener('abort', cancel)
        resolve(admission)
      }
      const cancel = (): void => end(this.#giveUp(seat, 'cancelled'))
      const timer: Timer = clock.after(Math.min(remainingMs, waitLimitMs), () => end(this.#giveUp(seat, 'time-out')))
      signal.addEventListener('abort', cancel, { once: true })
      const onDispatch = (): void => end(this.#dispatched(seat))
      seat.onDispatch = onDispatch
    })
  }

  #giveUp(seat: RequestSeat, reason: 'time-out' | 'cancelled'): Refused {
    this.queues.withdraw(seat)
    if (reason === 'time-out') this.totals.timedOut++
    else this.totals.cancelled++
    return this.#refuse(seat, reason)
  }

  #refuse(seat: RequestSeat, reason: RefusalReason): Refused {
    const { flow, arrivedAtMs } = seat
    const { clock } = this.#options
    seat.state = 'released'
    flow.stats.refused[reason]++
    flow.stats.waitSeconds.refused.observe((clock.monotonic() - arrivedAtMs) / 1000)
    this.totals.rejected++
    this.#retryAfter.recordRefusal(clock.now())
    this.#drained()
    return { granted: false, reason, retryAfterSeconds: this.#retryAfter.seconds, headers: flow.headers }
  }

  #drained(): void {
    if (this.undesired && this.queues.idle) this.#options.onDrained()
  }
}
