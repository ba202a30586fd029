/** The webhooks, health and metrics as one function from request to answer; `http/node.ts` puts it on a socket. */
import { type AdmissionVerdict, answerText, readAdmissionRequest } from '../apis/templates/admission-review.ts'
import type { TemplateWebhook } from '../apis/templates/webhook.ts'
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { ApiRequest, ApiResponse } from '../http/api.ts'
import { findHealthHandler, type HealthCheck, ping } from '../http/health.ts'
import type { Serve } from '../http/pipeline.ts'
import { methodNotAllowed, resourceNotFound, StatusError } from '../kube/status-error.ts'
import type { PopulateMetrics } from './metrics.ts'
import { webhookPaths } from './webhook-configurations.ts'

export interface WebhookServerDeps {
  readonly webhook: TemplateWebhook
  readonly metrics: PopulateMetrics
  readonly clock: Clock
  readonly log: Log
  /** Besides that the process answers. */
  readonly ready: HealthCheck
}

type WebhookName = keyof typeof webhookPaths

/** An object and what it was before, each at most 3 MiB by the limits of API servers. */
const bodyLimitBytes = 7 * 1024 * 1024
const encoder = new TextEncoder()
const decoder = new TextDecoder()

export function webhookServe(deps: WebhookServerDeps): Serve {
  const { clock, log, metrics } = deps
  const health = {
    clock,
    checks: { healthz: [ping], livez: [ping], readyz: [ping, deps.ready] },
    onFailure: (endpoint: string, check: string, error: unknown) =>
      log.error({ endpoint, check, error }, 'a health check failed'),
  }
  const webhookAt = new Map(Object.entries(webhookPaths).map(([name, path]) => [path as string, name as WebhookName]))

  return async (request) => {
    try {
      const name = webhookAt.get(request.path)
      if (name !== undefined) return await review(deps, name, request)
      if (request.path === '/metrics') {
        return answer(200, 'text/plain; version=0.0.4; charset=utf-8', await metrics.text())
      }
      const handler = findHealthHandler(request.path, health)
      if (handler === undefined) throw resourceNotFound()
      return await handler(request)
    } catch (error) {
      // Not what is behind it: a refusal that we met is no refusal of ours.
      if (!(error instanceof StatusError) || error.code >= 500) {
        log.error({ path: request.path, error }, 'a request failed')
        return answer(500, 'text/plain; charset=utf-8', 'the request failed; the log of borough populate says why\n')
      }
      return answer(error.code, 'text/plain; charset=utf-8', `${error.message}\n`)
    }
  }
}

async function review(
  { webhook, metrics, clock }: WebhookServerDeps,
  name: WebhookName,
  request: ApiRequest,
): Promise<ApiResponse> {
  if (request.method !== 'POST') throw methodNotAllowed()
  const began = clock.monotonic()
  let verdict: AdmissionVerdict | undefined
  try {
    const asked = readAdmissionRequest(decoder.decode(await request.body(bodyLimitBytes)))
    verdict = await webhook[name](asked, request.signal)
    return answer(200, 'application/json', answerText(asked.uid, verdict))
  } finally {
    const outcome = verdict === undefined ? 'failed' : verdict.refusal === undefined ? 'allowed' : 'refused'
    metrics.reviewed(name, outcome, clock.monotonic() - began)
  }
}

const answer = (status: number, contentType: string, text: string): ApiResponse => ({
  status,
  headers: { 'content-type': contentType },
  body: encoder.encode(text),
})
