import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { parseRequestInfo } from '../http/request-info.ts'
import { RequestDurations } from './request-durations.ts'

const printed = async (durations: RequestDurations): Promise<string[]> => {
  const registry = new Registry()
  registry.registerMetric(durations as unknown as Parameters<Registry['registerMetric']>[0])
  return (await registry.metrics()).trim().split('\n')
}
const get = { info: parseRequestInfo('GET', '/api/v1/namespaces/a/pods/b', '') }

test('requests are counted in every bucket that they fit in', async () => {
  const durations = new RequestDurations()
  for (const ms of [5, 6, 400, 61_000]) durations.observe(get, 200, ms)
  const lines = await printed(durations)
  const labels = 'verb="GET",group="",version="v1",resource="pods",subresource="",scope="resource",code="200"'
  const name = 'apiserver_request_duration_seconds'
  expect(lines.slice(0, 2)).toEqual([
    `# HELP ${name} How long answers took, by verb, resource and code.`,
    `# TYPE ${name} histogram`,
  ])
  const bucket = (le: string): string | undefined =>
    lines.find((l) => l.includes(`le="${le}"`) && l.includes(labels))?.split(' ')[1]
  expect(['0.005', '0.025', '0.2', '0.4', '60', '+Inf'].map(bucket)).toEqual(['1', '2', '2', '3', '3', '4'])
  expect(lines).toContain(`${name}_count{${labels}} 4`)
  expect(lines.find((l) => l.startsWith(`${name}_sum`))).toBe(`${name}_sum{${labels}} 61.411`)
})

test.each([
  ['a refusal', 403],
  ['what is not there', 404],
])('names that anybody can make up are no labels: %s', async (_, code) => {
  const durations = new RequestDurations()
  for (const name of ['x', 'y']) {
    durations.observe({ info: parseRequestInfo('GET', `/apis/${name}.io/v1/${name}`, '') }, code, 1)
  }
  const series = (await printed(durations)).filter((l) => l.includes('_count'))
  expect(series).toEqual([
    `apiserver_request_duration_seconds_count{verb="LIST",group="",version="",resource="",` +
      `subresource="",scope="",code="${code}"} ` +
      '2',
  ])
})

test('answers are counted as kube-apiserver counts them, by its verbs', async () => {
  const durations = new RequestDurations()
  const requests = [
    ['POST', '/api/v1/namespaces/a/pods', 201],
    ['POST', '/api/v1/namespaces/b/pods', 201],
    ['PUT', '/api/v1/namespaces/a/pods/x', 200],
    ['DELETE', '/api/v1/namespaces/a/pods', 200],
  ] as const
  for (const [method, path, code] of requests) durations.observe({ info: parseRequestInfo(method, path, '') }, code, 1)
  const registry = new Registry()
  registry.registerMetric(durations.total as unknown as Parameters<Registry['registerMetric']>[0])
  const rest = 'group="",version="v1",resource="pods",subresource=""'
  expect((await registry.metrics()).trim().split('\n')).toEqual([
    '# HELP apiserver_request_total How many answers there were, by verb, resource and code.',
    '# TYPE apiserver_request_total counter',
    `apiserver_request_total{verb="POST",${rest},scope="resource",code="201",component="apiserver"} 2`,
    `apiserver_request_total{verb="PUT",${rest},scope="resource",code="200",component="apiserver"} 1`,
    `apiserver_request_total{verb="DELETECOLLECTION",${rest},scope="namespace",code="200",component="apiserver"} 1`,
  ])
})
