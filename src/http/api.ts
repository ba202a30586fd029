/**
 * The core speaks plain records. Node's sockets (`node.ts`) and the in-process client are two adapters of one function,
 * so neither can skip a stage.
 */

import type { AuthzDecision } from '../authz/authz.ts'
import type { Eventual } from '../base/eventual.ts'
import type { Stream } from '../base/stream.ts'
import type { Slice } from '../base/turns.ts'
import type { FlowHeaders, SeatLevel } from '../flowcontrol/flowcontrol.ts'
import type { JsonValue, KubeObject } from '../kube/types.ts'
import type { UserInfo } from '../kube/user.ts'
import type { RequestInfo } from './request-info.ts'
import type { Resolution } from './resolution.ts'

export interface ApiRequest {
  /** Upper case. */
  readonly method: string
  /** Path as sent, percent-encoded, without query. */
  readonly path: string
  /** Raw query, without `?`. */
  readonly query: string
  /**
   * Lower-case names; repeated headers joined by the adapter with `, `, except `cookie`: see `headerValues`. Values
   * have one character for each byte: what may be more than ASCII is read with `textOfHeader`.
   */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** All values of a header that may repeat. */
  headerValues(name: string): readonly string[]
  /** Reads the whole body once. @throws StatusError RequestEntityTooLarge beyond `limitBytes`. */
  body(limitBytes: number): Eventual<Uint8Array>
  /** DER of the client certificate, leaf only. The adapter has checked chain and dates: `rejected` says it failed. */
  readonly clientCertificate?: { readonly der: Uint8Array; readonly rejected: boolean } | undefined
  /** Set only by the in-process client: the identity it acts as. Sockets can't set it. */
  readonly localUser?: UserInfo
  /**
   * Set only by an in-process client that shares values with the server: it takes answers as objects, and may give its
   * body as one. Neither side changes what it was given. A stage that needs the bytes (the audit log) leaves it out.
   */
  readonly sharing?: { readonly value?: JsonValue | undefined } | undefined
  readonly remoteAddress: string
  /** Aborts when the caller has gone away, or is answered that it took too long. */
  readonly signal: AbortSignal
  /** Called when the caller has been given up on: aborts `signal`. Absent for the in-process client. */
  readonly abandon?: () => void
  /** Ends its connection with what is under way on it: it asks for more than can be refused. Absent as above. */
  readonly hangUp?: () => void
  /** Called when the user is known. @throws StatusError TooManyRequests if the user has too many connections */
  readonly identify?: (username: string) => void
  /** What this request takes of the memory that clients may take. Absent for the in-process client. */
  readonly account?: RequestAccount | undefined
  /** It came over the address that is kept for administrators. */
  readonly reserved?: boolean
}

/** Charged to the flow of the request: its user, before authentication its address. Given back when it is over. */
export interface RequestAccount {
  /** Before the memory is taken. @throws StatusError TooManyRequests; RequestEntityTooLarge beyond all there is */
  charge(bytes: number): void
  /** False if `charge` would throw; then nothing is charged. */
  tryCharge(bytes: number): boolean
  give(bytes: number): void
}

/** bytes = sent whole; chunks = sent whole, one after the other; stream = flushed item by item until it ends. */
export type ApiBody = Uint8Array | readonly Uint8Array[] | AnswerStream | Stream<Uint8Array>

/** An answer that is made while it is sent, and ends when it is whole; any other stream goes on while it is read. */
export interface AnswerStream extends Stream<Uint8Array> {
  readonly isAnswer: true
}

export interface ApiResponse {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body: ApiBody
  /** What the body says, for a caller that shares; `body` is then without meaning. */
  readonly shared?: SharedAnswer
}

export type SharedAnswer = { readonly object: KubeObject } | { readonly events: Stream<readonly SharedEvent[]> }

export type SharedEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly stored: { readonly object: KubeObject } }
  | { readonly type: 'BOOKMARK'; readonly revision: number; readonly initialEventsEnd: boolean }

/** One seat of one request. The stage that gave it takes it back when the request is over, however it ends. */
export interface HeldSeat {
  /** Harmless if it was left before. */
  leave(): void
  /** Resolves when the request may go on. @throws StatusError TooManyRequests if there is no seat now */
  retake(): Eventual<void>
  /** It was retaken, and others of the request are waited for: other requests may have it meanwhile. */
  rest?(): void
  resume?(): void
}

/** What priority and fairness made of a request (`stages/priority-and-fairness.ts`). */
export interface RequestFlow {
  /** For the answer, whatever it is. */
  readonly headers: FlowHeaders
  /** Absent where it was refused. */
  readonly level?: SeatLevel
  /** The request has taken so much of the main thread; also after its answer was made. */
  charge(cpuMs: number): void
}

/** What the stages learn about a request on its way in. Each field is written by exactly one stage. */
export interface RequestContext {
  readonly requestId: string
  readonly receivedAtMs: number
  readonly info: RequestInfo
  /** What the path is about, for authorization and dispatch alike; absent until it is resolved. */
  resolution?: Resolution
  user: UserInfo
  /** Absent for our own code, and until the request is admitted or refused. */
  flow?: RequestFlow
  /** True when the cache has caught up with the store since the request came. */
  caughtUp?: boolean
  /** Before impersonation, if any. */
  impersonator?: UserInfo
  /** The verb that allowed the impersonation, where it is a constrained one. */
  impersonationConstraint?: string
  /** What authorization said of this request, once it has been asked. */
  decision?: AuthzDecision
  /** The list or watch is allowed as far as its objects may be got one by one: nothing else may be shown. */
  onlyOwn?: boolean
  /** What a create calls its object, which the URL does not say. */
  createdName?: string
  /** Texts for `Warning` headers, in order, without duplicates. */
  readonly warnings: string[]
  /** What admission tells the audit log. */
  auditAnnotations?: Record<string, string>
  /** Where the request or its object is large: to be asked between two passes over it. */
  slice?: Slice
  /** How it begins what takes long. Absent for our own code. */
  longWork?: { begin(request: ApiRequest, context: RequestContext): Eventual<Slice> }
  /** Its place among the requests that take long, which ends with it. */
  longPlace?: { end(): void }
  /** What this request holds while it is worked on, and leaves while it waits. Stages add to it; see `seats.ts`. */
  readonly seats: HeldSeat[]
}

/** Refusals are thrown, at once or in the promise: a stage that must see them looks for both. */
export type Handler = (request: ApiRequest, context: RequestContext) => Eventual<ApiResponse>
export type Stage = (next: Handler) => Handler

export const isAnswerStream = (body: ApiBody): body is AnswerStream => isStream(body) && 'isAnswer' in body

export function isStream(body: ApiBody): body is Stream<Uint8Array> {
  return !(body instanceof Uint8Array) && !Array.isArray(body)
}
