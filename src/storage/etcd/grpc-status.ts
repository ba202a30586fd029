/** The status of a call, as gRPC tells it: codes, and the error that a call ends with. */
import { constants } from 'node:http2'

/** @see https://grpc.github.io/grpc/core/md_doc_statuscodes.html */
export const grpcStatus = {
  ok: 0,
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  permissionDenied: 7,
  resourceExhausted: 8,
  outOfRange: 11,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  dataLoss: 15,
  unauthenticated: 16,
} as const

/** A call that failed. */
export class GrpcError extends Error {
  override readonly name = 'GrpcError'
  readonly code: number
  /** What the server said, or what happened on the way to it. */
  readonly details: string

  constructor(code: number, details: string, options?: ErrorOptions) {
    super(`gRPC code ${code}: ${details}`, options)
    this.code = code
    this.details = details
  }
}

export interface ToldStatus {
  readonly code: number
  readonly message: string
}

/** What the headers or trailers of an answer tell; undefined: nothing yet. */
export function statusIn(headers: Readonly<Record<string, unknown>>): ToldStatus | undefined {
  const given = headers['grpc-status']
  if (given === undefined) return undefined
  const code = Number(given)
  const message = String(headers['grpc-message'] ?? '')
  return { code: Number.isInteger(code) ? code : grpcStatus.unknown, message: decoded(message) }
}

function decoded(message: string): string {
  if (!message.includes('%')) return message
  try {
    return decodeURIComponent(message)
  } catch {
    // Not encoded as gRPC wants it: then as it came.
    return message
  }
}

/** How a stream ended that told no status. */
export interface Ended {
  /** The connection was lost, not the stream alone. */
  readonly isConnectionLost: boolean
  readonly httpStatus: unknown
  readonly rstCode: number | undefined
  readonly cause: Error | undefined
}

/** @see https://github.com/grpc/grpc/blob/master/doc/http-grpc-status-mapping.md and PROTOCOL-HTTP2.md, "Errors" */
export function errorOfEnd({ isConnectionLost, httpStatus, rstCode, cause }: Ended): GrpcError {
  const because = cause === undefined ? '' : `: ${cause.message}`
  if (httpStatus !== undefined && httpStatus !== 200) {
    return new GrpcError(codeOfHttp(Number(httpStatus)), `Received HTTP status code ${String(httpStatus)}`, { cause })
  }
  if (isConnectionLost) return new GrpcError(grpcStatus.unavailable, `Connection dropped${because}`, { cause })
  return new GrpcError(codeOfReset(rstCode), `Stream closed with code ${rstCode}, without a status${because}`, {
    cause,
  })
}

function codeOfHttp(status: number): number {
  switch (status) {
    case 400:
      return grpcStatus.internal
    case 401:
      return grpcStatus.unauthenticated
    case 403:
      return grpcStatus.permissionDenied
    case 404:
      return grpcStatus.unimplemented
    case 429:
    case 502:
    case 503:
    case 504:
      return grpcStatus.unavailable
    default:
      return grpcStatus.unknown
  }
}

function codeOfReset(code: number | undefined): number {
  switch (code) {
    case constants.NGHTTP2_REFUSED_STREAM:
      return grpcStatus.unavailable
    case constants.NGHTTP2_CANCEL:
      return grpcStatus.cancelled
    case constants.NGHTTP2_ENHANCE_YOUR_CALM:
      return grpcStatus.resourceExhausted
    case constants.NGHTTP2_INADEQUATE_SECURITY:
      return grpcStatus.permissionDenied
    default:
      return grpcStatus.internal
  }
}
