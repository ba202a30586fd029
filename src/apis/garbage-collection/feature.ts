/** Garbage collection by owner references. */
import type { Feature } from '../../feature/feature.ts'
import { recorderOf } from '../events/recorder.ts'
import { events, may, read } from '../rbac/bootstrap-rules.ts'
import { ownerReferencesPermission } from './admission.ts'
import { ownershipFeed } from './ownership-feed.ts'
import { garbageCollector, garbageCollectorName } from './reconcile.ts'

export interface GarbageCollectionOptions {
  /** Plugins that are off by default. */
  readonly extraAdmission: readonly string[]
}

export const garbageCollection = ({ extraAdmission }: GarbageCollectionOptions): Feature => ({
  name: 'garbage-collection',
  controllerRules: {
    // Deletes what lost its owner, and takes owner references and finalizers off what is kept.
    [garbageCollectorName]: [may([...read, 'delete', 'patch', 'update'], '*', '*'), events],
  },
  open: (context) => ({
    admission: [ownerReferencesPermission({ authorizer: context.authorizer, types: context.catalog.types })].filter(
      ({ name }) => extraAdmission.includes(name),
    ),
    controllers: (run) => [
      garbageCollector({
        client: run.client(garbageCollectorName),
        feed: ownershipFeed(context.stored, context.catalog.types),
        events: recorderOf(context, run, garbageCollectorName),
      }),
    ],
  }),
})
