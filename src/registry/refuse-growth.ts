/** How many values an object may come to hold by updates. What one body may hold is bounded where it is decoded. */
import { requestHasTooManyValues } from '../kube/status-error.ts'
import type { JsonObject, KubeObject } from '../kube/types.ts'
import { countValues, maxValues } from '../kube/value-count.ts'

/**
 * A body is bounded, and what several make of an object as well. What was larger before may stay so.
 * @throws StatusError 413
 */
export function refuseGrowth(next: KubeObject, old: KubeObject): void {
  const count = countContent(next, maxValues)
  if (count > maxValues && countContent(next, Number.POSITIVE_INFINITY) > countContent(old, Number.POSITIVE_INFINITY)) {
    throw requestHasTooManyValues(maxValues)
  }
}

/** Without managedFields: a client does not send most of them, and gives none of them back by sending less. */
function countContent({ metadata: { managedFields: _, ...metadata }, ...content }: KubeObject, most: number): number {
  return countValues({ ...content, metadata } as unknown as JsonObject, most)
}
