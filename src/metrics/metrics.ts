/**
 * What the process tells Prometheus, under upstream's names where upstream has one. The library is loaded soon after the
 * start, or when somebody first asks.
 */
import type { Counter, Gauge, Histogram, Metric, Registry as PromRegistry } from 'prom-client'
import type { ObservedMutation } from '../apis/admissionpolicies/mutating.ts'
import type { ObservedCheck } from '../apis/admissionpolicies/validating.ts'
import type { TurnOutcome } from '../apis/initializers/turn-observer.ts'
import type { ObservedFault, ObservedJudgement } from '../apis/pods/security/admission.ts'
import type { ObservedCall } from '../apis/webhooks/call-hook.ts'
import type { Clock } from '../base/clock.ts'
import { andFinally, andThen } from '../base/eventual.ts'
import type { ApiResponse, Stage } from '../http/api.ts'
import type { BuildInfo } from '../http/version.ts'
import { auditCounters } from './group-metrics.ts'
import { type PodSecurityInstruments, podSecurityInstruments } from './pod-security-metrics.ts'
import { collectProcessMetrics } from './process-metrics.ts'
import { RequestDurations } from './request-durations.ts'

export { GroupMetrics, SharedMetrics } from './group-metrics.ts'
export { collectProcessMetrics } from './process-metrics.ts'

export interface Gauges {
  /** Creates of namespaces that wait for initializers. */
  heldCreates(): number
  /** Namespaces that wait right now, by initializer. */
  waitingFor(): ReadonlyMap<string, number>
  /** Of the storage, as this process sees it. */
  revision(): number
  /** Whether this process runs the controllers. */
  leading(): boolean
  /** Undefined where there is no audit log. */
  audit(): { readonly written: number; readonly dropped: number } | undefined
}

interface Instruments {
  readonly registry: PromRegistry
  readonly inFlight: Gauge<'request_kind'>
  readonly reconciles: Histogram<'controller' | 'result'>
  readonly turns: Histogram<'initializer' | 'outcome'>
  readonly turnFailures: Counter<'initializer' | 'reason'>
  readonly births: Counter
  readonly webhooks: WebhookInstruments
  readonly mutations: PolicyInstruments<MutationLabels>
  readonly checks: PolicyInstruments<MutationLabels | 'enforcement_action'>
  readonly podSecurity: PodSecurityInstruments
}

const mutationLabels = ['policy', 'policy_binding', 'error_type'] as const
type MutationLabels = (typeof mutationLabels)[number]

interface PolicyInstruments<Labels extends string> {
  readonly checks: Counter<Labels>
  readonly duration: Histogram<Labels>
}

type WebhookLabels = 'name' | 'type' | 'operation' | 'rejected'

interface WebhookInstruments {
  readonly duration: Histogram<WebhookLabels>
  readonly requests: Counter<WebhookLabels | 'code'>
  readonly rejections: Counter<'name' | 'type' | 'operation' | 'error_type' | 'rejection_code'>
  readonly failedOpen: Counter<'name' | 'type'>
}

const loadDelayMs = 500

/** Seconds: as kube-apiserver's, without its finest steps. */
const buckets = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.5, 2, 3, 5, 10, 30, 60]

/** Seconds: an initializer may be a quick write or somebody else's slow service. */
const turnBuckets = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600]

/** How turns end that count as failures of the initializer, and why. */
const failureReason: Partial<Record<TurnOutcome, string>> = {
  failed: 'reported',
  timeout: 'deadline',
  skipped: 'deadline',
}

export class Metrics {
  readonly #build: BuildInfo
  readonly #gauges: Gauges
  #loading: Promise<Instruments> | undefined
  #instruments: Instruments | undefined
  readonly #durations = new RequestDurations()
  #reads = 0
  #writes = 0

  constructor(build: BuildInfo, gauges: Gauges) {
    this.#build = build
    this.#gauges = gauges
  }

