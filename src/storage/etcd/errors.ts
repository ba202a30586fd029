/** What etcd's gRPC errors mean to users of a `Storage`. The only place that reads etcd's error texts. */
import type { StorageErrorCode } from '../storage.ts'
import { StorageError } from '../storage.ts'
import { GrpcError, grpcStatus } from './grpc-status.ts'

/** etcd gives several errors one gRPC code, so its text decides first. */
const byText: readonly (readonly [text: string, code: StorageErrorCode])[] = [
  ['required revision has been compacted', 'compacted'],
  ['required revision is a future revision', 'future'],
  ['database space exceeded', 'full'],
  ['request is too large', 'tooLarge'],
  ['too many operations in txn request', 'tooLarge'],
  ['duplicate key given in txn request', 'invalid'],
  ['key is not provided', 'invalid'],
  ['corrupt cluster', 'corrupt'],
]

/** Everything unnamed is `unavailable`: no quorum, no connection, no right to log in, an etcd that makes no sense. */
export function toStorageError(error: unknown, what: string): StorageError {
  if (error instanceof StorageError) return error
  if (!(error instanceof GrpcError))
    return new StorageError('unavailable', `${what}: etcd cannot be used`, { cause: error })
  const code = byText.find(([text]) => error.details.includes(text))?.[1] ?? byGrpcCode(error.code)
  return new StorageError(code, `${what}: ${error.details}`, { cause: error })
}

function byGrpcCode(code: number): StorageErrorCode {
  switch (code) {
    case grpcStatus.dataLoss:
      return 'corrupt'
    case grpcStatus.invalidArgument:
      return 'invalid'
    default:
      return 'unavailable'
  }
}

/** True if asking another member, or the same one once more, may help. */
export function isTransient(error: unknown): boolean {
  return (
    error instanceof GrpcError &&
    toStorageError(error, '').code === 'unavailable' &&
    error.code !== grpcStatus.unauthenticated &&
    error.code !== grpcStatus.permissionDenied &&
    error.code !== grpcStatus.cancelled
  )
}

/** True if our own deadline for a request passed. */
export function isLate(error: unknown): boolean {
  return error instanceof GrpcError && error.code === grpcStatus.deadlineExceeded
}

/** Refused before anything was done, because of the token: it has ended, or users and roles were changed since. */
export function isTokenRefused(error: unknown): boolean {
  return error instanceof GrpcError && tokenTexts.some((text) => error.details.includes(text))
}

const tokenTexts = ['invalid auth token', 'revision of auth store is old', 'user name is empty']

/** The answer to a login where etcd has no users. */
export function saysAuthIsOff(error: unknown): boolean {
  return error instanceof GrpcError && error.details.includes('authentication is not enabled')
}
