/**
 * When a refused request is told so. A client that asks again as soon as it is refused would keep the server busy with
 * refusals alone: each takes half of what a small read takes. So a flow hears its first refusals in a second at once,
 * and further ones a second late, which is what `Retry-After` asks of it anyway. A client has no more requests under
 * way than streams and connections, so what it can ask in a second is bounded.
 */
import type { Clock } from '../base/clock.ts'
import type { Eventual } from '../base/eventual.ts'
import type { ApiRequest } from './api.ts'

export interface LateRefusalLimits {
  /** Of one flow, in a second. */
  readonly prompt: number
  /** Of one flow: beyond it, it has opened far more streams than it gets answers. */
  readonly waitingOfFlow: number
  readonly waiting: number
}

/** A waiting request keeps its headers and its stream: some 5 KB. */
export const defaultLateRefusals: LateRefusalLimits = { prompt: 100, waitingOfFlow: 5000, waiting: 20_000 }

const lateMs = 1000
/** In one turn of the event loop: some two milliseconds of work. */
const refusalsPerTurn = 32

interface FlowRefusals {
  sinceMs: number
  prompt: number
  waiting: number
}

interface LateRefusal {
  readonly dueMs: number
  readonly flow: FlowRefusals
  readonly answer: () => void
}

/** `now`: it may be told. `full`: there is no room to let it wait. Else it is told when the promise resolves. */
export type RefusalTime = 'now' | 'full' | Promise<void>

export class LateRefusals {
  readonly #clock: Clock
  readonly #limits: LateRefusalLimits
  readonly #soon: (run: () => void) => void
  readonly #flows = new Map<string, FlowRefusals>()
  #waiting: LateRefusal[] = []
  /** Of `waiting`, the first that is not let out. */
  #next = 0
  #forgotMs = Number.NEGATIVE_INFINITY
  #isAwake = false

  /** `soon` runs its argument when the sockets have been served. */
  constructor(
    clock: Clock,
    limits: LateRefusalLimits = defaultLateRefusals,
    soon: (run: () => void) => void = setImmediate,
  ) {
    this.#clock = clock
    this.#limits = limits
    this.#soon = soon
  }

  /** Of one more refusal. */
  timeOf(name: string): RefusalTime {
    const nowMs = this.#clock.monotonic()
    const flow = this.#flow(name, nowMs)
    if (flow.prompt < this.#limits.prompt && flow.waiting === 0) {
      flow.prompt++
      return 'now'
    }
    const { waitingOfFlow, waiting } = this.#limits
    if (flow.waiting >= waitingOfFlow || this.#waiting.length - this.#next >= waiting) return 'full'
    flow.waiting++
    return new Promise((answer) => {
      this.#waiting.push({ dueMs: nowMs + lateMs, flow, answer })
    })
  }

  #flow(name: string, nowMs: number): FlowRefusals {
    let flow = this.#flows.get(name)
    if (flow === undefined) {
      flow = { sinceMs: nowMs, prompt: 0, waiting: 0 }
      this.#flows.set(name, flow)
      if (!this.#isAwake) this.#clock.after(lateMs, this.#look)
      this.#isAwake = true
    } else if (nowMs - flow.sinceMs >= lateMs) {
      flow.sinceMs = nowMs
      flow.prompt = 0
    }
    return flow
  }

  readonly #look = (): void => {
    const nowMs = this.#clock.monotonic()
    this.#letOut(nowMs)
    const next = this.#waiting[this.#next]
    if (next !== undefined && next.dueMs <= nowMs) return this.#soon(this.#look)
    this.#forget(nowMs)
    this.#isAwake = this.#flows.size > 0
    if (this.#isAwake) this.#clock.after(next === undefined ? lateMs : next.dueMs - nowMs, this.#look)
  }

  #letOut(nowMs: number): void {
    for (let i = 0; i < refusalsPerTurn; i++) {
      const late = this.#waiting[this.#next]
      if (late === undefined || late.dueMs > nowMs) return
      this.#next++
      late.flow.waiting--
      late.answer()
    }
  }

  #forget(nowMs: number): void {
    if (nowMs - this.#forgotMs < lateMs) return
    this.#forgotMs = nowMs
    this.#waiting = this.#waiting.slice(this.#next)
    this.#next = 0
    for (const [name, { sinceMs, waiting }] of this.#flows) {
      if (waiting === 0 && nowMs - sinceMs >= lateMs) this.#flows.delete(name)
    }
  }
}

/** Tells a request of a flow that it is refused, when it is time. @throws the refusal, at once or later */
export function refuseInTime(
  lateRefusals: Pick<LateRefusals, 'timeOf'>,
  flow: string,
  request: Pick<ApiRequest, 'hangUp'>,
  refusal: unknown,
): Eventual<never> {
  const time = lateRefusals.timeOf(flow)
  if (time === 'full') request.hangUp?.()
  if (time === 'now' || time === 'full') throw refusal
  return time.then(() => Promise.reject(refusal))
}
