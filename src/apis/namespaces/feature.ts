/** Namespaces: lifecycle admission, finalization, and the controller that empties those that go. */
import type { ObjectKey } from '../../controller/controller.ts'
import { changesOf, keysOf, sweep } from '../../controller/source.ts'
import type { Feature } from '../../feature/feature.ts'
import { laterFeed, versionSteps } from '../../feature/type-feed.ts'
import type { StoredObject } from '../../registry/registry.ts'
import { events, may, read } from '../rbac/bootstrap-rules.ts'
import {
  type HasExpired,
  namespaceAutoProvision,
  namespaceExists,
  namespaceFinalization,
  namespaceLifecycle,
} from './admission.ts'
import { contentIndex } from './content-index.ts'
import { namespaceLookup } from './lookup.ts'
import { namespaceReconciler } from './reconcile.ts'
import { type NamespaceStrategyOptions, namespaceStrategy } from './strategy.ts'
import type { Namespace } from './types.ts'

export interface NamespacesOptions extends NamespaceStrategyOptions {
  /** Plugins that are off by default. */
  readonly extraAdmission: readonly string[]
  readonly hasExpired: HasExpired
}

const controller = 'namespace-controller'

export const namespaces = ({ extraAdmission, hasExpired, ...strategy }: NamespacesOptions): Feature => ({
  name: 'namespaces',
  controllerRules: {
    // Empties a terminating namespace of whatever kinds there are, tells how far it is, and lets it go.
    [controller]: [
      may([...read, 'delete'], '', 'namespaces'),
      may('update patch', '', 'namespaces/finalize namespaces/status'),
      may([...read, 'delete', 'deletecollection'], '*', '*'),
      events,
    ],
  },
  open(context) {
    const { clock, lister, stored, create } = context
    const lookup = namespaceLookup(context)
    const content = contentIndex(lister, stored, lookup)
    const keyOfTerminating = (namespace: StoredObject<Namespace>): ObjectKey | undefined =>
      content.see(namespace) ? { namespace: '', name: namespace.name } : undefined
    const optional = [
      namespaceExists(lookup),
      namespaceAutoProvision(lookup, (name, creator) => create(lookup.type, { metadata: { name } }, creator)),
    ]
    return {
      strategies: { namespaces: namespaceStrategy(strategy) },
      admission: [
        namespaceLifecycle(lookup, hasExpired),
        namespaceFinalization(content),
        ...optional.filter(({ name }) => extraAdmission.includes(name)),
      ],
      controllers: ({ client }) => [
        {
          name: controller,
          workers: 10,
          sources: [
            keysOf((enqueue) => content.onChange((name) => enqueue({ namespace: '', name }))),
            changesOf(laterFeed(lister, lookup.type)).map((next) => next && keyOfTerminating(next)),
            sweep(() => versionSteps(stored, lookup.type), keyOfTerminating),
          ],
          reconciler: namespaceReconciler({ client: client(controller), content, clock }),
        },
      ],
    }
  },
})
