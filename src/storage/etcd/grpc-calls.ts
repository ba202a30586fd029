/** How the answers to calls of gRPC are read from streams of HTTP/2: one answer, or many. */
import { type ClientHttp2Stream, constants, type IncomingHttpHeaders } from 'node:http2'
import { setImmediate } from 'node:timers/promises'
import { MessageReader } from './grpc-messages.ts'
import type { GrpcSession } from './grpc-session.ts'
import { errorOfEnd, GrpcError, grpcStatus, statusIn, type ToldStatus } from './grpc-status.ts'

const cancelled = (): GrpcError => new GrpcError(grpcStatus.cancelled, 'Cancelled on client')

/** @throws GrpcError */
function readOf<Response>(read: (bytes: Buffer) => Response, message: Buffer): Response {
  try {
    return read(message)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new GrpcError(grpcStatus.internal, `the answer can't be read: ${why}`, { cause })
  }
}

/** What an answer has told so far besides its messages. */
class Told {
  httpStatus: unknown
  status: ToldStatus | undefined
  cause: Error | undefined

  /** What comes is of gRPC: something else between here and there may have answered in its place. */
  get isAnswer(): boolean {
    return this.httpStatus === undefined || this.httpStatus === 200
  }

  follow(stream: ClientHttp2Stream, onStatus: () => void = () => {}): void {
    const note = (headers: IncomingHttpHeaders): void => {
      this.httpStatus ??= headers[':status']
      this.status ??= statusIn(headers)
      if (this.status !== undefined) onStatus()
    }
    stream.on('response', note)
    stream.on('trailers', note)
    stream.on('error', (error: Error) => {
      this.cause ??= error
    })
  }

  /** Of one that has ended, or told its status. undefined = well. */
  errorOf(stream: ClientHttp2Stream, session: GrpcSession): GrpcError | undefined {
    const { httpStatus, status, cause } = this
    if (status !== undefined) {
      return status.code === grpcStatus.ok ? undefined : new GrpcError(status.code, status.message)
    }
    return errorOfEnd({ httpStatus, cause, rstCode: stream.rstCode, isConnectionLost: session.isLost })
  }
}

/** Calls `done` once. */
export class Unary<Response> {
  readonly #read: (bytes: Buffer) => Response
  readonly #done: (error: Error | undefined, response?: Response) => void
  readonly #messages = new MessageReader()
  readonly #told = new Told()
  #stream: ClientHttp2Stream | undefined
  #message: Buffer | undefined
  isOver = false
  onEnd: () => void = () => {}

  constructor(read: (bytes: Buffer) => Response, done: (error: Error | undefined, response?: Response) => void) {
    this.#read = read
    this.#done = done
  }

  follow(stream: ClientHttp2Stream, session: GrpcSession): void {
    this.#stream = stream
    const end = (): void => this.#end(this.#told.errorOf(stream, session))
    this.#told.follow(stream, () => {
      // Its message may still be on its way to us, if it is long.
      if (this.#told.status?.code !== grpcStatus.ok || this.#message !== undefined) end()
    })
    stream.on('data', (piece: Buffer) => {
      if (this.isOver || !this.#told.isAnswer) return
      try {
        for (const message of this.#messages.take(piece)) this.#message = message
        if (this.#message !== undefined && this.#told.status !== undefined) end()
      } catch (error) {
        this.stop(error as GrpcError)
      }
    })
    stream.on('close', end)
  }

  stop(error: GrpcError): void {
    if (this.isOver) return
    this.#end(error)
    this.#stream?.close(constants.NGHTTP2_CANCEL)
  }

  cancel(): void {
    this.stop(cancelled())
  }

  #end(error: GrpcError | undefined): void {
    if (this.isOver) return
    this.isOver = true
    this.onEnd()
    if (error !== undefined) return this.#done(error)
    if (this.#message === undefined)
      return this.#done(new GrpcError(grpcStatus.internal, 'an answer without a message'))
    let response: Response
    try {
      response = readOf(this.#read, this.#message)
    } catch (unread) {
      return this.#done(unread as GrpcError)
    }
    this.#done(undefined, response)
  }
}

interface Begun {
  readonly stream: ClientHttp2Stream
  readonly session: GrpcSession
}

/** Many answers to one request, read as they are asked for: what is not asked for stays with the member. */
export class GrpcStream<Response> implements AsyncIterable<Response> {
  readonly #read: (bytes: Buffer) => Response
  readonly #begun: Begun | GrpcError
  readonly #told = new Told()
  #isCancelled = false

  constructor(read: (bytes: Buffer) => Response, begun: Begun | GrpcError) {
    this.#read = read
    this.#begun = begun
    if (!(begun instanceof GrpcError)) this.#told.follow(begun.stream)
  }

  /** Its reader hears that it is cancelled. */
  cancel(): void {
    this.#isCancelled = true
    if (!(this.#begun instanceof GrpcError)) this.#begun.stream.close(constants.NGHTTP2_CANCEL)
  }

  /** Ends where the member ends it well. @throws GrpcError */
  async *[Symbol.asyncIterator](): AsyncGenerator<Response> {
    if (this.#begun instanceof GrpcError) throw this.#begun
    const { stream, session } = this.#begun
    const messages = new MessageReader()
    try {
      for await (const piece of stream as AsyncIterable<Buffer>) {
        for (const message of this.#told.isAnswer ? messages.take(piece) : []) yield readOf(this.#read, message)
      }
    } catch (error) {
      // Another is of the stream itself: how it ended says more.
      if (error instanceof GrpcError && !this.#isCancelled) throw error
    }
    if (this.#isCancelled) throw cancelled()
    // A lost connection ends its streams before it says that it is lost.
    if (this.#told.status === undefined) await setImmediate()
    const error = this.#told.errorOf(stream, session)
    if (error !== undefined) throw error
    if (messages.isAmid) throw new GrpcError(grpcStatus.internal, 'the stream ended amid a message')
  }
}
