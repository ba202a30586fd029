/**
 * Holds the configuration in force and the priority levels at work. A new configuration is digested as a whole, as
 * upstream does: the levels first, then the schemas that refer to them, then the seats are divided anew.
 *
 *   level in the lists                        → kept with its queues, or new
 *   level that is gone, still busy            → undesired: no schema leads to it, it keeps a share until it is empty
 *   level that contradicts itself             → as if it were gone
 *   mandatory objects that are not stored     → imagined
 * @see k8s.io/apiserver/pkg/util/flowcontrol/apf_controller.go v0.36
 */
import type { Clock, Timer } from '../base/clock.ts'
import type { Eventual } from '../base/eventual.ts'
import { mandatoryFlowSchemas, mandatoryPriorityLevels } from './bootstrap-objects.ts'
import { adjustLimits, adjustmentPeriodMs } from './borrowing.ts'
import { Classifier, type Route } from './classifier.ts'
import { danglingUpdate } from './dangling.ts'
import { priorityLevelRows, queueRows, requestRows } from './dump.ts'
import type {
  Admission,
  DumpRow,
  FlowCaller,
  FlowControl,
  FlowRequest,
  FlowSchemaStatusUpdate,
  MetricFamily,
} from './flow-control.ts'
import { bySchemaPrecedence, type FlowSchema, parseFlowSchema } from './flow-schema.ts'
import { FlowStats } from './flow-stats.ts'
import { PriorityLevel } from './level.ts'
import { metricFamilies } from './metrics.ts'
import { concurrencyLimits, type PriorityLevelConfig, parsePriorityLevel } from './priority-level.ts'
import { Turn } from './turn.ts'
import { catchAllName, type FlowSchemaObject, type PriorityLevelObject } from './types.ts'
import type { EstimateWork } from './work-estimate.ts'

export interface PriorityAndFairnessOptions {
  readonly clock: Clock
  /** A secret of this process: makes it unpredictable which flows share queues. */
  readonly salt: string
  /** Of all levels together; upstream: --max-requests-inflight plus --max-mutating-requests-inflight. */
  readonly serverSeats: number
  readonly waitLimitMs: number
  readonly estimateWork: EstimateWork
  /** `setImmediate` where there is an event loop. See `Turn`. */
  readonly endOfTurn?: (run: () => void) => void
}

/** Of the two flags, as kube-apiserver has them. */
export const defaultServerSeats: number = 400 + 200

/** A quarter of --request-timeout, at most one minute. */
export const waitLimitMsOf = (requestTimeoutMs: number): number => Math.min(requestTimeoutMs / 4, 60_000)

export class PriorityAndFairness implements FlowControl {
  readonly #options: PriorityAndFairnessOptions
  readonly #turn: Turn
  #levels = new Map<string, PriorityLevel>()
  #desired: ReadonlyMap<string, PriorityLevelConfig> = new Map()
  #classifier: Classifier
  #stats = new Map<string, FlowStats>()
  #fairFraction = 0
  #timer: Timer | undefined

  constructor(options: PriorityAndFairnessOptions) {
    this.#options = options
    this.#turn = new Turn(options.clock, options.endOfTurn)
    this.#divide(withMandatory(new Map()))
    this.#classifier = this.#route([])
  }

  admit(request: FlowRequest, caller: FlowCaller): Eventual<Admission> {
    const flow = this.#classifier.flowOf(request)
    const { level } = flow
    const work = this.#options.estimateWork(request.info, level.maxSeats, level.canWait)
    return level.admit(flow, request, work, caller)
  }

  configure(
    schemas: readonly FlowSchemaObject[],
    levels: readonly PriorityLevelObject[],
  ): readonly FlowSchemaStatusUpdate[] {
    const stored = parseLevels(levels)
    const found = (schema: FlowSchemaObject): boolean => stored.has(parseFlowSchema(schema).priorityLevelName)
    this.#divide(withMandatory(stored))
    this.#classifier = this.#route(schemas.filter(found).map(parseFlowSchema))
    const nowMs = this.#options.clock.now()
    return schemas
      .map((schema) => danglingUpdate(schema, found(schema), nowMs))
      .filter((update) => update !== undefined)
  }

