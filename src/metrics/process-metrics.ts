/**
 * What the library tells of any process, without what would wake one that rests: its percentiles of event loop lag take
 * a timer every 10 ms for as long as the process lives. How busy the loop was since the last scrape is said instead:
 * Node counts that anyway.
 */
import { performance } from 'node:perf_hooks'
import type { Gauge, Registry } from 'prom-client'

/** Once in 24 days: the longest a timer can be. */
const neverMs = 2 ** 31 - 1
/** They say nothing without that timer. */
const lagFigures = ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'].map((f) => `nodejs_eventloop_lag_${f}_seconds`)

export function collectProcessMetrics(prometheus: typeof import('prom-client'), registry: Registry): void {
  prometheus.collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: neverMs })
  for (const name of lagFigures) registry.removeSingleMetric(name)
  // The library watches collections of garbage for as long as the process lives, and with this metric the registry, all
  // that is measured by it, and so every control plane that was ever started here.
  const collections = registry.getSingleMetric('nodejs_gc_duration_seconds')
  if (collections !== undefined) Object.assign(collections, { registers: [] })
  let last = performance.eventLoopUtilization()
  const utilization: Gauge = new prometheus.Gauge({
    name: 'nodejs_eventloop_utilization',
    help: 'The share of time since the last scrape in which the event loop was busy.',
    aggregator: 'max',
    registers: [registry],
    collect() {
      const now = performance.eventLoopUtilization()
      utilization.set(performance.eventLoopUtilization(now, last).utilization)
      last = now
    },
  })
}
