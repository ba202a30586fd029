/** Classes that objects name or are given: priority, storage, ingress, runtime; and who may look into devices. */
import { deriveFromObjects } from '../../feature/derive-from-objects.ts'
import type { Feature, FeatureContext } from '../../feature/feature.ts'
import type { GroupVersionResource } from '../../kube/gvk.ts'
import { namespaceResource } from '../namespaces/types.ts'
import { adminAccess } from './admin-access.ts'
import type { ClassLookup } from './class-lookup.ts'
import {
  defaultIngressClass,
  defaultStorageClass,
  ingressClassResource,
  storageClassResource,
} from './default-class.ts'
import { podPriority, priorityClassResource } from './priority.ts'
import { podRuntime, runtimeClassResource } from './runtime-class.ts'

export const classes: Feature = {
  name: 'classes',
  open: (context) => ({
    strategies: adminAccess(namespaceFinder(context)),
    admission: [
      podPriority(lookupOf(context, priorityClassResource)),
      defaultStorageClass(lookupOf(context, storageClassResource)),
      podRuntime(lookupOf(context, runtimeClassResource)),
      defaultIngressClass(lookupOf(context, ingressClassResource)),
    ],
  }),
}

function namespaceFinder({ lister, typeOf }: FeatureContext): ClassLookup['find'] {
  const type = typeOf(namespaceResource)
  return (name) => lister.find(type, '', name)?.object
}

function lookupOf({ lister, typeOf }: FeatureContext, resource: GroupVersionResource): ClassLookup {
  const type = typeOf(resource)
  return {
    find: (name) => lister.find(type, '', name)?.object,
    // To find the default takes a look at all.
    all: deriveFromObjects(lister, type, (objects) => objects),
    refresh: () => lister.refresh(),
  }
}
