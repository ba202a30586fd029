/** `event-ttl-controller`: the deleting half. What is old enough is found by `expiry.ts`. */
import type { Client } from '../../client/client.ts'
import type { Reconciler } from '../../controller/controller.ts'
import { isNotFound } from '../../kube/status-error.ts'

export const eventTtlControllerName = 'event-ttl-controller'
const eventResource = { group: '', version: 'v1', resource: 'events' } as const

/** Deletes an Event whose time is over. */
export function eventTtlReconciler(client: Client): Reconciler {
  return {
    async reconcile(key, signal) {
      try {
        await client.delete(eventResource, key, { signal })
      } catch (error) {
        if (!isNotFound(error)) throw error
      }
      return undefined
    },
  }
}
