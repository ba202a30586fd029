/** The stages of the pipeline, made from what they ask of the rest of the server. */
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import type { ResourceTypes } from '../../kube/resource-type.ts'
import type { Stage } from '../api.ts'
import type { StageName } from '../pipeline.ts'
import { resolveTarget } from '../resolve-target.ts'
import type { Renderer } from '../respond.ts'
import { answerErrors } from './answer-errors.ts'
import { type AuditDeps, auditRefusals, auditRequests } from './audit.ts'
import { type Authenticate, authenticate } from './authenticate.ts'
import { type AuthorizeOptions, authorize } from './authorize.ts'
import { catchUp } from './catch-up.ts'
import { compressAnswers } from './compress-answers.ts'
import { type Impersonation, impersonate } from './impersonate.ts'
import { keepForAdministrators } from './keep-for-administrators.ts'
import { limitTime, type TimeLimit } from './limit-time.ts'
import { type PriorityAndFairnessDeps, priorityAndFairness } from './priority-and-fairness.ts'
import { recordedBodies } from './recorded-bodies.ts'

export interface StagesOptions {
  readonly clock: Clock
  readonly log: Log
  readonly types: ResourceTypes
  readonly renderer: Renderer
  /** Counts and times. */
  readonly metrics: Stage
  readonly timeLimit: TimeLimit
  /** Absent = no audit log. */
  readonly audit: Pick<AuditDeps, 'policy' | 'sink' | 'late'> | undefined
  readonly decodeProtobuf: Parameters<typeof recordedBodies>[0]
  /** Absent = no other process writes to the store. */
  readonly refresh: (() => Promise<void>) | undefined
  readonly authenticate: Authenticate
  /** Whether an address is kept for administrators. */
  readonly reservesAddress: boolean
  readonly impersonation: Impersonation
  readonly fairness: PriorityAndFairnessDeps
  readonly authorization: AuthorizeOptions
}

export function createStages(options: StagesOptions): Record<StageName, Stage | undefined> {
  const { clock, refresh, renderer, log } = options
  const audit = options.audit && { ...options.audit, clock, decode: recordedBodies(options.decodeProtobuf) }
  return {
    metrics: options.metrics,
    compressAnswers: compressAnswers(),
    answerErrors: answerErrors(
      (error, { requestId, info }) =>
        log.error({ error, requestId, verb: info.verb, path: info.path }, 'a request failed'),
      (status, n) => renderer.status(status, n),
    ),
    limitTime: limitTime(options.timeLimit),
    auditRefusals: audit && auditRefusals(audit),
    catchUp: refresh && catchUp(refresh),
    resolveTarget: resolveTarget(options.types),
    authenticate: authenticate(options.authenticate, options.fairness.lateRefusals),
    keepForAdministrators: options.reservesAddress ? keepForAdministrators : undefined,
    auditRequests: audit && auditRequests(audit),
    impersonate: impersonate(options.impersonation),
    priorityAndFairness: priorityAndFairness(options.fairness),
    authorize: authorize(options.authorization),
  }
}
