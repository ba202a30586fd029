/** What the log says where a controller could not follow the store, or write into it, and tries again. */
import { findStatusError } from '../kube/status-error.ts'

const insufficientStorage = 507

export const whatFailed = (error: unknown): string =>
  findStatusError(error)?.code === insufficientStorage
    ? 'a controller could not write, since the store is full; it tries again'
    : 'a watch broke and is taken up again'
