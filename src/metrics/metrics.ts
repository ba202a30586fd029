/**
 * What the process tells Prometheus, under upstream's names where upstream has one. The library is loaded soon after
 * the start, or at the first scrape.
 */
import type { Gauge, Histogram, Metric, Registry as PromRegistry } from 'prom-client'
import type { Clock } from '../base/clock.ts'
import { andFinally } from '../base/eventual.ts'
import type { FeatureParts, Instruments } from '../feature/feature.ts'
import type { ApiRequest, RequestContext, Stage } from '../http/api.ts'
import type { BuildInfo } from '../http/version.ts'
import { auditCounters } from './group-metrics.ts'
import { instrumentsOf } from './instruments.ts'
import { type LoopBlock, labelsOf } from './loop-blocks.ts'
import { collectProcessMetrics } from './process-metrics.ts'
import { RequestDurations } from './request-durations.ts'

export { GroupMetrics, SharedMetrics } from './group-metrics.ts'
export { instrumentsOf } from './instruments.ts'
export { type Culprit, type LoopBlock, LoopBlocks } from './loop-blocks.ts'
export { collectProcessMetrics } from './process-metrics.ts'

export interface Sources {
  /** Of the features. */
  readonly parts: readonly FeatureParts[]
  /** Told that work on a request begins. */
  begins(request: ApiRequest, context: RequestContext): void
  readonly cache: {
    /** Of the storage, as this process sees it. */
    readonly revision: number
    /** What the present state of the store takes in this process. */
    memory(): CacheFigures
  }
  /** Whether this process runs the controllers. */
  leading(): boolean
  /** How often each bound that protects the server was reached. */
  bounds(): Iterable<readonly [bound: string, times: number]>
  /** How many evaluations of expressions were too costly for this thread, by what they were for. */
  evaluations(): Iterable<readonly [purpose: string, times: number]>
  /** Undefined where there is no audit log. */
  audit(): { readonly written: number; readonly dropped: number } | undefined
}

export interface CacheFigures {
  readonly objects: number
  readonly unfetched: number
  readonly replaced: number
  readonly bytes: Readonly<Record<string, number>>
}

interface Own {
  readonly registry: PromRegistry
  readonly inFlight: Gauge<'request_kind'>
  readonly reconciles: Histogram<'controller' | 'result'>
  readonly blocks: Histogram<'verb' | 'resource'>
}

const loadDelayMs = 500

/** Seconds: as kube-apiserver's, without its finest steps. */
const buckets = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.5, 2, 3, 5, 10, 30, 60]

