/**
 * gRPC to one member of etcd over Node's HTTP/2: calls with one answer, and streams of answers. It keeps one
 * connection, made when it is needed and again after it broke, with pauses that grow while that fails.
 *
 * It knows methods by their paths and messages as bytes with a reader, not what they say. A call is sent once: whether
 * it may be sent again, and to whom, decides `EtcdConnection`.
 */
import type { Clock } from '../../base/clock.ts'
import { GrpcStream, Unary } from './grpc-calls.ts'
import { framed } from './grpc-messages.ts'
import { GrpcSession, type GrpcTarget } from './grpc-session.ts'
import { GrpcError, grpcStatus } from './grpc-status.ts'
import type { Method } from './messages.ts'

export type CallHeaders = Readonly<Record<string, string>>

export interface UnaryOptions {
  /** On the clock. */
  readonly deadlineMs: number
  readonly headers?: CallHeaders | undefined
}

export interface UnaryCall {
  /** It ends as cancelled, unless it has ended. */
  cancel(): void
}

const firstBackoffMs = 100
const lastBackoffMs = 1_000
/** Of gRPC: eight digits. */
const mostTimeoutMs = 99_999_999

export class GrpcChannel {
  readonly #target: GrpcTarget
  readonly #clock: Clock
  readonly #closing = new AbortController()
  readonly #sessions = new Set<GrpcSession>()
  /** The one that calls go to. */
  #session: GrpcSession | undefined
  #connecting: Promise<GrpcSession> | undefined
  /** Why the last connection could not be made, and until when none is tried; on the monotonic clock. */
  #failure: { readonly error: GrpcError; readonly untilMs: number } | undefined
  #backoffMs = firstBackoffMs

  constructor(target: GrpcTarget, clock: Clock) {
    this.#target = target
    this.#clock = clock
  }

  /** @throws GrpcError: there is none, and soon will be none; or not in time */
  async connect(deadlineMs: number): Promise<void> {
    if (this.#session?.isUsable) return
    const connected = this.#connected()
    if (deadlineMs === Number.POSITIVE_INFINITY) {
      await connected
      return
    }
    const late = Promise.withResolvers<never>()
    const timer = this.#clock.after(Math.max(0, deadlineMs - this.#clock.now()), () =>
      late.reject(new GrpcError(grpcStatus.deadlineExceeded, 'no connection in time')),
    )
    try {
      await Promise.race([connected, late.promise])
    } finally {
      timer.cancel()
    }
  }

  /** `done` is called once, with an error or an answer. */
  unary<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    { deadlineMs, headers }: UnaryOptions,
    done: (error: Error | undefined, response?: Response) => void,
  ): UnaryCall {
    const call = new Unary(method.deserialize, done)
    const leftMs = deadlineMs - this.#clock.now()
    if (leftMs !== Number.POSITIVE_INFINITY) {
      const timer = this.#clock.after(Math.max(0, leftMs), () =>
        call.stop(new GrpcError(grpcStatus.deadlineExceeded, 'Deadline exceeded')),
      )
      const onEnd = (): void => timer.cancel()
      call.onEnd = onEnd
    }
    const send = (session: GrpcSession): void => {
      if (call.isOver) return
      try {
        const stream = session.begin(headersOf(method.path, headers, deadlineMs - this.#clock.now()))
        call.follow(stream, session)
        stream.end(framed(method.serialize(request)))
      } catch (cause) {
        call.stop(unavailable(cause))
      }
    }
    if (this.#session?.isUsable) send(this.#session)
    else this.#connected().then(send, (error: GrpcError) => call.stop(error))
    return call
  }

  /** Begins at once: there is a connection, or the stream ends with that. */
  stream<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    headers: CallHeaders,
  ): GrpcStream<Response> {
    const session = this.#session
    if (!session?.isUsable) return new GrpcStream(method.deserialize, noConnection)
    try {
      const stream = session.begin(headersOf(method.path, headers, Number.POSITIVE_INFINITY))
      const answers = new GrpcStream(method.deserialize, { stream, session })
      stream.write(framed(method.serialize(request)))
      return answers
    } catch (cause) {
      return new GrpcStream(method.deserialize, unavailable(cause))
    }
  }

  /** Its calls end as unavailable. */
  close(): void {
    this.#closing.abort()
    for (const session of this.#sessions) session.destroy()
  }

  async #connected(): Promise<GrpcSession> {
    if (this.#session?.isUsable) return this.#session
    if (this.#closing.signal.aborted) throw new GrpcError(grpcStatus.unavailable, 'the channel is closed')
    if (this.#failure !== undefined && this.#clock.monotonic() < this.#failure.untilMs) throw this.#failure.error
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined
    })
    return this.#connecting
  }

  async #connect(): Promise<GrpcSession> {
    try {
      const session = await GrpcSession.connect(this.#target, this.#clock, this.#closing.signal)
      this.#failure = undefined
      this.#backoffMs = firstBackoffMs
      this.#session = session
      this.#sessions.add(session)
      session.onClose(() => this.#sessions.delete(session))
      return session
    } catch (cause) {
      const error = unavailable(cause)
      this.#failure = { error, untilMs: this.#clock.monotonic() + this.#backoffMs }
      this.#backoffMs = Math.min(2 * this.#backoffMs, lastBackoffMs)
      throw error
    }
  }
}

const noConnection = new GrpcError(grpcStatus.unavailable, 'No connection established')

const unavailable = (cause: unknown): GrpcError =>
  new GrpcError(
    grpcStatus.unavailable,
    `No connection established. Last error: ${cause instanceof Error ? cause.message : String(cause)}`,
    { cause },
  )

function headersOf(path: string, more: CallHeaders | undefined, leftMs: number): Record<string, string> {
  const headers: Record<string, string> = {
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    'user-agent': 'borough',
    ...more,
  }
  if (leftMs !== Number.POSITIVE_INFINITY) {
    const ms = Math.max(1, Math.ceil(leftMs))
    headers['grpc-timeout'] = ms > mostTimeoutMs ? `${Math.ceil(ms / 1000)}S` : `${ms}m`
  }
  return headers
}
