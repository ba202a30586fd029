/** ServiceAccounts: the default one and the root CA in every namespace, and those that pods name. */

import type { Source } from '../../controller/controller.ts'
import { changesOf, sweep, sweptAtOnce } from '../../controller/source.ts'
import type { Feature, FeatureContext } from '../../feature/feature.ts'
import { newObjectWriter } from '../../feature/new-object.ts'
import { laterFeed } from '../../feature/type-feed.ts'
import { namespaceLookup } from '../namespaces/lookup.ts'
import { events, may, read } from '../rbac/bootstrap-rules.ts'
import { serviceAccountAdmission } from './admission.ts'
import { namespaceDefaultObjects } from './default-objects.ts'
import { type DefaultObject, defaultObjectReconciler, defaultObjects } from './reconcile.ts'

const serviceAccountsResource = { group: '', version: 'v1', resource: 'serviceaccounts' } as const
const configMapsResource = { group: '', version: 'v1', resource: 'configmaps' } as const

/** @param caPem what `kube-root-ca.crt` says */
export const serviceAccounts = (caPem: string): Feature => ({
  name: 'serviceaccounts',
  // Each puts back one thing that a namespace is created with: the ServiceAccount `default`, the ConfigMap
  // `kube-root-ca.crt`.
  controllerRules: {
    'service-account-controller': [
      may(read, '', 'namespaces'),
      may([...read, 'create', 'patch'], '', 'serviceaccounts'),
      events,
    ],
    'root-ca-cert-publisher': [
      may(read, '', 'namespaces'),
      may([...read, 'create', 'patch'], '', 'configmaps'),
      events,
    ],
  },
  open(context) {
    const { ids, lister, typeOf } = context
    const serviceAccountType = typeOf(serviceAccountsResource)
    return {
      admission: [
        serviceAccountAdmission({
          find: (namespace, name) => lister.find(serviceAccountType, namespace, name)?.object,
          refresh: () => lister.refresh(),
          nameSuffix: () => ids.nameSuffix(),
        }),
        namespaceDefaultObjects({
          caPem,
          serviceAccountType,
          configMapType: typeOf(configMapsResource),
          newObject: newObjectWriter(context),
        }),
      ],
      controllers: ({ client }) =>
        defaultObjects(caPem).map((defaultObject) => ({
          name: defaultObject.controller,
          workers: 4,
          sources: lostDefaultObjects(context, defaultObject),
          reconciler: defaultObjectReconciler(client(defaultObject.controller), defaultObject),
        })),
    }
  },
})

/** Namespaces that live and lack it, or whose copy was changed: at the start, and whenever it changes. */
function lostDefaultObjects(context: FeatureContext, { resource, name, wanted }: DefaultObject): Source[] {
  const { lister, stored, typeOf } = context
  const namespaces = namespaceLookup(context)
  const type = typeOf(resource)
  // By bytes: a start with many namespaces parses none of the copies that are right, and reads none that may say
  // what they like.
  const data = Buffer.from(JSON.stringify(wanted('')['data'] ?? {}).slice(1, -1))
  const isRight = (namespace: string): boolean => {
    if (data.length === 0) return stored.find(type.storageName, namespace, name) !== undefined
    const there = stored.glance(type.storageName, namespace, name)?.bytes
    return there !== undefined && Buffer.from(there.buffer, there.byteOffset, there.length).includes(data)
  }
  return [
    changesOf(laterFeed(lister, type)).map((_next, old) => {
      if (old?.name !== name) return undefined
      const namespace = namespaces.find(old.namespace)
      const lives = namespace !== undefined && namespace.metadata.deletionTimestamp === undefined
      return lives ? { namespace: '', name: old.namespace } : undefined
    }),
    sweep(
      () => stored.glances(namespaces.type.storageName, sweptAtOnce),
      (namespace) => (isRight(namespace.name) ? undefined : { namespace: '', name: namespace.name }),
    ),
  ]
}
