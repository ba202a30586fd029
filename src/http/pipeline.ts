/**
 * The life of a request, outermost stage first. Read this before anything else in `http/`.
 *
 *   answerErrors   turns whatever is thrown into a Status; adds the headers every answer has
 *   limitInFlight  bounds concurrent work; says 429 early instead of 504 late
 *   catchUp        waits for what other processes on the store were told is done, where there are any
 *   resolveTarget  what the path is about: one record, which is authorized and then dispatched
 *   authenticate   who is asking
 *   limitAnonymous keeps those who are nobody from taking the places of others
 *   audit          tells the audit log what was asked and what came of it, where there is one
 *   impersonate    whom they ask to be taken for, if they may
 *   authorize      may they: decided before anything is looked up or read
 *   dispatch       discovery and documents, or a verb on a resource
 *
 * `ApiRequest` comes from a socket (`node.ts`) or from our own code (`client/loopback.ts`): both run all of it.
 */
import type { Clock } from '../base/clock.ts'
import type { Eventual } from '../base/eventual.ts'
import type { Ids } from '../base/ids.ts'
import { anonymousUser } from '../kube/user.ts'
import type { ApiRequest, ApiResponse, Handler, RequestContext, Stage } from './api.ts'
import { parseRequestInfo } from './request-info.ts'

export interface PipelineOptions {
  readonly clock: Clock
  readonly ids: Ids
  /** Outermost first. */
  readonly stages: readonly Stage[]
  readonly dispatch: Handler
}

/** Never throws: the outermost stages see to that. */
export type Serve = (request: ApiRequest) => Eventual<ApiResponse>

export function createPipeline({ clock, ids, stages, dispatch }: PipelineOptions): Serve {
  const handler = stages.reduceRight((next, stage) => stage(next), dispatch)
  return (request) => handler(request, createContext(request, clock, ids))
}

/** What a caller may name its request; anything else gets a name of ours. */
const auditId = /^[\x21-\x7e]{1,64}$/

function createContext(request: ApiRequest, clock: Clock, ids: Ids): RequestContext {
  return {
    requestId: request.headers['audit-id']?.match(auditId)?.[0] ?? ids.uid(),
    receivedAtMs: clock.now(),
    info: parseRequestInfo(request.method, request.path, request.query),
    user: anonymousUser,
    warnings: [],
    release() {},
  }
}
