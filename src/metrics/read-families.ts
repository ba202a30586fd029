/** Families of figures that a feature counts itself, in the shape that the library prints. */
import type { Buckets, ReadFamily } from '../feature/feature.ts'
import type { PrintedMetric } from './request-durations.ts'

type Sample = Awaited<ReturnType<PrintedMetric['get']>>['values'][number]

/** The family of that name among those that `read` answers when metrics are asked for. */
export function familyMetric(name: string, read: () => readonly ReadFamily[]): PrintedMetric {
  return {
    name,
    async get() {
      const family = read().find((found) => found.name === name)
      if (family === undefined) throw new Error(`there is no family ${name} any more`)
      const { help, type, samples } = family
      return { name, help, type, aggregator: 'sum', values: samples.flatMap((sample) => valuesOf(name, sample)) }
    },
  }
}

function valuesOf(name: string, { labels, value }: ReadFamily['samples'][number]): Sample[] {
  return typeof value === 'number' ? [{ metricName: name, labels, value }] : bucketsOf(name, labels, value)
}

function bucketsOf(name: string, labels: Sample['labels'], { buckets, sum, count }: Buckets): Sample[] {
  const metricName = `${name}_bucket`
  return [
    ...buckets.map(([le, value]) => ({ metricName, labels: { ...labels, le }, value })),
    { metricName, labels: { ...labels, le: '+Inf' }, value: count },
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ]
}
