/**
 * Storage faults as clients see them. The only place where a `StorageError` becomes a `StatusError`.
 */
import {
  badRequest,
  expired,
  internalError,
  requestTooLarge,
  StatusError,
  storeReadError,
  storeReadOnly,
  timeout,
  tooManyRequests,
} from '../kube/status-error.ts'
import { isStorageError, maxValueBytes, type Revision, StorageError } from '../storage/storage.ts'

const retryAfterSeconds = 1

/** Anything that is not a storage fault is returned as it came. */
export function fromStorage(error: unknown): unknown {
  const fault = findFault(error)
  if (!fault) return error
  switch (fault.code) {
    case 'compacted':
      return expired('The resourceVersion for the provided list is too old.')
    case 'tooLarge':
      return requestTooLarge(maxValueBytes)
    case 'full':
      return new StatusError('the store is full: at most deletes and small changes are taken until there is room', {
        code: 507,
        cause: error,
      })
    case 'readOnly':
      return storeReadOnly(error)
    case 'unavailable':
    case 'closed':
    case 'locked':
      return new StatusError('the store is not available at this moment, please try again', {
        reason: 'ServiceUnavailable',
        details: { retryAfterSeconds },
        cause: error,
      })
    case 'overflow':
      return new StatusError('the store moved on faster than it could be read, please try again', {
        reason: 'ServiceUnavailable',
        details: { retryAfterSeconds },
        cause: error,
      })
    case 'damaged':
      return storeReadError(fault.message, error)
    case 'future':
    case 'invalid':
    case 'corrupt':
      return internalError('the store refused the request', error)
  }
}

function findFault(error: unknown): StorageError | undefined {
  if (!isStorageError(error)) return undefined
  for (let e: unknown = error; e instanceof Error; e = e.cause) if (e instanceof StorageError) return e
  return undefined
}

/** `work` with its storage faults as `StatusError`. */
export const translate = <T>(work: Promise<T>): Promise<T> => work.catch(rethrow)

function rethrow(error: unknown): never {
  throw fromStorage(error)
}

/** The words a watch uses where a list says 'too old'. */
export const watchExpired = (asked: Revision, oldest: Revision): StatusError =>
  expired(`too old resource version: ${asked} (${oldest})`)

/** Of a store that this one was restored or copied from, or made up. */
export const watchOfTheFuture = (asked: Revision, current: Revision): StatusError =>
  expired(`too large resource version: ${asked} (${current}), which this store has never given out`)

/**
 * A reader that is too slow. 429 is what client-go answers by going on from the resourceVersion it saw last, without
 * a list; upstream ends such a watch without a word.
 */
export const watchTooSlow = (events: number): StatusError =>
  tooManyRequests(
    `the watch fell ${events} events behind and was cut off; go on from the resourceVersion that was seen last`,
    retryAfterSeconds,
  )

export const tooLargeVersion = (asked: Revision, current: Revision): StatusError =>
  timeout(`Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds,
  })

/** Said to the log of audit events, if at all: the client does not hear it. Ends work that is done in slices too. */
export const readerLeft = (): StatusError => timeout('the client left before its request was answered')

/** Others kept changing what the request depends on, until its time was up. */
export const gaveUp = (operation: string, resource: string): StatusError =>
  new StatusError(
    `The ${operation} operation against ${resource} could not be completed at this time, please try again.`,
    { reason: 'ServerTimeout', details: { kind: resource, retryAfterSeconds } },
  )

/** An unparsable resourceVersion, in the words of `list` (400) or of `get` and `watch` (500). */
export function badVersion(text: string, verb: 'list' | 'get' | 'watch'): StatusError {
  const words =
    `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ` +
    `${JSON.stringify(text)}: invalid syntax`
  return verb === 'list' ? badRequest(`invalid resource version: ${words}`) : new StatusError(words)
}