/** Seconds: no piece should pass the second bound. */
const blockBuckets = [0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

export class Metrics {
  readonly #build: BuildInfo
  readonly #sources: Sources
  #loading: Promise<Own> | undefined
  #own: Own | undefined
  readonly #durations = new RequestDurations()
  #reads = 0
  #writes = 0

  constructor(build: BuildInfo, sources: Sources) {
    this.#build = build
    this.#sources = sources
  }

  /** Counts from a moment after the start on: what the library costs must not delay the first answer. */
  startSoon(clock: Clock): void {
    clock.after(loadDelayMs, () => void this.#load())
  }

  /** Outermost of all stages: what it sees is what the client saw. */
  get stage(): Stage {
    return (next) => (request, context) => {
      const began = performance.now()
      this.#sources.begins(request, context)
      const isRead = request.method === 'GET' || request.method === 'HEAD'
      if (isRead) this.#reads++
      else this.#writes++
      return andFinally(
        () => next(request, context),
        (response) => {
          if (isRead) this.#reads--
          else this.#writes--
          // A watch lasts as long as its client likes: only its beginning is a latency.
          if (response !== undefined) this.#durations.observe(context, response.status, performance.now() - began)
        },
      )
    }
  }

  loopBlocked({ culprit, heldMs }: LoopBlock): void {
    this.#own?.blocks.observe(labelsOf(culprit), heldMs / 1000)
  }

  reconciled(controller: string, result: string, durationMs: number): void {
    this.#own?.reconciles.observe({ controller, result }, durationMs / 1000)
  }

  async text(): Promise<string> {
    return (await this.#settled()).metrics()
  }

  /** To be added to those of other processes. */
  async figures(): Promise<unknown> {
    return (await this.#settled()).getMetricsAsJSON()
  }

  async #settled(): Promise<PromRegistry> {
    const { registry, inFlight } = await this.#load()
    inFlight.set({ request_kind: 'readOnly' }, this.#reads)
    inFlight.set({ request_kind: 'mutating' }, this.#writes)
    return registry
  }

  #load(): Promise<Own> {
    this.#loading ??= this.#create()
    return this.#loading
  }

  async #create(): Promise<Own> {
    const prometheus = await import('prom-client')
    const registry = new prometheus.Registry()
    collectProcessMetrics(prometheus, registry)
    // Its registry asks a metric for no more than this.
    registry.registerMetric(this.#durations as unknown as Metric)
    registry.registerMetric(this.#durations.total as unknown as Metric)
    const instruments = instrumentsOf(prometheus, registry)
    const inFlight = instruments.gauge({
      name: 'apiserver_current_inflight_requests',
      help: 'Requests being worked on.',
      labels: ['request_kind'],
    })
    const reconciles = instruments.histogram({
      name: 'borough_reconcile_duration_seconds',
      help: 'How long controllers worked on one key, and what came of it.',
      labels: ['controller', 'result'],
      buckets,
    })
    const blocks = instruments.histogram({
      name: 'borough_loop_block_seconds',
      help: 'Pieces of work that held the event loop for 10 ms of the processor and more, collections apart.',
      labels: ['verb', 'resource', 'controller'],
      buckets: blockBuckets,
    })
    const { parts, cache, leading, bounds, evaluations, audit } = this.#sources
    for (const { metrics } of parts) metrics?.(instruments)
    instruments.gauge({
      name: 'borough_storage_revision',
      help: 'The newest change this process has seen, as resourceVersion.',
      aggregator: 'min',
      collect: (gauge) => gauge.set(cache.revision),
    })
    cacheGauges(instruments, cache)
    instruments.gauge({
      name: 'borough_controllers_leading',
      help: '1 where the controllers run, 0 on replicas that would take over.',
      collect: (gauge) => gauge.set(leading() ? 1 : 0),
    })
    countsBy(prometheus, registry, bounds, {
      name: 'borough_bounds_reached_total',
      help: 'Requests, answers and connections that were refused or ended to protect the server, by the bound.',
      label: 'bound',
    })
    countsBy(prometheus, registry, evaluations, {
      name: 'borough_expressions_offloaded_total',
      help: 'Evaluations of expressions that cost too much for the main thread and were done by another.',
      label: 'purpose',
    })
    auditCounters(prometheus, registry, audit)
    instruments
      .gauge({
        name: 'borough_build_info',
        help: 'Always 1; the label says which build this is.',
        aggregator: 'first',
        labels: ['version'],
      })
      .set({ version: this.#build.version }, 1)
    this.#own = { registry, inFlight, reconciles, blocks }
    return this.#own
  }
}

function cacheGauges(instruments: Instruments, cache: Sources['cache']): void {
  instruments.gauge({
    name: 'borough_cache_objects',
    help: 'Objects in the watch cache, by what is in memory of them.',
    labels: ['in_memory'],
    collect(gauge) {
      const { objects, unfetched, replaced } = cache.memory()
      gauge.set({ in_memory: 'value' }, objects - unfetched)
      gauge.set({ in_memory: 'key' }, unfetched)
      gauge.set({ in_memory: 'replaced' }, replaced)
    },
  })
  instruments.gauge({
    name: 'borough_cache_bytes',
    help: 'Memory of the watch cache, by part.',
    labels: ['part'],
    collect(gauge) {
      for (const [part, bytes] of Object.entries(cache.memory().bytes)) gauge.set({ part }, bytes)
    },
  })
}

/** What is counted elsewhere. */
function countsBy(
  prometheus: typeof import('prom-client'),
  registry: PromRegistry,
  read: () => Iterable<readonly [value: string, times: number]>,
  { name, help, label }: { readonly name: string; readonly help: string; readonly label: string },
): void {
  const counter = new prometheus.Counter({
    name,
    help,
    labelNames: [label],
    registers: [registry],
    collect() {
      counter.reset()
      for (const [value, times] of read()) counter.inc({ [label]: value }, times)
    },
  })
}
