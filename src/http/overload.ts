/**
 * What one listener needs to defend its process: bounds, the memory that is left, the sweeper that finds what takes too
 * long, and a place to say so. Two listeners of one process share sweeper and incidents, and have budgets of their own.
 */
import { getHeapStatistics } from 'node:v8'
import type { AuditSink } from '../audit/audit.ts'
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { Sweeper, unlessUnderWay } from '../base/sweeper.ts'
import type { Turns } from '../base/turns.ts'
import { endThoseBehind, sessionsOf } from '../watch/behind.ts'
import { type BudgetLimits, ByteBudget } from './byte-budget.ts'
import { type Bound, Incidents } from './incidents.ts'
import { pendingWithin, type TransportLimits } from './limits.ts'
import { LateRecords } from './stages/late-records.ts'

export interface Overload {
  readonly clock: Clock
  readonly limits: TransportLimits
  readonly budget: ByteBudget
  readonly sweeper: Sweeper
  readonly incidents: Incidents
}

/** Of V8's limit. Above it a collection may come too late for what a single large answer takes. */
const fullHeap = 0.85

export interface DefenseOptions {
  readonly clock: Clock
  readonly log: Log
  /** Of 1; tests say what the heap looks like. */
  readonly heapUse?: () => number
}

/** Of one process. */
export class Defense implements Disposable {
  readonly sweeper: Sweeper
  readonly incidents: Incidents
  readonly #clock: Clock
  readonly #heapUse: () => number
  #isHeapFull = false

  constructor({ clock, log, heapUse = usedHeap }: DefenseOptions) {
    this.#clock = clock
    this.sweeper = new Sweeper(clock)
    this.incidents = new Incidents(clock, log)
    this.#heapUse = heapUse
    this.sweeper.add(() => this.incidents.look())
    this.sweeper.add(() => {
      this.#isHeapFull = this.#heapUse() > fullHeap
      return this.#isHeapFull
    })
  }

  /**
   * Ends the watches that are furthest behind when what waits for clients is more than `maxMemoryBytes` allows. `turns`
   * for this alone: behind all long lists it would come too late.
   */
  limitWatchMemory(cache: Parameters<typeof sessionsOf>[0], maxMemoryBytes: number, turns: Turns): void {
    const pending = pendingWithin(maxMemoryBytes)
    const look = unlessUnderWay(async () => {
      const ended = await endThoseBehind(sessionsOf(cache), pending, turns)
      for (const flow of ended) this.incidents.happened('watch_memory', flow)
    })
    this.sweeper.add(() => {
      look()
      // The connections keep the sweeper awake, and without them no watch is behind.
      return false
    })
  }

  /** Where events of the audit log with long bodies are made. To be disposed of before the sink is. */
  recordLate(
    sink: AuditSink,
    { turns, config }: { readonly turns: Turns; readonly config: { readonly log: Log } },
  ): LateRecords {
    const onFault = (error: unknown): void =>
      config.log.error({ error }, 'an audit event could not be made: it is lost')
    return new LateRecords({ turns, sink, incidents: this.incidents, onFault })
  }

  /** For one listener. */
  of(limits: TransportLimits, budget: BudgetLimits): Overload {
    const { sweeper, incidents } = this
    const onRefused = (bound: Bound, flow: string): void => incidents.happened(bound, flow)
    const ofListener = new ByteBudget({ ...budget, isHeapFull: () => this.#isHeapFull, onRefused })
    sweeper.add(() => {
      if (this.#isHeapFull) ofListener.shedLargest()
      return false
    })
    return { clock: this.#clock, limits, sweeper, incidents, budget: ofListener }
  }

  [Symbol.dispose](): void {
    this.sweeper[Symbol.dispose]()
  }
}

function usedHeap(): number {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics()
  return used / limit
}
