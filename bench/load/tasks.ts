/** What the load process is asked to do, and what it answers. Plain data. */
import type { Call, Endpoint, Protocol } from './connection.ts'

/** The same call again and again; `{n}` in path and body stands for a number that is used once. */
export interface RepeatTask {
  readonly kind: 'repeat'
  readonly endpoint: Endpoint
  readonly protocol: Protocol
  readonly clients: number
  readonly call: Call
  /** Ends after so many calls or so much time, whichever is given. */
  readonly calls?: number
  readonly durationMs?: number
  /** The first `{n}`. */
  readonly from?: number
}

/** Writers make objects as fast as they are let, watchers each see all of them. */
export interface WatchTask {
  readonly kind: 'watch'
  readonly endpoint: Endpoint
  readonly protocol: Protocol
  readonly watchers: number
  readonly watchPath: string
  readonly writers: number
  /** Its body holds `{t}`, replaced by the time of sending in ms. */
  readonly create: Call
  readonly creates: number
}

export type Task = RepeatTask | WatchTask

export interface Times {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

export interface TaskResult extends Times {
  /** Calls, or events seen by watchers. */
  readonly count: number
  readonly elapsedMs: number
  /** CPU time of the load process meanwhile. */
  readonly cpuMs: number
}

export function timesOf(latenciesMs: readonly number[], count: number, elapsedMs: number): Times {
  const sorted = Float64Array.from(latenciesMs).sort()
  const quantile = (q: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0
  return { perSecond: (count / elapsedMs) * 1000, p50Ms: quantile(0.5), p99Ms: quantile(0.99) }
}
