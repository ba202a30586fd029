/**
 * The metrics of a group of workers as those of one server: whichever worker is asked, the answer is of all of them.
 * What they count is added up; of what each of them only sees (the newest revision, who waits) one value is given.
 *
 *   scrape ──▶ a worker ──▶ primary ──▶ every worker ──▶ primary adds up, and its own ──▶ the worker ──▶ answer
 *
 * Invariant: a counter never falls. What a worker that died had counted, as far as it was ever reported, stays in the
 * sum.
 */
import type { MetricObjectWithValues, MetricValue, Registry as PromRegistry } from 'prom-client'
import { type Clock, sleep } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { RelayPort } from '../base/relay-port.ts'
import type { FeatureParts } from '../feature/feature.ts'
import { instrumentsOf } from './instruments.ts'
import { collectProcessMetrics } from './process-metrics.ts'

type Figures = readonly MetricObjectWithValues<MetricValue<string>>[]

type FromWorker =
  /** From now on it answers. */
  { readonly serves: true } | { readonly scrape: number } | { readonly collected: number; readonly figures: Figures }
/** Without a text it could not be had; the primary has said why. */
type ToWorker = { readonly scraped: number; readonly text: string | undefined } | { readonly collect: number }

/** A worker that does not answer in this time is counted as when it last did. */
const patienceMs = 3_000

/** In a worker. */
export class SharedMetrics {
  readonly #port: RelayPort
  readonly #waiting = new Map<number, (text: string | undefined) => void>()
  #scrapes = 0

  /** `own`: of this process. */
  constructor(port: RelayPort, own: () => Promise<unknown>, log: Log) {
    this.#port = port
    port.send({ serves: true } satisfies FromWorker)
    port.onMessage((message) => {
      const told = message as ToWorker
      if ('scraped' in told) {
        this.#waiting.get(told.scraped)?.(told.text)
        this.#waiting.delete(told.scraped)
        return
      }
      own().then(
        (figures) => port.send({ collected: told.collect, figures }),
        (error: unknown) => log.error({ error }, 'the metrics of this worker could not be told'),
      )
    })
  }

  /** Of the whole group, for Prometheus. */
  async text(): Promise<string> {
    const scrape = ++this.#scrapes
    const text = await new Promise<string | undefined>((resolve) => {
      this.#waiting.set(scrape, resolve)
      this.#port.send({ scrape } satisfies FromWorker)
    })
    if (text === undefined) throw new Error('the primary could not add up the metrics')
    return text
  }
}

interface Member {
  readonly port: RelayPort
  last: Figures
  readonly asked: Map<number, () => void>
}

export interface GroupMetricsOptions {
  readonly clock: Clock
  readonly log: Log
  /** Of the primary, which writes the log; undefined where there is none. */
  readonly audit: () => { readonly written: number; readonly dropped: number } | undefined
  /** What only the primary knows. */
  readonly parts: readonly Pick<FeatureParts, 'metrics'>[]
}

/** In the primary. */
export class GroupMetrics {
  readonly #options: GroupMetricsOptions
  readonly #members = new Set<Member>()
  /** What those that are gone had counted. */
  #gone: Figures = []
  #folding = Promise.resolve()
  #asks = 0
  #own: Promise<PromRegistry> | undefined

  constructor(options: GroupMetricsOptions) {
    this.#options = options
  }

  /** Until the worker is gone. */
  join(port: RelayPort): void {
    const member: Member = { port, last: [], asked: new Map() }
    port.onMessage((message) => {
      const told = message as FromWorker
      if ('serves' in told) this.#members.add(member)
      else if ('scrape' in told) void this.#answer(member, told.scrape)
      else {
        member.last = told.figures
        member.asked.get(told.collected)?.()
        member.asked.delete(told.collected)
      }
    })
    port.onClose(() => {
      this.#members.delete(member)
      for (const answered of member.asked.values()) answered()
      this.#gone = [...this.#gone, ...member.last.filter(isCounted)]
      this.#folding = this.#folding.then(() => this.#fold())
    })
  }

  /** However many die one after the other, what is kept of them is that of one. */
  async #fold(): Promise<void> {
    const before = this.#gone
    try {
      const { AggregatorRegistry } = await import('prom-client')
      const folded = await AggregatorRegistry.aggregate([before as object[]]).getMetricsAsJSON()
      this.#gone = [...folded, ...this.#gone.slice(before.length)]
    } catch (error) {
      this.#options.log.error({ error }, 'the metrics of a worker that died could not be added up')
    }
  }

  async #answer(member: Member, scrape: number): Promise<void> {
    try {
      member.port.send({ scraped: scrape, text: await this.#text() } satisfies ToWorker)
    } catch (error) {
      this.#options.log.error({ error }, 'the metrics of the workers could not be added up')
      member.port.send({ scraped: scrape, text: undefined } satisfies ToWorker)
    }
  }

  async #text(): Promise<string> {
    await Promise.all([...this.#members].map((member) => this.#collect(member)))
    const { AggregatorRegistry } = await import('prom-client')
    const own = await (await this.#ownRegistry()).getMetricsAsJSON()
    const all = [own, ...[...this.#members].map(({ last }) => last), this.#gone]
    return AggregatorRegistry.aggregate(all as object[]).metrics()
  }

  async #collect(member: Member): Promise<void> {
    const ask = ++this.#asks
    const late = new AbortController()
    const answered = new Promise<void>((resolve) => {
      member.asked.set(ask, () => {
        late.abort()
        resolve()
      })
    })
    member.port.send({ collect: ask } satisfies ToWorker)
    await Promise.race([answered, sleep(this.#options.clock, patienceMs, late.signal)])
    member.asked.delete(ask)
  }

  #ownRegistry(): Promise<PromRegistry> {
    this.#own ??= this.#create()
    return this.#own
  }

  async #create(): Promise<PromRegistry> {
    const prometheus = await import('prom-client')
    const registry = new prometheus.Registry()
    collectProcessMetrics(prometheus, registry)
    auditCounters(prometheus, registry, this.#options.audit)
    const instruments = instrumentsOf(prometheus, registry)
    for (const { metrics } of this.#options.parts) metrics?.(instruments)
    return registry
  }
}

/** Of a log that may be written elsewhere: nothing where there is none. */
export function auditCounters(
  prometheus: typeof import('prom-client'),
  registry: PromRegistry,
  counts: GroupMetricsOptions['audit'],
): void {
  if (counts() === undefined) return
  const counted = (name: string, help: string, count: () => number): void => {
    const counter = new prometheus.Counter({
      name,
      help,
      registers: [registry],
      collect() {
        counter.reset()
        counter.inc(count())
      },
    })
  }
  counted('apiserver_audit_event_total', 'Events written to the audit log.', () => counts()?.written ?? 0)
  counted('apiserver_audit_error_total', 'Audit events lost.', () => counts()?.dropped ?? 0)
}

const isCounted = ({ type }: Figures[number]): boolean => ['counter', 'histogram', 'summary'].includes(String(type))
