/**
 * What the server did to protect itself: each kind is counted for the metrics, and told to the log once per flow and
 * minute, with the number of times. A log with a line for each event of a flood would be a flood.
 */
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'

/** Every bound that a client can run into, and the line for the log. */
export const bounds = {
  handshake_deadline: 'TLS handshakes were not finished in time: connections closed',
  headers_deadline: 'requests did not begin, or their headers did not end, in time: connections closed',
  body_deadline: 'bodies of requests came in too slowly: requests refused',
  handler_deadline: 'requests took too long to be worked on: answered 504',
  long_work_deadline: 'large requests waited too long for their turn: refused',
  answer_deadline: 'answers were read too slowly, or not at all: answers cut off',
  idle_deadline: 'connections without a request were closed',
  connections: 'there were too many connections: connections closed',
  address_connections: 'an address had too many connections without a user: connections closed',
  user_connections: 'a user had too many connections: requests refused, connections closed',
  memory: 'requests under way took too much memory: requests refused',
  flow_memory: 'requests of one user or address took too much memory: requests refused',
  largest_flow: 'memory was short: requests and answers of the user or address that took most were ended',
  unread_memory: 'answers that are not read took too much memory: answers cut off',
  watch_memory: 'watches that are behind took too much memory: watches ended',
  heap: 'the heap was nearly full: large requests refused',
  http2_flood: 'HTTP/2 connections sent too many frames that ask for nothing: connections closed',
  refused_flood: 'a user had too many refused requests under way: connections closed',
  pipelined_flood: 'HTTP/1.1 connections sent many requests without waiting for answers: connections closed',
  body_pieces: 'bodies of requests came in too many small pieces: connections closed',
  audit_bodies: 'too many long bodies wait for the audit log: events recorded without them',
  http2_resets: 'HTTP/2 connections cancelled too many requests: connections closed',
} as const

export type Bound = keyof typeof bounds

/** Closing an idle connection is no sign of trouble: it is counted, not told. */
const quiet: ReadonlySet<Bound> = new Set<Bound>(['idle_deadline'])

const intervalMs = 60_000
/** Flows that are told apart in one minute; the rest is told as one. */
const maxFlows = 100
const otherFlows = 'others'

interface Told {
  readonly bound: Bound
  readonly flow: string
  atMs: number
  /** Since then. */
  untold: number
}

export class Incidents {
  readonly #clock: Clock
  readonly #log: Log
  readonly #counts = new Map<Bound, number>()
  readonly #told = new Map<string, Told>()

  constructor(clock: Clock, log: Log) {
    this.#clock = clock
    this.#log = log
  }

  /** How often each has happened. */
  get counts(): ReadonlyMap<Bound, number> {
    return this.#counts
  }

  happened(bound: Bound, flow: string): void {
    this.#counts.set(bound, (this.#counts.get(bound) ?? 0) + 1)
    if (quiet.has(bound)) return
    const nowMs = this.#clock.monotonic()
    const told = this.#find(bound, flow, nowMs)
    told.untold++
    if (nowMs - told.atMs >= intervalMs) this.#tell(told, nowMs)
  }

  /** Tells what was kept back, when its minute is over. Answers whether anything is left to tell. */
  look(): boolean {
    const nowMs = this.#clock.monotonic()
    for (const [key, told] of this.#told) {
      if (nowMs - told.atMs < intervalMs) continue
      if (told.untold > 0) this.#tell(told, nowMs)
      else this.#told.delete(key)
    }
    return this.#told.size > 0
  }

  #find(bound: Bound, flow: string, nowMs: number): Told {
    const key = `${bound} ${flow}`
    const known = this.#told.get(key)
    if (known !== undefined) return known
    if (this.#told.size >= maxFlows && flow !== otherFlows) return this.#find(bound, otherFlows, nowMs)
    const told: Told = { bound, flow, atMs: nowMs - intervalMs, untold: 0 }
    this.#told.set(key, told)
    return told
  }

  #tell(told: Told, nowMs: number): void {
    this.#log.warn({ bound: told.bound, flow: told.flow, times: told.untold }, bounds[told.bound])
    told.atMs = nowMs
    told.untold = 0
  }
}
