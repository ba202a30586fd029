/**
 * How long answers took, as a Prometheus histogram, and how many there were, as the counter that dashboards and alerts
 * for Kubernetes ask for. Counted here and not in the library, which spends more on finding a
 * series than a small request spends on authorization; the library prints what `get` answers.
 */
import type { RequestContext } from '../http/api.ts'

/** Seconds: as kube-apiserver's, without its finest steps. */
const bounds: readonly number[] = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.5, 2, 3, 5, 10, 30, 60]

type Labels = Readonly<Record<'verb' | 'group' | 'version' | 'resource' | 'subresource' | 'scope' | 'code', string>>

interface Series {
  readonly labels: Labels
  /** One per bound, and one for what took longer than all. */
  readonly counts: Uint32Array
  sumSeconds: number
}

/** What the library asks of a metric. */
export interface PrintedMetric {
  readonly name: string
  get(): Promise<{
    readonly name: string
    readonly help: string
    readonly type: string
    readonly aggregator: string
    readonly values: readonly Sample[]
  }>
}

interface Sample {
  readonly metricName: string
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
}

export class RequestDurations {
  readonly name = 'apiserver_request_duration_seconds'
  readonly help = 'How long answers took, by verb, resource and code.'
  readonly type = 'histogram'
  /** How those of several processes become one. */
  readonly aggregator = 'sum'
  readonly #series = new Map<string, Series>()
  readonly total: PrintedMetric = {
    name: 'apiserver_request_total',
    get: async () => ({
      name: 'apiserver_request_total',
      help: 'How many answers there were, by verb, resource and code.',
      type: 'counter',
      aggregator: 'sum',
      values: [...this.#series.values()].map(totalOf),
    }),
  }

  observe({ info }: Pick<RequestContext, 'info'>, code: number, durationMs: number): void {
    // Resources that are not served must not become a label: clients can make up names.
    const known = info.isResource && code !== 404 && code !== 403
    const scope = known ? scopeOf(info) : ''
    const resource = known ? `${info.group}/${info.version}/${info.resource}/${info.subresource}` : ''
    const key = `${info.isResource ? info.verb : ''} ${resource} ${scope} ${code}`
    let series = this.#series.get(key)
    if (series === undefined) {
      series = { labels: labelsOf(info, known, scope, code), counts: new Uint32Array(bounds.length + 1), sumSeconds: 0 }
      this.#series.set(key, series)
    }
    const seconds = durationMs / 1000
    let at = 0
    while (at < bounds.length && seconds > (bounds[at] ?? 0)) at++
    series.counts[at] = (series.counts[at] ?? 0) + 1
    series.sumSeconds += seconds
  }

  /** As the library's own histograms answer it. */
  async get(): Promise<{ name: string; help: string; type: string; aggregator: string; values: readonly Sample[] }> {
    const { name, help, type, aggregator } = this
    return {
      name,
      help,
      type,
      aggregator,
      values: [...this.#series.values()].flatMap((series) => samplesOf(name, series)),
    }
  }
}

function totalOf({ labels, counts }: Series): Sample {
  let value = 0
  for (const count of counts) value += count
  return { metricName: 'apiserver_request_total', labels: { ...labels, component: 'apiserver' }, value }
}

function samplesOf(name: string, { labels, counts, sumSeconds }: Series): Sample[] {
  const samples: Sample[] = []
  let total = 0
  for (const [at, count] of counts.entries()) {
    total += count
    samples.push({ metricName: `${name}_bucket`, labels: { ...labels, le: bounds[at] ?? '+Inf' }, value: total })
  }
  samples.push({ metricName: `${name}_sum`, labels, value: sumSeconds })
  samples.push({ metricName: `${name}_count`, labels, value: total })
  return samples
}

/** As kube-apiserver calls them. */
const printedVerbs: Readonly<Record<string, string>> = { create: 'POST', update: 'PUT' }

function labelsOf(info: RequestContext['info'], known: boolean, scope: string, code: number): Labels {
  return {
    verb: info.isResource ? (printedVerbs[info.verb] ?? info.verb.toUpperCase()) : 'OTHER',
    group: known ? info.group : '',
    version: known ? info.version : '',
    resource: known ? info.resource : '',
    subresource: known ? info.subresource : '',
    scope,
    code: String(code),
  }
}

/** As kube-apiserver says it: who creates has one object in mind. */
function scopeOf({ namespace, name, verb }: RequestContext['info']): string {
  if (name !== '' || verb === 'create') return 'resource'
  return namespace === '' ? 'cluster' : 'namespace'
}
