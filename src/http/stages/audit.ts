/**
 * Tells the audit log what happened. Two stages: `auditRefusals` stands outside authentication and records who could
 * not say who they are; `auditRequests` stands right inside it, so that an impersonation that is refused is recorded
 * under the name of who tried.
 *
 * Connections and requests that are turned away before authentication never get this far. What priority and fairness
 * refuses is recorded, as upstream.
 *
 * They change nothing about an answer and add no wait. Bodies are copied and parsed only where the policy asks for
 * them, long ones later (`late-records.ts`).
 */

import { isIP } from 'node:net'
import {
  type AuditDecision,
  type AuditEvent,
  type AuditPolicy,
  type AuditSink,
  type AuditStage,
  type AuditSubject,
  type ObjectReference,
} from '../../audit/audit.ts'
import { maxRecordedBytes, recordedBody, truncatedAnnotation } from '../../audit/recorded-body.ts'
import type { Clock } from '../../base/clock.ts'
import { andThen, type Eventual, isPending } from '../../base/eventual.ts'
import { printableHeader } from '../../base/header-bytes.ts'
import type { Slice } from '../../base/turns.ts'
import { findStatusError, internalError } from '../../kube/status-error.ts'
import { formatMicroTime } from '../../kube/time.ts'
import type { Status } from '../../kube/types.ts'
import type { UserInfo } from '../../kube/user.ts'
import {
  type AnswerStream,
  type ApiRequest,
  type ApiResponse,
  isAnswerStream,
  isStream,
  type RequestContext,
  type Stage,
} from '../api.ts'
import { flowOfCaller } from '../flow-of.ts'
import { bodyMediaType } from '../negotiate.ts'
import type { LateRecords } from './late-records.ts'
import { FollowedStream, KeptBytes, ObservedRequest } from './observed-bodies.ts'
import { type DecodeRecorded, isLongBody } from './recorded-bodies.ts'

export interface AuditDeps {
  readonly policy: AuditPolicy
  readonly sink: AuditSink
  readonly clock: Clock
  readonly decode: DecodeRecorded
  /** Where events with long bodies are made. */
  readonly late: Pick<LateRecords, 'add'>
}

const patchAnnotationPrefix = 'patch.webhook.admission.k8s.io/'

/** Every request whose sender is known. */
export function auditRequests(deps: AuditDeps): Stage {
  return (next) => async (request, context) => {
    const subject = subjectOf(context)
    const decision = deps.policy.decide(subject)
    if (decision.level === 'None') return next(request, context)
    const record = new Recording(deps, request, context, subject, decision)
    record.emit('RequestReceived')
    let response: ApiResponse
    try {
      response = await next(record.observed(request), context)
    } catch (error) {
      const status = findStatusError(error)
      const shown = status ?? internalError('the request failed; the log of the server says why', error)
      record.emit(status === undefined ? 'Panic' : 'ResponseComplete', { status: shown.toStatus() })
      throw error
    }
    const { body } = response
    if (!isStream(body)) {
      record.emit('ResponseComplete', { response })
      return response
    }
    if (isAnswerStream(body)) return { ...response, body: record.followed(response, body) }
    record.emit('ResponseStarted', { response })
    const { status, headers } = response
    return { status, headers, body: new FollowedStream(body, () => record.emit('ResponseComplete', { response })) }
  }
}

/** Requests with credentials that no authenticator accepts. */
export function auditRefusals(deps: AuditDeps): Stage {
  return (next) => async (request, context) => {
    try {
      return await next(request, context)
    } catch (error) {
      const status = findStatusError(error)
      // Only authentication answers 401.
      if (status?.reason === 'Unauthorized') {
        const decision = deps.policy.decide(subjectOf(context))
        const nobody = { username: '', groups: [] }
        if (decision.level !== 'None') {
          const record = new Recording(deps, request, context, { ...subjectOf(context), user: nobody }, decision)
          record.emit('ResponseStarted', { status: status.toStatus() })
        }
      }
      throw error
    }
  }
}

function subjectOf({ info, user }: RequestContext): AuditSubject {
  const { verb, path, isResource, group, resource, subresource, namespace, name } = info
  return { user, verb, path, isResource, group, resource, subresource, namespace, name }
}

interface Outcome {
  readonly response?: ApiResponse
  /** Of an answer that is being thrown. */
  readonly status?: Status
}