  /** Counts from a moment after the start on: what the library costs must not delay the first answer. */
  startSoon(clock: Clock): void {
    clock.after(loadDelayMs, () => void this.#load())
  }

  /** Outermost of all stages: what it sees is what the client saw. */
  get stage(): Stage {
    return (next) => (request, context) => {
      const began = performance.now()
      const isRead = request.method === 'GET' || request.method === 'HEAD'
      if (isRead) this.#reads++
      else this.#writes++
      const observed = (response: ApiResponse): ApiResponse => {
        // A watch lasts as long as its client likes: only its beginning is a latency.
        this.#durations.observe(context, response.status, performance.now() - began)
        return response
      }
      return andFinally(
        () => andThen(next(request, context), observed),
        () => {
          if (isRead) this.#reads--
          else this.#writes--
        },
      )
    }
  }

  reconciled(controller: string, result: string, durationMs: number): void {
    this.#instruments?.reconciles.observe({ controller, result }, durationMs / 1000)
  }

  turnEnded(initializer: string, outcome: TurnOutcome, durationMs: number): void {
    this.#instruments?.turns.observe({ initializer, outcome }, durationMs / 1000)
    const reason = failureReason[outcome]
    if (reason !== undefined) this.#instruments?.turnFailures.inc({ initializer, reason })
  }

  webhookCalled({ webhook: name, phase, operation, durationMs, code, outcome }: ObservedCall): void {
    const webhooks = this.#instruments?.webhooks
    if (webhooks === undefined) return
    const type = phase === 'mutating' ? 'admit' : 'validating'
    const isRejected = outcome === 'refused' || outcome === 'failedClosed'
    const labels = { name, type, operation, rejected: String(isRejected) }
    // A webhook chooses its code: beyond 600 they are one.
    const shownCode = String(Math.min(code, 600))
    webhooks.duration.observe(labels, durationMs / 1000)
    webhooks.requests.inc({ ...labels, code: shownCode })
    if (outcome === 'failedOpen') webhooks.failedOpen.inc({ name, type })
    if (!isRejected) return
    const errorType = outcome === 'refused' ? 'no_error' : 'calling_webhook_error'
    webhooks.rejections.inc({ name, type, operation, error_type: errorType, rejection_code: shownCode })
  }

  namespaceBorn(): void {
    this.#instruments?.births.inc()
  }

  policyMutated({ policy, binding, outcome, durationMs }: ObservedMutation): void {
    const labels = { policy, policy_binding: binding, error_type: outcome }
    this.#instruments?.mutations.checks.inc(labels)
    this.#instruments?.mutations.duration.observe(labels, durationMs / 1000)
  }

  policyChecked({ policy, binding, action, outcome, durationMs }: ObservedCheck): void {
    const labels = { policy, policy_binding: binding, error_type: outcome, enforcement_action: action }
    this.#instruments?.checks.checks.inc(labels)
    this.#instruments?.checks.duration.observe(labels, durationMs / 1000)
  }

  podJudged(judgement: ObservedJudgement): void {
    this.#instruments?.podSecurity.judged(judgement)
  }

  podJudgementFailed(fault: ObservedFault): void {
    this.#instruments?.podSecurity.failed(fault)
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

  #load(): Promise<Instruments> {
    this.#loading ??= this.#create()
    return this.#loading
  }

  async #create(): Promise<Instruments> {
    const prometheus = await import('prom-client')
    const registry = new prometheus.Registry()
    const registers = [registry]
    collectProcessMetrics(prometheus, registry)
    // Its registry asks a metric for no more than this.
    registry.registerMetric(this.#durations as unknown as Metric)
    registry.registerMetric(this.#durations.total as unknown as Metric)
    const inFlight = new prometheus.Gauge({
      name: 'apiserver_current_inflight_requests',
      help: 'Requests being worked on.',
      labelNames: ['request_kind'] as const,
      registers,
    })
    const reconciles = new prometheus.Histogram({
      name: 'borough_reconcile_duration_seconds',
      help: 'How long controllers worked on one key, and what came of it.',
      labelNames: ['controller', 'result'] as const,
      buckets,
      registers,
    })
    const turns = new prometheus.Histogram({
      name: 'borough_namespace_initializer_duration_seconds',
      help: 'How long the turns of initializers took, and how they ended.',
      labelNames: ['initializer', 'outcome'] as const,
      buckets: turnBuckets,
      registers,
    })
    const turnFailures = new prometheus.Counter({
      name: 'borough_namespace_initializer_failures_total',
      help: 'Turns that ended by a failure that the initializer reported, or at its deadline.',
      labelNames: ['initializer', 'reason'] as const,
      registers,
    })
    const births = new prometheus.Counter({
      name: 'borough_namespaces_born_populated_total',
      help: 'Namespaces that were stored together with what their templates hold.',
      registers,
    })
    const webhooks = webhookInstruments(prometheus, registers)
    const mutations = policyInstruments(prometheus, registers, {
      kind: 'mutating',
      what: 'mutations of mutating admission policies',
      labelNames: mutationLabels,
    })
    const checks = policyInstruments(prometheus, registers, {
      kind: 'validating',
      what: 'validations of validating admission policies',
      labelNames: [...mutationLabels, 'enforcement_action'] as const,
    })
    const podSecurity = podSecurityInstruments(prometheus, registers)
    const gauges = this.#gauges
    const waiting: Gauge<'initializer'> = new prometheus.Gauge({
      name: 'borough_namespaces_awaiting_initializer',
      help: 'Namespaces that wait for this initializer to act.',
      // Of several processes each sees all.
      aggregator: 'max',
      labelNames: ['initializer'] as const,
      registers,
      collect() {
        for (const [initializer, count] of gauges.waitingFor()) waiting.set({ initializer }, count)
      },
    })
    const held: Gauge = new prometheus.Gauge({
      name: 'borough_held_namespace_creates',
      help: 'Creates of namespaces that wait for initializers.',
      registers,
      collect: () => held.set(gauges.heldCreates()),
    })
    const revision: Gauge = new prometheus.Gauge({
      name: 'borough_storage_revision',
      help: 'The newest change this process has seen, as resourceVersion.',
      aggregator: 'min',
      registers,
      collect: () => revision.set(gauges.revision()),
    })
    const leading: Gauge = new prometheus.Gauge({
      name: 'borough_controllers_leading',
      help: '1 where the controllers run, 0 on replicas that would take over.',
      registers,
      collect: () => leading.set(gauges.leading() ? 1 : 0),
    })
    auditCounters(prometheus, registry, () => gauges.audit())
    const info = new prometheus.Gauge({
      name: 'borough_build_info',
      help: 'Always 1; the label says which build this is.',
      aggregator: 'first',
      labelNames: ['version'] as const,
      registers,
    })
    info.set({ version: this.#build.version }, 1)
    this.#instruments = {
      registry,
      inFlight,
      reconciles,
      turns,
      turnFailures,
      births,
      webhooks,
      mutations,
      checks,
      podSecurity,
    }
    return this.#instruments
  }
}

function policyInstruments<Labels extends string>(
  prometheus: typeof import('prom-client'),
  registers: PromRegistry[],
  { kind, what, labelNames }: { readonly kind: string; readonly what: string; readonly labelNames: readonly Labels[] },
): PolicyInstruments<Labels> {
  return {
    checks: new prometheus.Counter({
      name: `apiserver_${kind}_admission_policy_check_total`,
      help: `Counts ${what} that were evaluated, by what came of them.`,
      labelNames,
      registers,
    }),
    duration: new prometheus.Histogram({
      name: `apiserver_${kind}_admission_policy_check_duration_seconds`,
      help: `How long ${what} took.`,
      labelNames,
      buckets: [0.0000005, 0.001, 0.01, 0.1, 1],
      registers,
    }),
  }
}

function webhookInstruments(prometheus: typeof import('prom-client'), registers: PromRegistry[]): WebhookInstruments {
  return {
    duration: new prometheus.Histogram({
      name: 'apiserver_admission_webhook_admission_duration_seconds',
      help: 'How long admission webhooks took to answer.',
      labelNames: ['name', 'type', 'operation', 'rejected'] as const,
      buckets: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25],
      registers,
    }),
    requests: new prometheus.Counter({
      name: 'apiserver_admission_webhook_request_total',
      help: 'Questions to admission webhooks, by the code of the answer; 0 = none came.',
      labelNames: ['name', 'type', 'operation', 'code', 'rejected'] as const,
      registers,
    }),
    rejections: new prometheus.Counter({
      name: 'apiserver_admission_webhook_rejection_count',
      help: 'Requests refused by admission webhooks, or because one could not be asked.',
      labelNames: ['name', 'type', 'operation', 'error_type', 'rejection_code'] as const,
      registers,
    }),
    failedOpen: new prometheus.Counter({
      name: 'apiserver_admission_webhook_fail_open_count',
      help: 'Admission webhooks that could not be asked and were passed over.',
      labelNames: ['name', 'type'] as const,
      registers,
    }),
  }
}
