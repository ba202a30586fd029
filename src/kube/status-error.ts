/**
 * Every refusal a client can see: one class, a closed set of reasons, and the constructors that word them.
 * Only `registry/errors.ts` turns storage faults into these, only `http/respond.ts` turns these into bytes.
 * @see k8s.io/apimachinery/pkg/api/errors/errors.go v0.36
 */
import { aggregate } from './aggregate.ts'
import { boundedDetails, boundedText } from './bounded-text.ts'
import { causeOf, type FieldError } from './field-error.ts'
import { type GroupResource, qualifiedKind, qualifiedResource } from './gvk.ts'
import type { Status, StatusCause, StatusDetails } from './types.ts'

/** Reason → HTTP status code. */
export const codeByReason = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  AlreadyExists: 409,
  Conflict: 409,
  Expired: 410,
  Gone: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  ServiceUnavailable: 503,
  Timeout: 504,
  ServerTimeout: 500,
  StoreReadError: 500,
} as const

export type StatusReason = keyof typeof codeByReason

export interface StatusErrorOptions {
  readonly reason?: StatusReason
  /** Defaults to the reason's; 500 without a reason. */
  readonly code?: number
  readonly details?: StatusDetails
  /** Put into the Status's own metadata (the token of an expired continue). */
  readonly continueToken?: string
  readonly cause?: unknown
}

export class StatusError extends Error {
  override readonly name = 'StatusError'
  readonly reason: StatusReason | undefined
  readonly code: number
  readonly details: StatusDetails | undefined
  readonly continueToken: string | undefined

  constructor(message: string, options: StatusErrorOptions = {}) {
    const { stackTraceLimit } = Error
    // Thousands in a second, of which none is looked into.
    if (options.reason === 'TooManyRequests') Error.stackTraceLimit = 0
    super(boundedText(message), options.cause === undefined ? undefined : { cause: options.cause })
    Error.stackTraceLimit = stackTraceLimit
    this.reason = options.reason
    this.code = options.code ?? (options.reason ? codeByReason[options.reason] : 500)
    this.details = options.details
    this.continueToken = options.continueToken
  }

  toStatus(): Status {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: this.continueToken === undefined ? {} : { continue: this.continueToken },
      status: 'Failure',
      message: this.message,
      ...(this.reason ? { reason: this.reason } : {}),
      ...(this.details ? { details: boundedDetails(this.details) } : {}),
      code: this.code,
    }
  }
}

/** The StatusError in a chain of causes, if there is one. */
export function findStatusError(error: unknown): StatusError | undefined {
  for (let e = error; e instanceof Error; e = e.cause) if (e instanceof StatusError) return e
  return undefined
}

const hasReason =
  (reason: StatusReason) =>
  (error: unknown): boolean =>
    findStatusError(error)?.reason === reason

export const isNotFound: (error: unknown) => boolean = hasReason('NotFound')
export const isStoreReadError: (error: unknown) => boolean = hasReason('StoreReadError')
export const isConflict: (error: unknown) => boolean = hasReason('Conflict')
export const isAlreadyExists: (error: unknown) => boolean = hasReason('AlreadyExists')
export const isForbidden: (error: unknown) => boolean = hasReason('Forbidden')
export const isInvalid: (error: unknown) => boolean = hasReason('Invalid')
/** By the code: older servers, and what stands between, say `Gone` or nothing for a reason. */
export const isExpired = (error: unknown): boolean => findStatusError(error)?.code === 410
export const isTooManyRequests: (error: unknown) => boolean = hasReason('TooManyRequests')

const detailsOf = (r: GroupResource, name: string): StatusDetails => ({
  ...(name ? { name } : {}),
  ...(r.group ? { group: r.group } : {}),
  kind: r.resource,
})

export const notFound = (r: GroupResource, name: string): StatusError =>
  new StatusError(`${qualifiedResource(r)} "${name}" not found`, { reason: 'NotFound', details: detailsOf(r, name) })

export const alreadyExists = (r: GroupResource, name: string): StatusError =>
  new StatusError(`${qualifiedResource(r)} "${name}" already exists`, {
    reason: 'AlreadyExists',
    details: detailsOf(r, name),
  })

export const conflict = (r: GroupResource, name: string, why: string): StatusError =>
  new StatusError(`Operation cannot be fulfilled on ${qualifiedResource(r)} "${name}": ${why}`, {
    reason: 'Conflict',
    details: detailsOf(r, name),
  })

export const objectModified =
  'the object has been modified; please apply your changes to the latest version and try again'

/** `<resource> "<name>" is forbidden: <why>`, the form of admission refusals. */
export const forbidden = (r: GroupResource, name: string, why: string, causes?: StatusCause[]): StatusError =>
  new StatusError(
    name ? `${qualifiedResource(r)} "${name}" is forbidden: ${why}` : `${qualifiedResource(r)} is forbidden: ${why}`,
    { reason: 'Forbidden', details: { ...detailsOf(r, name), ...(causes ? { causes } : {}) } },
  )

