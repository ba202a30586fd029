/** Events are forgotten after an hour. */
import type { Feature } from '../../feature/feature.ts'
import { may, read } from '../rbac/bootstrap-rules.ts'
import { eventFeed } from './event-feed.ts'
import { expiredEvents } from './expiry.ts'
import { eventTtlControllerName, eventTtlReconciler } from './reconcile.ts'

export const eventExpiry: Feature = {
  name: 'events',
  controllerRules: { [eventTtlControllerName]: [may([...read, 'delete'], '', 'events')] },
  open: (context) => ({
    controllers: ({ client }) => [
      {
        name: eventTtlControllerName,
        workers: 2,
        sources: [expiredEvents(eventFeed(context), context.clock)],
        reconciler: eventTtlReconciler(client(eventTtlControllerName)),
      },
    ],
  }),
}
