/** The library's instruments, as features are handed them. */
import type { Gauge, Metric, Registry as PromRegistry } from 'prom-client'
import type { GaugeOptions, InstrumentOptions, Instruments } from '../feature/feature.ts'
import { familyMetric } from './read-families.ts'

export function instrumentsOf(prometheus: typeof import('prom-client'), registry: PromRegistry): Instruments {
  const registers = [registry]
  const common = <L extends string>({ name, help, labels = [] }: InstrumentOptions<L>) => ({
    name,
    help,
    labelNames: labels,
    registers,
  })
  return {
    counter: (options) => new prometheus.Counter(common(options)),
    families: (read) => {
      for (const { name } of read()) registry.registerMetric(familyMetric(name, read) as unknown as Metric)
    },
    histogram: (options) => new prometheus.Histogram({ ...common(options), buckets: [...options.buckets] }),
    gauge<L extends string>({ aggregator, collect, ...options }: GaugeOptions<L>): Gauge<L> {
      const gauge: Gauge<L> = new prometheus.Gauge({
        ...common(options),
        ...(aggregator === undefined ? {} : { aggregator }),
        ...(collect === undefined ? {} : { collect: () => collect(gauge) }),
      })
      return gauge
    },
  }
}