  start(): void {
    this.#timer ??= this.#options.clock.after(adjustmentPeriodMs, () => {
      this.#timer = undefined
      this.#adjust()
      this.start()
    })
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  metrics(): readonly MetricFamily[] {
    const nowMs = this.#options.clock.monotonic()
    return metricFamilies({
      levels: this.#sortedLevels(),
      stats: [...this.#stats.values()],
      fairFraction: this.#fairFraction,
      nowMs,
    })
  }

  dumpPriorityLevels(): readonly DumpRow[] {
    return priorityLevelRows(this.#sortedLevels())
  }
  dumpQueues(): readonly DumpRow[] {
    return queueRows(this.#sortedLevels())
  }
  dumpRequests(includeDetails: boolean): readonly DumpRow[] {
    return requestRows(this.#sortedLevels(), includeDetails, this.#options.clock)
  }

  #sortedLevels(): PriorityLevel[] {
    return [...this.#levels.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** Makes, keeps and drops levels, and gives each its share of the seats. */
  #divide(desired: ReadonlyMap<string, PriorityLevelConfig>): void {
    const { serverSeats, clock, waitLimitMs } = this.#options
    this.#desired = desired
    const configs = new Map(desired)
    for (const [name, level] of this.#levels) {
      level.undesired = !desired.has(name)
      if (level.undesired && !level.queues.idle) configs.set(name, level.config)
    }
    let shareSum = 0
    for (const { nominalShares } of configs.values()) shareSum += nominalShares
    const levels = new Map<string, PriorityLevel>()
    for (const [name, config] of configs) {
      const known = this.#levels.get(name)
      const onDrained = (): void => this.#divide(this.#desired)
      const turn = this.#turn
      const level = known ?? new PriorityLevel(config, { clock, serverSeats, waitLimitMs, turn, onDrained })
      level.configure(config, concurrencyLimits(config, serverSeats, shareSum))
      levels.set(name, level)
    }
    this.#levels = levels
    this.#adjust()
  }

  #adjust(): void {
    const nowMs = this.#options.clock.monotonic()
    const levels = [...this.#levels.values()]
    let seats = 0
    for (const { limits } of levels) seats += limits.nominal
    const borrowers = levels.map(({ config, limits, demand }) => ({
      exempt: config.exempt,
      limits,
      demand: demand.endPeriod(nowMs),
    }))
    const adjustments = adjustLimits(borrowers, seats)
    this.#fairFraction = adjustments.fairFraction
    for (const [i, level] of levels.entries()) {
      const adjustment = adjustments.levels[i]
      if (adjustment !== undefined) level.adjust(adjustment)
    }
  }

  #route(schemas: readonly FlowSchema[]): Classifier {
    const stored = new Set(schemas.map(({ name }) => name))
    const imagined = mandatoryFlowSchemas.map(parseFlowSchema).filter(({ name }) => !stored.has(name))
    const stats = new Map<string, FlowStats>()
    const routes: Route[] = []
    for (const schema of [...schemas, ...imagined].sort(bySchemaPrecedence)) {
      const level = this.#levels.get(schema.priorityLevelName)
      if (level === undefined) continue
      const key = `${level.name} ${schema.name}`
      const counted = this.#stats.get(key) ?? new FlowStats(level.name, schema.name)
      stats.set(key, counted)
      routes.push({ schema, level, stats: counted })
    }
    for (const [key, counted] of this.#stats) if (!stats.has(key) && !counted.idle) stats.set(key, counted)
    this.#stats = stats
    const fallback = routes.find(({ schema }) => schema.name === catchAllName)
    if (fallback === undefined) throw new Error('there is no flow schema catch-all')
    return new Classifier({ routes, fallback, salt: this.#options.salt })
  }
}

/** By name; without those whose spec contradicts itself. */
function parseLevels(objects: readonly PriorityLevelObject[]): Map<string, PriorityLevelConfig> {
  const configs = new Map<string, PriorityLevelConfig>()
  for (const object of objects) {
    const config = parsePriorityLevel(object)
    if (config !== undefined) configs.set(config.name, config)
  }
  return configs
}

const withMandatory = (stored: ReadonlyMap<string, PriorityLevelConfig>): ReadonlyMap<string, PriorityLevelConfig> =>
  new Map([...parseLevels(mandatoryPriorityLevels), ...stored])
