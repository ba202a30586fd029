/** The authorization webhook of a configuration: where a kubeconfig says, with the credentials it says. */

import type { Clock } from '../base/clock.ts'
import { parseJsonText } from '../base/parse-json-text.ts'
import type { JsonValue } from '../kube/types.ts'
import type { AskElsewhere } from './authz.ts'
import { WebhookAuthorizer } from './webhook-authorizer.ts'

export interface AuthorizationWebhookConfig {
  /** A kubeconfig whose cluster is the webhook: its server is the whole URL, with the path. */
  readonly kubeconfigPath: string
  readonly allowedForMs: number
  readonly deniedForMs: number
}

const userAgent = 'borough'
const timeoutMs = 10_000
const maxAnswerBytes = 1024 * 1024

/** @throws Error in one line for a kubeconfig that can't be used */
export async function openAuthorizationWebhook(
  { kubeconfigPath, allowedForMs, deniedForMs }: AuthorizationWebhookConfig,
  clock: Clock,
): Promise<AskElsewhere> {
  const { openRemote } = await import('../client/remote.ts')
  const { transport, server } = openRemote({ kubeconfigPath, userAgent, refuseOpenSecrets: true })
  const webhook = new WebhookAuthorizer({
    clock,
    allowedForMs,
    deniedForMs,
    async post(review) {
      const { status, body } = await transport.send({
        method: 'POST',
        path: '',
        query: new URLSearchParams(),
        headers: { 'content-type': 'application/json', accept: 'application/json', 'user-agent': userAgent },
        body: Buffer.from(JSON.stringify(review)),
        signal: AbortSignal.timeout(timeoutMs),
      })
      if (!(body instanceof Uint8Array) || body.length > maxAnswerBytes) throw new Error(`${server} answered too much`)
      if (status > 299) throw new Error(`${server} answered ${status}`)
      return parseJsonText(Buffer.from(body).toString('utf8')) as JsonValue
    },
  })
  return (attributes) => webhook.ask(attributes)
}