/** What is known of one request so far. */
class Recording {
  readonly #deps: AuditDeps
  readonly #request: ApiRequest
  readonly #context: RequestContext
  readonly #subject: AuditSubject
  readonly #decision: AuditDecision
  #sent: Uint8Array | undefined

  constructor(
    deps: AuditDeps,
    request: ApiRequest,
    context: RequestContext,
    subject: AuditSubject,
    decision: AuditDecision,
  ) {
    this.#deps = deps
    this.#request = request
    this.#context = context
    this.#subject = subject
    this.#decision = decision
  }

  /** The request itself, or one that lets us see its body go by. */
  observed(request: ApiRequest): ApiRequest {
    if (this.#decision.level === 'Metadata') return request
    return new ObservedRequest(request, (bytes) => {
      this.#sent = bytes
    })
  }

  emit(stage: AuditStage, outcome: Outcome = {}): void {
    if (this.#decision.omitStages.has(stage)) return
    const atMs = this.#deps.clock.now()
    const { found, isCut, longBytes } = this.#bodies(outcome)
    if (longBytes === 0) {
      const shown = found.map(([name, body]) => [name, this.#decoded(body)] as const)
      this.#deps.sink.record(this.#event(stage, outcome, atMs, isCut, Object.fromEntries(shown)))
      return
    }
    const make = async (slice: Slice): Promise<AuditEvent> => {
      const shown: Partial<Record<BodyName, unknown>> = {}
      for (const [name, body] of found) shown[name] = await this.#decoded(body, slice)
      return this.#event(stage, outcome, atMs, isCut, shown)
    }
    const flow = flowOfCaller(this.#subject.user.username, this.#request.remoteAddress)
    if (this.#deps.late.add({ sizeBytes: longBytes, flow, context: this.#context, make })) return
    this.#deps.sink.record(this.#event(stage, outcome, atMs, true, {}))
  }

  /** An answer that is complete when it has been made. */
  followed(response: ApiResponse, body: AnswerStream): AnswerStream {
    const kept = this.#decision.level === 'RequestResponse' ? new KeptBytes() : undefined
    const ended = (): void => this.emit('ResponseComplete', { response: { ...response, body: kept?.body ?? [] } })
    return Object.assign(new FollowedStream(body, ended, (chunk) => kept?.add(chunk)), { isAnswer: true as const })
  }

  #event(
    stage: AuditStage,
    { response, status }: Outcome,
    atMs: number,
    isCut: boolean,
    { requestObject, responseObject = this.#thrown(status) }: Partial<Record<BodyName, unknown>>,
  ): AuditEvent {
    const { requestId, receivedAtMs, impersonator, impersonationConstraint, user } = this.#context
    const { level } = this.#decision
    const { path, query, method, headers } = this.#request
    const annotations: Record<string, string> = isCut ? { [truncatedAnnotation]: 'true' } : {}
    const { decision, auditAnnotations = {} } = this.#context
    for (const [key, value] of Object.entries(auditAnnotations)) {
      // A patch is content: it is shown where bodies are.
      if (level !== 'Metadata' || !key.startsWith(patchAnnotationPrefix)) annotations[key] = value
    }
    if (decision !== undefined) {
      annotations['authorization.k8s.io/decision'] = decision.allowed ? 'allow' : 'forbid'
      annotations['authorization.k8s.io/reason'] = decision.reason
    }
    const agent = headers['user-agent'] && printableHeader(headers['user-agent'])
    const sourceIPs = sourcesOf(this.#request)
    const responseStatus =
      status === undefined ? response && { metadata: {}, code: response.status } : withoutTypeMeta(status)
    return {
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level,
      auditID: requestId,
      stage,
      requestURI: query === '' ? path : `${path}?${query}`,
      verb: this.#subject.isResource ? this.#subject.verb : method.toLowerCase(),
      user: shownUser(this.#subject.user),
      ...(impersonator === undefined ? {} : { impersonatedUser: user }),
      ...(impersonationConstraint === undefined ? {} : { authenticationMetadata: { impersonationConstraint } }),
      ...(sourceIPs.length === 0 ? {} : { sourceIPs }),
      ...(agent === undefined ? {} : { userAgent: agent }),
      ...(this.#subject.isResource ? { objectRef: this.#reference(requestObject) } : {}),
      ...(responseStatus === undefined ? {} : { responseStatus }),
      ...(requestObject === undefined ? {} : { requestObject }),
      ...(responseObject === undefined ? {} : { responseObject }),
      requestReceivedTimestamp: formatMicroTime(receivedAtMs),
      stageTimestamp: formatMicroTime(atMs),
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    }
  }

  #reference(sent: unknown): ObjectReference {
    const { resource, subresource, group, namespace, name } = this.#subject
    const { version } = this.#context.info
    const { uid, resourceVersion } = metadataOf(sent)
    const known = name === '' ? (this.#context.createdName ?? '') : name
    return {
      resource,
      ...(namespace === '' ? {} : { namespace }),
      ...(known === '' ? {} : { name: known }),
      ...(uid === undefined ? {} : { uid }),
      ...(group === '' ? {} : { apiGroup: group }),
      ...(version === '' ? {} : { apiVersion: version }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(subresource === '' ? {} : { subresource }),
    }
  }

  /** Of an answer that is being thrown, what stands for its body. */
  #thrown(status: Status | undefined): Status | undefined {
    return this.#decision.level === 'RequestResponse' ? status : undefined
  }

  /** What is to be recorded of bodies; `isCut`: and is too large. */
  #bodies({ response }: Outcome): Bodies {
    const all: [BodyName, Body][] = []
    if (this.#sent !== undefined && this.#sent.length > 0) {
      all.push(['requestObject', { parts: [this.#sent], mediaType: bodyMediaType(this.#request.headers) }])
    }
    if (this.#decision.level === 'RequestResponse' && response !== undefined && !isStream(response.body)) {
      const parts = response.body instanceof Uint8Array ? [response.body] : response.body
      all.push([
        'responseObject',
        { parts, mediaType: String(response.headers['content-type'] ?? '').split(';')[0] ?? '' },
      ])
    }
    const found = all.filter(([, { parts }]) => sizeOf(parts) <= maxRecordedBytes)
    const isLong = found.some(([, { parts, mediaType }]) => isLongBody(sizeOf(parts), mediaType))
    const longBytes = isLong ? found.reduce((sum, [, { parts }]) => sum + sizeOf(parts), 0) : 0
    return { found, isCut: found.length < all.length, longBytes }
  }

  /** Without a slice at once. undefined: a client that sends no object is told so in the answer. */
  #decoded({ parts, mediaType }: Body, slice?: Slice): Eventual<unknown> {
    try {
      const bytes = parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts)
      const decoded = andThen(this.#deps.decode(bytes, mediaType, slice), (value) =>
        recordedBody(value, this.#subject, this.#decision.omitManagedFields),
      )
      return isPending(decoded) ? decoded.catch(() => undefined) : decoded
    } catch {
      return undefined
    }
  }
}

type BodyName = 'requestObject' | 'responseObject'

interface Body {
  readonly parts: readonly Uint8Array[]
  readonly mediaType: string
}

interface Bodies {
  readonly found: readonly (readonly [BodyName, Body])[]
  readonly isCut: boolean
  /** Of all, where one of them takes long; else 0. */
  readonly longBytes: number
}

const sizeOf = (parts: readonly Uint8Array[]): number => parts.reduce((sum, { length }) => sum + length, 0)

function shownUser(user: UserInfo): Partial<UserInfo> {
  return user.username === '' ? {} : user
}

function withoutTypeMeta({ kind: _kind, apiVersion: _apiVersion, ...rest }: Status): object {
  return rest
}

function metadataOf(object: unknown): { readonly uid?: string; readonly resourceVersion?: string } {
  const metadata = (object as { readonly metadata?: unknown } | null | undefined)?.metadata
  if (typeof metadata !== 'object' || metadata === null) return {}
  const { uid, resourceVersion } = metadata as Record<string, unknown>
  return {
    ...(typeof uid === 'string' ? { uid } : {}),
    ...(typeof resourceVersion === 'string' ? { resourceVersion } : {}),
  }
}

/** Proxies' claims first, as they came; the peer last. What is no address is left out. */
function sourcesOf({ headers, remoteAddress }: ApiRequest): readonly string[] {
  const claimed = [headers['x-forwarded-for']?.split(',') ?? [], headers['x-real-ip'] ?? []].flat()
  const sources = new Set(claimed.map((text) => text.trim()).filter((text) => isIP(text) !== 0))
  if (remoteAddress !== '') {
    sources.delete(remoteAddress)
    sources.add(remoteAddress)
  }
  return [...sources]
}
