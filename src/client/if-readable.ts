/** What a caller may be without: types that it may not read, or that the cluster does not serve. */
import { isForbidden, isNotFound } from '../kube/status-error.ts'

/** undefined = not to this caller, or not on this cluster. Rejects with any other error. */
export async function ifReadable<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (isForbidden(error) || isNotFound(error)) return undefined
    throw error
  }
}
