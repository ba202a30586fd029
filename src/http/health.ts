/**
 * `/healthz`, `/livez`, `/readyz` and one path below them for each check. Anonymous callers may read these, so the
 * reason of a failure goes to `onFailure` and never into the answer.
 * @see k8s.io/apiserver/pkg/server/healthz v0.36
 */

import type { Clock } from '../base/clock.ts'
import { trimSlashes } from '../base/trim-slashes.ts'
import { methodNotAllowed } from '../kube/status-error.ts'
import { authenticatedGroup } from '../kube/user.ts'
import type { ApiRequest, ApiResponse, RequestContext } from './api.ts'

export type HealthEndpoint = 'healthz' | 'livez' | 'readyz'

export interface HealthCheck {
  /** `ping`, `storage`, `poststarthook/bootstrap` */
  readonly name: string
  /** Throws if unhealthy. Must give up when the signal aborts. */
  check(signal: AbortSignal): void | Promise<void>
  /** What is wrong although requests can be served, one line each: told at length, by name to known users alone. */
  warnings?(): readonly string[]
}

export interface HealthDeps {
  readonly clock: Pick<Clock, 'after'>
  readonly checks: Readonly<Record<HealthEndpoint, readonly HealthCheck[]>>
  readonly onFailure: (endpoint: HealthEndpoint, check: string, error: unknown) => void
}

/** The check that says: the process answers. */
export const ping: HealthCheck = { name: 'ping', check() {} }

type Caller = Pick<RequestContext, 'user'>

interface Outcome {
  readonly name: string
  readonly healthy: boolean
}

/** The handler of a path; undefined if there is no such endpoint or check. It looks at nothing but the request. */
export function findHealthHandler(
  path: string,
  deps: HealthDeps,
): ((request: ApiRequest, context?: Caller) => Promise<ApiResponse>) | undefined {
  const trimmed = trimSlashes(path)
  const slash = trimmed.indexOf('/')
  const endpoint = slash < 0 ? trimmed : trimmed.slice(0, slash)
  if (!isEndpoint(endpoint)) return undefined
  if (slash < 0) return (request, context) => respondAll(endpoint, request, context, deps)
  const check = deps.checks[endpoint].find((c) => c.name === trimmed.slice(slash + 1))
  return check && ((request) => respondOne(endpoint, check, request, deps))
}

/** Every path above, for the answer to an unknown one. */
export function healthPaths(deps: HealthDeps): readonly string[] {
  return Object.entries(deps.checks).flatMap(([endpoint, checks]) => [
    `/${endpoint}`,
    ...checks.map((c) => `/${endpoint}/${c.name}`),
  ])
}

/** Who asks gives up himself after a while, and would learn nothing. */
const patienceMs = 4000

/** Told of one check. */
const maxWarnings = 100

const isEndpoint = (text: string): text is HealthEndpoint => text === 'healthz' || text === 'livez' || text === 'readyz'

async function respondAll(
  endpoint: HealthEndpoint,
  request: ApiRequest,
  caller: Caller | undefined,
  deps: HealthDeps,
): Promise<ApiResponse> {
  requireGet(request)
  const query = new URLSearchParams(request.query)
  const excluded = new Set(query.getAll('exclude'))
  const checks = deps.checks[endpoint]
  const outcomes = await Promise.all(
    checks.filter((c) => !excluded.has(c.name)).map((c) => run(endpoint, c, request.signal, deps)),
  )
  const names = caller?.user.groups.includes(authenticatedGroup) === true
  const { status, text } = report(endpoint, checks, outcomes, excluded, query.has('verbose'), names)
  return plainText(status, text)
}

/** What the endpoint says about these outcomes. Failure is always told at length. */
function report(
  endpoint: HealthEndpoint,
  checks: readonly HealthCheck[],
  outcomes: readonly Outcome[],
  excluded: ReadonlySet<string>,
  verbose: boolean,
  names: boolean,
): { readonly status: number; readonly text: string } {
  const failed = new Set(outcomes.filter((o) => !o.healthy).map((o) => o.name))
  if (failed.size === 0 && !verbose) return { status: 200, text: 'ok' }
  const lines = checks.flatMap(({ name, warnings }) => {
    if (excluded.has(name)) return `[+]${name} excluded: ok`
    if (failed.has(name)) return `[-]${name} failed: reason withheld`
    const warned = warnings?.() ?? []
    if (warned.length === 0) return `[+]${name} ok`
    const told = names ? warned.slice(0, maxWarnings).map((warning) => `warn: ${warning}`) : []
    return [`[+]${name} ok, with ${warned.length} warnings`, ...told]
  })
  const unknown = [...excluded].filter((name) => !checks.some((c) => c.name === name)).sort()
  if (unknown.length > 0) {
    const names = unknown.map((name) => JSON.stringify(name)).join(',')
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names}`)
  }
  lines.push(`${endpoint} check ${failed.size > 0 ? 'failed' : 'passed'}`)
  return { status: failed.size > 0 ? 500 : 200, text: `${lines.join('\n')}\n` }
}

async function respondOne(
  endpoint: HealthEndpoint,
  check: HealthCheck,
  request: ApiRequest,
  deps: HealthDeps,
): Promise<ApiResponse> {
  requireGet(request)
  const { healthy } = await run(endpoint, check, request.signal, deps)
  return healthy ? plainText(200, 'ok') : plainText(500, 'internal server error: reason withheld\n')
}

async function run(
  endpoint: HealthEndpoint,
  check: HealthCheck,
  signal: AbortSignal,
  deps: HealthDeps,
): Promise<Outcome> {
  const late = new AbortController()
  const { promise: tooLate, reject } = Promise.withResolvers<never>()
  const timer = deps.clock.after(patienceMs, () => {
    reject(new Error(`no answer within ${patienceMs / 1000} s`))
    late.abort()
  })
  try {
    await Promise.race([check.check(AbortSignal.any([signal, late.signal])), tooLate])
    return { name: check.name, healthy: true }
  } catch (error) {
    deps.onFailure(endpoint, check.name, error)
    return { name: check.name, healthy: false }
  } finally {
    timer.cancel()
  }
}

function requireGet(request: ApiRequest): void {
  if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed()
}

function plainText(status: number, text: string): ApiResponse {
  return {
    status,
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-cache, private',
    },
    body: new TextEncoder().encode(text),
  }
}
