/**
 * API priority and fairness: which request is worked on now, which waits, which is refused. The contract of the room.
 *
 * A request is classified by the first FlowSchema that matches it. The schema names a priority level, and with the user
 * or the namespace a *flow*. A level owns a number of *seats*; a request occupies one or more while it is worked on.
 * Where seats are short, requests wait in queues, and the flow that has used least is served next. So a flood makes its
 * own flow wait, not another one.
 */
import type { Eventual } from '../base/eventual.ts'
import type { UserInfo } from '../kube/user.ts'
import type { HistogramSnapshot } from './histogram.ts'
import type { FlowControlCondition, FlowSchemaObject, PriorityLevelObject } from './types.ts'

/** The part of `RequestInfo` that matters here. */
export interface RequestAttributes {
  readonly isResource: boolean
  /** For a request that is not about a resource: the lower-case method. */
  readonly verb: string
  readonly path: string
  readonly group: string
  readonly version: string
  readonly namespace: string
  readonly resource: string
  readonly subresource: string
  readonly name: string
  readonly query: { get(name: string): string | null }
}

/** A `RequestContext` of the pipeline is one. */
export interface FlowRequest {
  readonly user: UserInfo
  readonly info: RequestAttributes
  /** By the wall clock. */
  readonly receivedAtMs: number
}

/** An `ApiRequest` is one: it makes its signal when first asked for it, so only requests that wait ask. */
export interface FlowCaller {
  readonly signal: AbortSignal
}

/** As the label `reason` of `apiserver_flowcontrol_rejected_requests_total`. */
export type RefusalReason =
  /** All queues of the flow's hand are full. */
  | 'queue-full'
  /** No seat is free, and the level has no queues. */
  | 'concurrency-limit'
  /** The request has waited as long as it may. */
  | 'time-out'
  /** The client has gone away. */
  | 'cancelled'

/** `X-Kubernetes-PF-…`: which objects have decided. By uid, so that clients don't learn the operator's names. */
export type FlowHeaders = Readonly<
  Record<'x-kubernetes-pf-flowschema-uid' | 'x-kubernetes-pf-prioritylevel-uid', string>
>

export interface Refused {
  readonly granted: false
  readonly reason: RefusalReason
  /** Grows while the level keeps refusing. */
  readonly retryAfterSeconds: number
  readonly headers: FlowHeaders
}

export interface SeatLevel {
  readonly name: string
  readonly isExempt: boolean
}

export interface Seat {
  readonly granted: true
  readonly level: SeatLevel
  readonly headers: FlowHeaders
  /**
   * The request is done, or begins to wait for something that is not this server. `cpuMs` is the time it took of the
   * main thread, as far as it has not been charged yet. A second call does nothing.
   */
  release(cpuMs?: number): void
  /** The request has taken so much of the main thread. May be called at any time, after the release too. */
  charge(cpuMs: number): void
}

export type Admission = Seat | Refused

/** To be applied to the status of a FlowSchema. */
export interface FlowSchemaStatusUpdate {
  readonly name: string
  readonly condition: Required<FlowControlCondition>
}

/** The names of the columns are those of the properties, in their order. */
export type DumpRow = Readonly<Record<string, string>>

export type MetricLabels = Readonly<Record<string, string>>

export interface NumberFamily {
  readonly type: 'counter' | 'gauge'
  readonly name: string
  readonly help: string
  readonly samples: readonly { readonly labels: MetricLabels; readonly value: number }[]
}

export interface HistogramFamily {
  readonly type: 'histogram'
  readonly name: string
  readonly help: string
  readonly samples: readonly { readonly labels: MetricLabels; readonly value: HistogramSnapshot }[]
}

export type MetricFamily = NumberFamily | HistogramFamily

export interface FlowControl {
  /**
   * At once where a seat is free, or where the request can only be refused; else a promise, which the caller's signal
   * ends early. Every seat has to be released.
   */
  admit(request: FlowRequest, caller: FlowCaller): Eventual<Admission>
  /**
   * From now on these objects decide. Requests that wait or are worked on stay where they are. Answers the conditions
   * of those FlowSchemas whose status says otherwise.
   */
  configure(
    schemas: readonly FlowSchemaObject[],
    levels: readonly PriorityLevelObject[],
  ): readonly FlowSchemaStatusUpdate[]
  /** Begins to adjust the limits of the levels to their demand. */
  start(): void
  /** Ends what `start` began. Requests that wait go on to wait. */
  stop(): void
  /** All of `apiserver_flowcontrol_*`, as of now. */
  metrics(): readonly MetricFamily[]
  dumpPriorityLevels(): readonly DumpRow[]
  dumpQueues(): readonly DumpRow[]
  dumpRequests(includeDetails: boolean): readonly DumpRow[]
}
