/**
 * An authorizer outside of this process: a service that answers SubjectAccessReviews. Asked after RBAC, of what RBAC
 * does not allow. Its answers are remembered for a while, in which a right that it takes back still holds.
 *
 * Only requests and access reviews are put to it. What the server asks for its own ends (escalation, impersonation,
 * initializers, templates) is RBAC's alone, since those decisions are made in the middle of a transaction.
 *
 * @see k8s.io/apiserver/plugin/pkg/authorizer/webhook/webhook.go v0.36
 */
import { BoundedCache } from '../base/bounded-cache.ts'
import type { Clock } from '../base/clock.ts'
import { isJsonObject } from '../kube/json-value.ts'
import { internalError } from '../kube/status-error.ts'
import type { JsonValue } from '../kube/types.ts'
import type { AuthzAttributes, AuthzDecision } from './authz.ts'

export interface WebhookAuthorizerOptions {
  readonly clock: Clock
  /** Posts a review and answers the review that came back. */
  readonly post: (review: object) => Promise<JsonValue>
  readonly allowedForMs: number
  readonly deniedForMs: number
}

interface Remembered {
  readonly decision: AuthzDecision
  readonly untilMs: number
}

const cacheSize = 4096
/** Longer questions are asked each time: no client shall fill the memory with made-up names. */
const longestRememberedKey = 10_000

export class WebhookAuthorizer {
  readonly #options: WebhookAuthorizerOptions
  readonly #remembered = new BoundedCache<string, Remembered>(cacheSize)

  constructor(options: WebhookAuthorizerOptions) {
    this.#options = options
  }

  async ask(attributes: AuthzAttributes): Promise<AuthzDecision> {
    const { clock, allowedForMs, deniedForMs } = this.#options
    const spec = specOf(attributes)
    const key = JSON.stringify(spec)
    const known = this.#remembered.get(key)
    if (known && clock.monotonic() < known.untilMs) return known.decision
    const decision = await this.#answerTo(spec)
    if (key.length <= longestRememberedKey) {
      const forMs = decision.allowed ? allowedForMs : deniedForMs
      this.#remembered.set(key, { decision, untilMs: clock.monotonic() + forMs })
    }
    return decision
  }

  async #answerTo(spec: object): Promise<AuthzDecision> {
    let answer: JsonValue
    try {
      answer = await this.#options.post({ kind: 'SubjectAccessReview', apiVersion: 'authorization.k8s.io/v1', spec })
    } catch (error) {
      throw internalError(
        `the authorization webhook did not answer: ${error instanceof Error ? error.message : ''}`,
        error,
      )
    }
    const status = isJsonObject(answer) ? answer['status'] : undefined
    if (!isJsonObject(status) || typeof status['allowed'] !== 'boolean') {
      throw internalError('the authorization webhook answered no SubjectAccessReview with a status')
    }
    const { allowed, denied, reason } = status
    if (allowed && denied === true)
      throw internalError('webhook subject access review returned both allow and deny response')
    return { allowed, reason: typeof reason === 'string' ? reason : '' }
  }
}

function specOf(attributes: AuthzAttributes): object {
  const { user, verb } = attributes
  const asked =
    attributes.path === undefined
      ? {
          resourceAttributes: present({
            namespace: attributes.namespace,
            verb,
            group: attributes.group,
            version: attributes.version ?? '',
            resource: attributes.resource,
            subresource: attributes.subresource ?? '',
            name: attributes.name,
          }),
        }
      : { nonResourceAttributes: { path: attributes.path, verb } }
  return {
    ...asked,
    user: user.username,
    ...(user.groups.length === 0 ? {} : { groups: user.groups }),
    ...(user.extra === undefined ? {} : { extra: user.extra }),
    ...(user.uid === undefined ? {} : { uid: user.uid }),
  }
}

const present = (fields: Readonly<Record<string, string>>): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''))
