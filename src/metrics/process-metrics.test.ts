import * as prometheus from 'prom-client'
import { expect, test } from 'vitest'
import { collectProcessMetrics } from './process-metrics.ts'

test('the process is told of, without figures that need a timer which never rests', async () => {
  const registry = new prometheus.Registry()
  collectProcessMetrics(prometheus, registry)
  const text = await registry.metrics()
  const [, utilization] = /^nodejs_eventloop_utilization (\S+)$/m.exec(text) ?? []
  expect(Number(utilization)).toBeGreaterThanOrEqual(0)
  expect(Number(utilization)).toBeLessThanOrEqual(1)
  expect(text).toMatch(/^process_cpu_seconds_total /m)
  expect(text).toMatch(/^nodejs_eventloop_lag_seconds /m)
  expect(text).not.toMatch(/lag_p99/)
})
