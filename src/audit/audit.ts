/**
 * The audit log's seam: what an event says, who decides how much of it is kept, and where it goes. The pipeline makes
 * events and knows no file; a sink keeps them and knows no request.
 *
 * Invariants: recording never waits and never fails, so that no request depends on a disk. What can't be kept is
 * dropped and counted. No event holds a credential: headers are never recorded, tokens in bodies are struck out.
 *
 * @see k8s.io/apiserver/pkg/apis/audit/v1 v0.36
 */
import type { UserInfo } from '../kube/user.ts'

/** In rising order of detail. */
export const auditLevels = ['None', 'Metadata', 'Request', 'RequestResponse'] as const
export type AuditLevel = (typeof auditLevels)[number]

export const auditStages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const
export type AuditStage = (typeof auditStages)[number]

export interface ObjectReference {
  readonly resource: string
  readonly namespace?: string
  readonly name?: string
  readonly uid?: string
  readonly apiGroup?: string
  readonly apiVersion?: string
  readonly resourceVersion?: string
  readonly subresource?: string
}

/** One line of the log: audit.k8s.io/v1 Event. Times have six digits of a second. */
export interface AuditEvent {
  readonly kind: 'Event'
  readonly apiVersion: 'audit.k8s.io/v1'
  readonly level: AuditLevel
  /** That of the `Audit-Id` header of the answer; the same in all events of a request. */
  readonly auditID: string
  readonly stage: AuditStage
  readonly requestURI: string
  readonly verb: string
  /** Who asked. Empty where authentication failed. */
  readonly user: Partial<UserInfo>
  /** Whom they asked to be taken for. */
  readonly impersonatedUser?: UserInfo
  /** The verb of constrained impersonation that allowed it. */
  readonly authenticationMetadata?: { readonly impersonationConstraint: string }
  /** What proxies say, then the peer: only the last is certain. */
  readonly sourceIPs?: readonly string[]
  readonly userAgent?: string
  readonly objectRef?: ObjectReference
  readonly responseStatus?: object
  readonly requestObject?: unknown
  readonly responseObject?: unknown
  readonly requestReceivedTimestamp: string
  readonly stageTimestamp: string
  readonly annotations?: Readonly<Record<string, string>>
}

/** What rules look at: the request as its sender made it, before impersonation. */
export interface AuditSubject {
  readonly user: UserInfo
  readonly verb: string
  readonly path: string
  readonly isResource: boolean
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
}

export interface AuditDecision {
  readonly level: AuditLevel
  readonly omitStages: ReadonlySet<AuditStage>
  readonly omitManagedFields: boolean
}

export interface AuditPolicy {
  decide(subject: AuditSubject): AuditDecision
}

export interface AuditSink {
  /** Never waits, never throws. */
  record(event: AuditEvent): void
  /** An event as JSON, without an end of line. As `record`. */
  recordLine(text: string): void
}
