/**
 * One question to one webhook, and what its failure means. Used by both phases.
 *
 *   does it want this object? ──no──▶ undefined
 *        │ yes
 *   ask ──▶ verdict: allowed, or refused (refusals are thrown)
 *        └─▶ failure ── failurePolicy Ignore ──▶ undefined (counted, logged, in the audit log)
 *                     └ Fail ──▶ 500 InternalError
 */
import { type Attributes, NeedsStoredScope } from '../../admission/admission.ts'
import type { Clock } from '../../base/clock.ts'
import type { Ids } from '../../base/ids.ts'
import type { Log } from '../../base/log.ts'
import type { Slice, Turns } from '../../base/turns.ts'
import { type Evaluator, plainFacts } from '../../cel/evaluator.ts'
import type { AskPermission } from '../../cel/library/authorizer.ts'
import { readAnswer, WebhookCallError } from '../../client/webhook-answer.ts'
import type { WebhookClient, WebhookCredentials } from '../../client/webhook-client.ts'
import { aggregate } from '../../kube/aggregate.ts'
import { quote } from '../../kube/go-quote.ts'
import { matchesLabels } from '../../kube/label-selector.ts'
import { forbidden, internalError, StatusError, timeout } from '../../kube/status-error.ts'
import type { JsonObject, JsonValue, KubeObject } from '../../kube/types.ts'
import { type NamespaceLookup, namespaceOf } from '../namespaces/lookup.ts'
import type { Hook } from './hook.ts'
import type { HookInvocation } from './hook-index.ts'
import {
  admissionRequest,
  PatchUnreadable,
  ReviewFault,
  readReview,
  refusalOf,
  reviewText,
  reviewVersion,
  type Shown,
  type Verdict,
} from './review.ts'
import type { Convert } from './shown-object.ts'
import type { WebhookPhase } from './types.ts'
import { targetOf, userFor } from './webhook-credentials.ts'
import type { WebhookKubeconfig } from './webhook-kubeconfig.ts'

/** One question, as it ended. */
export interface ObservedCall {
  readonly webhook: string
  readonly phase: WebhookPhase
  readonly operation: string
  readonly durationMs: number
  /** Of the answer or its refusal; 0 = none. */
  readonly code: number
  readonly outcome: 'allowed' | 'refused' | 'failedOpen' | 'failedClosed'
}

export interface CallDeps {
  readonly client: WebhookClient
  /** Who the server is to webhooks; absent = asks without credentials. */
  readonly kubeconfig: WebhookKubeconfig | undefined
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly namespaces: NamespaceLookup
  readonly convert: Convert
  /** For match conditions: whether a user may do something. */
  readonly ask: AskPermission
  readonly evaluator: Evaluator
  readonly turns: Turns
  observe(call: ObservedCall): void
}

const defaultTimeoutSeconds = 10

/** True if the namespace and the object are among those the webhook wants. @throws StatusError */
export async function isSelected(deps: CallDeps, { hook }: HookInvocation, a: Attributes): Promise<boolean> {
  const { objectSelector } = hook
  const hasLabels = (object: KubeObject | undefined): boolean =>
    object !== undefined && matchesLabels(objectSelector, object.metadata.labels)
  if (objectSelector.length > 0 && !hasLabels(a.object) && !hasLabels(a.oldObject)) return false
  return namespaceMatches(deps, hook, a)
}

async function namespaceMatches({ namespaces }: CallDeps, hook: Hook, a: Attributes): Promise<boolean> {
  const { namespaceSelector: selector } = hook
  if (selector.length === 0) return true
  const isItself = a.type.group === '' && a.type.resource === 'namespaces' && a.subresource === ''
  // One without a name yet goes by its labels too.
  if (isItself && (a.operation === 'CREATE' || a.operation === 'UPDATE')) {
    return matchesLabels(selector, a.object?.metadata.labels)
  }
  // What is in no namespace is never spared.
  if (a.namespace === '') return true
  let namespace = namespaceOf(namespaces, a)
  if (namespace === undefined) {
    await namespaces.refresh()
    namespace = namespaces.find(a.namespace)
  }
  if (namespace === undefined) throw namespaceGone(a.namespace)
  return matchesLabels(selector, namespace.metadata.labels)
}

const namespaceGone = (name: string): StatusError =>
  new StatusError(`namespaces ${quote(name)} not found`, { reason: 'NotFound', details: { name, kind: 'namespaces' } })

export interface Asked {
  readonly verdict: Verdict | undefined
  /** True = it could not be asked, and its policy is to go on. */
  readonly failedOpen: boolean
  /** In which what it said is worked on; absent where that is little. */
  readonly slice?: Slice | undefined
}

const notAsked: Asked = { verdict: undefined, failedOpen: false }
const passedOver: Asked = { verdict: undefined, failedOpen: true }

