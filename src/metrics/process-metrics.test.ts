import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
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

test('a registry that nothing uses any more is collected', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const registries = Array.from({ length: 5 }, () => {
    const registry = new prometheus.Registry()
    collectProcessMetrics(prometheus, registry)
    return new WeakRef(registry)
  })
  // What was looked at in a turn of the loop lives until its end.
  await new Promise(setImmediate)
  collect()
  expect(registries.filter((registry) => registry.deref() !== undefined)).toEqual([])
})
