/** What `borough populate` tells Prometheus. */
import prometheus, { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { type ShownTemplates, templateMetrics } from '../apis/templates/template-metrics.ts'
import { build } from '../http/build.ts'
import { collectProcessMetrics, instrumentsOf } from '../metrics/metrics.ts'

const buckets = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.5, 3, 5, 10]

export class PopulateMetrics {
  readonly #registry = new Registry()
  readonly #reconciles: Histogram<'controller' | 'result'>
  readonly #reviews: Histogram<'webhook' | 'answer'>
  readonly #requests: Counter<'method' | 'code'>
  readonly #leader: Gauge
  readonly #certificateEnd: Gauge
  readonly #registered: Gauge
  #templates: ShownTemplates = () => []

  constructor() {
    const registers = [this.#registry]
    collectProcessMetrics(prometheus, this.#registry)
    this.#reconciles = new Histogram({
      name: 'borough_reconcile_duration_seconds',
      help: 'How long controllers worked on one key, and what came of it.',
      labelNames: ['controller', 'result'] as const,
      buckets,
      registers,
    })
    this.#reviews = new Histogram({
      name: 'borough_population_webhook_duration_seconds',
      help: 'How long answers of the webhooks took: allowed, refused, or failed.',
      labelNames: ['webhook', 'answer'] as const,
      buckets,
      registers,
    })
    this.#requests = new Counter({
      name: 'borough_population_requests_total',
      help: 'Requests to the cluster by method and status code; `none` where no answer was had.',
      labelNames: ['method', 'code'] as const,
      registers,
    })
    this.#leader = new Gauge({
      name: 'borough_population_leader',
      help: '1 while this process runs the controllers.',
      registers,
    })
    this.#certificateEnd = new Gauge({
      name: 'borough_population_certificate_expiry_timestamp_seconds',
      help: 'When the serving certificate ends.',
      registers,
    })
    this.#registered = new Gauge({
      name: 'borough_population_registered',
      help: '1 while the cluster holds the policies and webhooks that this process would tell it.',
      registers,
    })
    templateMetrics(instrumentsOf(prometheus, this.#registry), () => this.#templates())
    new Gauge({
      name: 'borough_build_info',
      help: 'Always 1; the label says which build this is.',
      labelNames: ['version'] as const,
      registers,
    }).set({ version: build.version }, 1)
  }

  reconciled(controller: string, result: string, durationMs: number): void {
    this.#reconciles.observe({ controller, result }, durationMs / 1000)
  }

  reviewed(webhook: string, answer: 'allowed' | 'refused' | 'failed', durationMs: number): void {
    this.#reviews.observe({ webhook, answer }, durationMs / 1000)
  }

  /** @param status undefined: no answer was had */
  answered(method: string, status: number | undefined): void {
    this.#requests.inc({ method, code: String(status ?? 'none') })
  }

  set leading(leading: boolean) {
    this.#leader.set(leading ? 1 : 0)
  }

  set registered(registered: boolean) {
    this.#registered.set(registered ? 1 : 0)
  }

  set certificateEndMs(ms: number) {
    this.#certificateEnd.set(ms / 1000)
  }

  /** Of the replica that leads. */
  showTemplates(templates: ShownTemplates): void {
    this.#templates = templates
  }

  text(): Promise<string> {
    return this.#registry.metrics()
  }
}