export const badRequest = (message: string): StatusError => new StatusError(message, { reason: 'BadRequest' })

export const unauthorized = (): StatusError => new StatusError('Unauthorized', { reason: 'Unauthorized' })

export const methodNotAllowed = (): StatusError =>
  new StatusError('the server does not allow this method on the requested resource', {
    reason: 'MethodNotAllowed',
    details: {},
  })

export const resourceNotFound = (): StatusError =>
  new StatusError('the server could not find the requested resource', { reason: 'NotFound', details: {} })

export const notAcceptable = (mediaTypes: readonly string[]): StatusError =>
  new StatusError(`only the following media types are accepted: ${mediaTypes.join(', ')}`, { reason: 'NotAcceptable' })

export const unsupportedMediaType = (mediaTypes: readonly string[]): StatusError =>
  new StatusError(
    `the body of the request was in an unknown format - accepted media types include: ${mediaTypes.join(', ')}`,
    { reason: 'UnsupportedMediaType' },
  )

export const requestTooLarge = (limit: number): StatusError =>
  new StatusError(`Request entity too large: limit is ${limit}`, { reason: 'RequestEntityTooLarge' })

export const requestHasTooManyValues = (limit: number): StatusError =>
  new StatusError(`Request entity too large: limit is ${limit} values`, { reason: 'RequestEntityTooLarge' })

/** 422 without a word about the fault: how upstream answers a JSON patch that does not apply. The cause says more. */
export const rejected = (cause: unknown): StatusError =>
  new StatusError('the server rejected our request due to an error in our request', {
    reason: 'Invalid',
    details: {},
    cause,
  })

export const expired = (message: string, continueToken?: string): StatusError =>
  new StatusError(message, { reason: 'Expired', ...(continueToken === undefined ? {} : { continueToken }) })

export const timeout = (message: string, details?: StatusDetails): StatusError =>
  new StatusError(`Timeout: ${message}`, { reason: 'Timeout', ...(details ? { details } : {}) })

export const tooManyRequests = (message: string, retryAfterSeconds: number): StatusError =>
  new StatusError(message, { reason: 'TooManyRequests', details: { retryAfterSeconds } })

export const internalError = (message: string, cause?: unknown): StatusError =>
  new StatusError(`Internal error occurred: ${message}`, {
    reason: 'InternalError',
    details: { causes: [{ message }] },
    cause,
  })

/** What is stored can't be read. `message` names it: a client that may read it is told which object it is. */
export const storeReadError = (message: string, cause?: unknown): StatusError =>
  new StatusError(message, { reason: 'StoreReadError', details: { causes: [{ message }] }, cause })

const onlyRead = 'the store can only be read: no writes are taken until the server is started again'

/** Ours: of a store that reads go on from. No `retryAfterSeconds`: it does not help to try again soon. */
export const storeReadOnly = (cause?: unknown): StatusError =>
  new StatusError(onlyRead, {
    reason: 'ServiceUnavailable',
    details: { causes: [{ reason: 'StoreReadOnly', message: onlyRead }] },
    cause,
  })

export const isStoreReadOnly = (error: unknown): boolean =>
  findStatusError(error)?.details?.causes?.some(({ reason }) => reason === 'StoreReadOnly') === true

/** Ours: a client that sends 50,000 bad labels is not sent 50 MB about them. Enough for what a person wrote. */
const maxFaults = 100

/** Each text once, and how many errors are not told. */
function textsOf(errors: readonly FieldError[]): string[] {
  const texts = new Set(errors.slice(0, maxFaults).map((e) => `${e.field}: ${e.body}`))
  return errors.length <= maxFaults ? [...texts] : [...texts, `and ${errors.length - maxFaults} more`]
}

/** 422; the top-level message says each error once, the causes keep them all, as far as there are not too many. */
export function invalid(
  kind: { readonly group: string; readonly kind: string },
  name: string,
  errors: readonly FieldError[],
): StatusError {
  const texts = textsOf(errors)
  return new StatusError(`${qualifiedKind(kind)} ${JSON.stringify(name)} is invalid: ${aggregate(texts)}`, {
    reason: 'Invalid',
    details: {
      ...(name ? { name } : {}),
      ...(kind.group ? { group: kind.group } : {}),
      ...(kind.kind ? { kind: kind.kind } : {}),
      causes: errors.slice(0, maxFaults).map(causeOf),
    },
  })
}

/** 422 about request options (`CreateOptions`, `ListOptions`, ...). */
export const invalidOptions = (kind: string, errors: readonly FieldError[]): StatusError =>
  invalid({ group: 'meta.k8s.io', kind }, '', errors)
