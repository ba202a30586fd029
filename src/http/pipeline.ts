/**
 * The life of a request: its stages, and then the dispatch to a document or to a verb on a resource. Read this before
 * anything else in `http/`.
 *
 * `ApiRequest` comes from a socket (`node/listen.ts`) or from our own code (`client/loopback.ts`): both are authorized,
 * admitted and recorded alike; only the limits of sockets, compression and impersonation are left out for ours.
 */
import type { Clock } from '../base/clock.ts'
import type { Eventual } from '../base/eventual.ts'
import type { Ids } from '../base/ids.ts'
import { anonymousUser } from '../kube/user.ts'
import type { ApiRequest, ApiResponse, Handler, RequestContext, Stage } from './api.ts'
import { parseRequestInfo } from './request-info.ts'

/** All stages, outermost first. `docs/flow.md` and `docs/architecture.md` quote this list, and a test compares. */
export const stageOrder = [
  // Counts and times what the client sees.
  'metrics',
  // Long answers in gzip for clients that accept it.
  'compressAnswers',
  // Turns whatever is thrown into a Status; adds the headers that every answer has.
  'answerErrors',
  // Answers 504 when the work on a request takes too long.
  'limitTime',
  // With an audit log: records requests that are refused before their user is known.
  'auditRefusals',
  // On a shared store: waits until the cache shows what other processes have acknowledged.
  'catchUp',
  // Finds what the path is about: one record, which is authorized and then dispatched.
  'resolveTarget',
  // Finds the user of the credentials.
  'authenticate',
  // Answers administrators alone on the address that is kept for them.
  'keepForAdministrators',
  // With an audit log: records every request whose user is known.
  'auditRequests',
  // Replaces the user by the one that the request names, if that is allowed.
  'impersonate',
  // Lets the request in now or in its turn, fairly among flows; 429 early instead of 504 late.
  'priorityAndFairness',
  // Allows or refuses, before anything is looked up or read.
  'authorize',
] as const

export type StageName = (typeof stageOrder)[number]

export interface PipelineOptions {
  readonly clock: Clock
  readonly ids: Ids
  /** Those that are there run in the order of `stageOrder`. */
  readonly stages: Readonly<Partial<Record<StageName, Stage | undefined>>>
  readonly dispatch: Handler
}

/** What concerns the requests of sockets alone: our own code is not limited, acts as itself, and is sent nothing. */
const ofSockets: ReadonlySet<StageName> = new Set([
  'compressAnswers',
  'limitTime',
  'impersonate',
  'priorityAndFairness',
])

/** Never throws: the outermost stages see to that. */
export type Serve = (request: ApiRequest) => Eventual<ApiResponse>

export function createPipeline({ clock, ids, stages, dispatch }: PipelineOptions): Serve {
  const compose = (names: readonly StageName[]): Handler =>
    names.reduceRight((next, name) => stages[name]?.(next) ?? next, dispatch)
  const ofSocket = compose(stageOrder)
  const ofOurs = compose(stageOrder.filter((name) => !ofSockets.has(name)))
  return (request) => {
    const handler = request.localUser === undefined ? ofSocket : ofOurs
    return handler(request, createContext(request, clock, ids))
  }
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
    seats: [],
  }
}
