/** What the log says where a controller could not follow the store, or write into it, and tries again. */
import { findStatusError, isStoreReadOnly } from '../kube/status-error.ts'

const insufficientStorage = 507

export function whatFailed(error: unknown): string {
  if (findStatusError(error)?.code === insufficientStorage) {
    return 'a controller could not write, since the store is full; it tries again'
  }
  if (isStoreReadOnly(error)) return 'a controller could not write, since the store is only read; it tries again'
  return 'a watch broke and is taken up again'
}
