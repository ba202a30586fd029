/** How much clients may do to the server before it defends itself, and why by default so much. */
import type { BudgetLimits } from './byte-budget.ts'

export interface Deadlines {
  /** From the TCP connection to the end of the TLS handshake. */
  readonly handshakeMs: number
  /** From the handshake to the first request, and from the first byte of a request to the end of its headers. */
  readonly headersMs: number
  /** A body that comes in, or an answer that is read, more slowly than the least rate for so long is given up. */
  readonly slowMs: number
  readonly leastBytesPerSecond: number
  /** Of the work on a request. Not of watches, and not while a request waits for its body or an initializer. */
  readonly handlerMs: number
  /** Of a connection without a request. */
  readonly idleMs: number
}

export interface ConnectionLimits {
  readonly all: number
  /** Without a user yet. */
  readonly perAddress: number
  readonly perUser: number
}

export interface Http2Limits {
  readonly streams: number
  /** Streams that are cancelled before they are answered, per second. */
  readonly resets: number
  /** Bytes per second of frames that are neither requests nor bodies: PING, SETTINGS, PRIORITY, empty DATA, … */
  readonly overheadBytes: number
}

export interface TransportLimits {
  readonly deadlines: Deadlines
  readonly connections: ConnectionLimits
  readonly http2: Http2Limits
}

/** Patient enough for a slow link: a body of 3 MiB may take 50 minutes, an answer is cut off when nothing is read. */
export const defaultDeadlines: Deadlines = {
  handshakeMs: 10_000,
  headersMs: 30_000,
  slowMs: 30_000,
  leastBytesPerSecond: 1024,
  // kube-apiserver's --request-timeout.
  handlerMs: 60_000,
  idleMs: 120_000,
}

/** As Go's HTTP/2 server; a Go client that needs more streams opens another connection. */
const http2Streams = 250

export const defaultHttp2Limits: Http2Limits = {
  streams: http2Streams,
  // A client that stops may cancel all of its streams at once, and do so again when it comes back.
  resets: 2 * http2Streams,
  overheadBytes: 64 * 1024,
}

/** What a TLS connection costs Node, in native memory and objects. */
const connectionBytes = 80 * 1024

/** One process of one server, and the least that makes sense. */
export const defaultMaxMemoryBytes: number = 512 * 1024 * 1024
export const leastMaxMemoryBytes: number = 32 * 1024 * 1024

/**
 * Two fifths of the memory are for connections, two fifths for requests and answers that are counted, a tenth for
 * events that wait for watches. The rest is for small answers, and for garbage that is not collected yet.
 */
export function connectionsWithin(maxMemoryBytes: number, asked: Partial<ConnectionLimits> = {}): ConnectionLimits {
  const { all = Math.floor((maxMemoryBytes * 0.4) / connectionBytes) } = asked
  // Of what is asked for, not of what the memory has room for: no address and no user has all of a few.
  const half = Math.ceil(all / 2)
  return { all, perAddress: asked.perAddress ?? half, perUser: asked.perUser ?? half }
}

export function budgetWithin(maxMemoryBytes: number): BudgetLimits {
  const totalBytes = Math.floor(maxMemoryBytes * 0.4)
  return { totalBytes, flowBytes: Math.floor(totalBytes / 3) }
}

/** Of events that wait for watches which are behind. */
export function pendingWithin(maxMemoryBytes: number): BudgetLimits {
  const totalBytes = Math.floor(maxMemoryBytes * 0.1)
  return { totalBytes, flowBytes: Math.floor(totalBytes / 2) }
}

export const defaultTransportLimits: TransportLimits = {
  deadlines: defaultDeadlines,
  connections: connectionsWithin(defaultMaxMemoryBytes),
  http2: defaultHttp2Limits,
}

/** Of the address that is kept for administrators: enough for a few operators, too little to be worth an attack. */
export const reservedConnections: ConnectionLimits = { all: 32, perAddress: 32, perUser: 32 }
export const reservedBudget: BudgetLimits = { totalBytes: 128 * 1024 * 1024, flowBytes: 64 * 1024 * 1024 }