/** @throws StatusError if the webhook refuses, or can't be asked and must be */
export async function ask(
  deps: CallDeps,
  phase: WebhookPhase,
  invocation: HookInvocation,
  a: Attributes,
  shown: Shown,
): Promise<Asked> {
  const { hook } = invocation
  const { webhook } = hook
  const uid = deps.ids.uid()
  const request = admissionRequest(uid, a, invocation, shown)
  if (!(await conditionsHold(deps, hook, request, shown, a))) return notAsked
  // A webhook that is asked about an object may read its namespace.
  if (a.pendingScope?.mayWait) throw new NeedsStoredScope(webhook.name)

  const began = deps.clock.monotonic()
  const observe = (outcome: ObservedCall['outcome'], code: number): void =>
    deps.observe({
      webhook: webhook.name,
      phase,
      operation: a.operation,
      durationMs: deps.clock.monotonic() - began,
      outcome,
      code,
    })
  const allowedMs = (webhook.timeoutSeconds ?? defaultTimeoutSeconds) * 1000
  const leftMs = a.deadlineMs === undefined ? allowedMs : a.deadlineMs - deps.clock.now()
  if (leftMs <= 0) throw outOfTime()
  try {
    const version = reviewVersion(webhook.admissionReviewVersions ?? [])
    const asking = deps.client.send({
      address: webhook.clientConfig,
      credentials: await credentialsFor(deps, hook),
      body: reviewText(version, request),
      timeoutMs: Math.min(allowedMs, leftMs),
      signal: a.caller.signal,
    })
    using answer = await (a.caller.outside?.(asking) ?? asking)
    const slice = answer.isLong ? (a.slice ?? (await (a.caller.beginLong?.() ?? deps.turns.begin()))) : a.slice
    const verdict = await readReview(await readAnswer(answer, slice), version, uid, phase === 'mutating', slice)
    observe(verdict.allowed ? 'allowed' : 'refused', verdict.allowed ? 200 : refusalOf('', verdict.result).code)
    return { verdict, failedOpen: false, slice }
  } catch (error) {
    const why = faultText(error)
    if (why === undefined) throw error
    const code = error instanceof WebhookCallError ? (error.status ?? 0) : 0
    const text = `failed calling webhook ${quote(webhook.name)}: ${why}`
    const timedOut = error instanceof WebhookCallError && error.timedOut
    if (a.caller.signal.aborted || (timedOut && leftMs < allowedMs)) throw outOfTime()
    if (webhook.failurePolicy !== 'Ignore') {
      observe('failedClosed', code)
      throw internalError(text, error)
    }
    observe('failedOpen', code)
    deps.log.warn({ webhook: webhook.name, configuration: hook.configuration, fault: why }, 'a webhook was passed over')
    return passedOver
  }
}

/** @throws WebhookCallError: the client is not told which file of the server it is, the log is */
function credentialsFor({ kubeconfig, log }: CallDeps, hook: Hook): Promise<WebhookCredentials> | undefined {
  const user = kubeconfig && userFor(targetOf(hook.webhook.clientConfig), kubeconfig)
  return user?.credentials().catch((cause: unknown) => {
    const fault = cause instanceof Error ? cause.message : String(cause)
    log.error({ webhook: hook.webhook.name, fault }, 'the credentials for a webhook could not be read')
    throw new WebhookCallError("the server can't read its credentials", { cause })
  })
}

/** The client no longer waits for the answer, whatever this webhook's policy is. */
const outOfTime = (): StatusError => timeout('request did not complete within requested timeout', {})

/** Undefined = not a fault of the call. */
function faultText(error: unknown): string | undefined {
  if (error instanceof WebhookCallError) return `failed to call webhook: ${error.message}`
  if (error instanceof ReviewFault) return `received invalid webhook response: ${error.message}`
  return error instanceof PatchUnreadable ? error.message : undefined
}

/** False = it is not to be asked. @throws StatusError if that can't be told, and it must be asked */
async function conditionsHold(
  { ask: may, evaluator }: CallDeps,
  { conditions, webhook }: Hook,
  request: Readonly<Record<string, unknown>>,
  shown: Shown,
  a: Attributes,
): Promise<boolean> {
  if (conditions === undefined) return true
  const facts = {
    object: shown.object as unknown as JsonValue | undefined,
    oldObject: shown.oldObject as unknown as JsonValue | undefined,
    request: request as JsonObject,
    user: a.user,
    ask: may,
  }
  const { matches, errors } = await evaluator.run({
    name: 'conditions',
    source: conditions.source,
    input: () => plainFacts(facts),
    flow: a.user.username,
    ask: may,
    here: (allowance) => conditions.evaluate(facts, allowance),
  })
  if (matches !== undefined) return matches
  if (webhook.failurePolicy === 'Ignore') return false
  throw forbidden(a.type, a.name, aggregate(errors))
}
