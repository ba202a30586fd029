import { describe, expect, it } from 'vitest'
import { FakeClock } from '../base/fake-clock.ts'
import type { ApiRequest } from './api.ts'
import { findHealthHandler, type HealthCheck, healthPaths, ping } from './health.ts'

const good: HealthCheck = { name: 'storage', check: async () => {} }
const bad: HealthCheck = {
  name: 'informer-sync',
  check: () => {
    throw new Error('the secret reason')
  },
}

function server(checks: readonly HealthCheck[]) {
  const failures: string[] = []
  const clock = new FakeClock()
  const deps = {
    clock,
    checks: { healthz: checks, livez: checks, readyz: checks },
    onFailure: (endpoint: string, check: string, error: unknown) => failures.push(`${endpoint} ${check} ${error}`),
  }
  return {
    clock,
    failures,
    paths: healthPaths(deps),
    async get(path: string, query = '') {
      const request = { method: 'GET', path, query, headers: {}, signal: new AbortController().signal }
      const response = await findHealthHandler(path, deps)?.(request as unknown as ApiRequest)
      return response && { status: response.status, text: Buffer.from(response.body as Uint8Array).toString() }
    },
  }
}

describe('health', () => {
  const cases: readonly {
    name: string
    given: readonly HealthCheck[]
    path: string
    query?: string
    want: { status: number; text: string } | undefined
  }[] = [
    {
      name: 'all well is ok, without a newline',
      given: [ping, good],
      path: '/healthz',
      want: { status: 200, text: 'ok' },
    },
    {
      name: 'verbose names every check in order',
      given: [ping, good],
      path: '/livez/',
      query: 'verbose',
      want: { status: 200, text: '[+]ping ok\n[+]storage ok\nlivez check passed\n' },
    },
    {
      name: 'a failure is always verbose and keeps its reason',
      given: [ping, bad, good],
      path: '/readyz',
      want: {
        status: 500,
        text: '[+]ping ok\n[-]informer-sync failed: reason withheld\n[+]storage ok\nreadyz check failed\n',
      },
    },
    {
      name: 'what is excluded is not asked',
      given: [ping, bad],
      path: '/readyz',
      query: 'verbose=1&exclude=informer-sync',
      want: { status: 200, text: '[+]ping ok\n[+]informer-sync excluded: ok\nreadyz check passed\n' },
    },
    {
      name: 'an exclusion that means nothing is told',
      given: [ping],
      path: '/readyz',
      query: 'verbose&exclude=nope&exclude=etcd',
      want: {
        status: 200,
        text:
          '[+]ping ok\nwarn: some health checks cannot be excluded: no matches for "etcd","nope"\nreadyz check ' +
          'passed\n',
      },
    },
    {
      name: 'one check has a path of its own',
      given: [ping, bad],
      path: '/livez/ping',
      want: { status: 200, text: 'ok' },
    },
    {
      name: 'and fails on its own',
      given: [ping, bad],
      path: '/livez/informer-sync',
      want: { status: 500, text: 'internal server error: reason withheld\n' },
    },
    { name: 'an unknown check is no path', given: [ping], path: '/livez/nope', want: undefined },
    { name: 'other paths are none of ours', given: [ping], path: '/metrics', want: undefined },
  ]
  it.each(cases)('$name', async ({ given, path, query, want }) => {
    expect(await server(given).get(path, query)).toEqual(want)
  })

  it('the reason of a failure reaches the operator', async () => {
    const s = server([bad])
    await s.get('/livez')
    expect(s.failures).toEqual(['livez informer-sync Error: the secret reason'])
  })

  it('a check that gives no answer has failed after a few seconds, and is told to give up', async () => {
    let given: AbortSignal | undefined
    const check = (signal: AbortSignal): Promise<void> => {
      given = signal
      return new Promise(() => undefined)
    }
    const s = server([good, { name: 'etcd', check }])
    const answer = s.get('/readyz')
    await s.clock.advance(4000)
    expect(await answer).toEqual({
      status: 500,
      text: '[+]storage ok\n[-]etcd failed: reason withheld\nreadyz check failed\n',
    })
    expect(s.failures).toEqual(['readyz etcd Error: no answer within 4 s'])
    expect(given?.aborted).toBe(true)
  })

  it('tells its paths', () => {
    expect(server([ping]).paths).toEqual([
      '/healthz',
      '/healthz/ping',
      '/livez',
      '/livez/ping',
      '/readyz',
      '/readyz/ping',
    ])
  })
})
