/** Which strategy each kind has: those of the rooms in `apis/` first, the catalogue's for the rest. */

import { signingRequestStrategy } from '../apis/certificates/strategy.ts'
import { definitionStrategy } from '../apis/crds/strategy.ts'
import { initializerConfigurationStrategy } from '../apis/initializers/strategy.ts'
import { type NamespaceStrategyOptions, namespaceStrategy } from '../apis/namespaces/strategy.ts'
import { podStrategy } from '../apis/pods/strategy.ts'
import { quotaStrategy } from '../apis/quotas/strategy.ts'
import {
  clusterRoleBindingStrategy,
  clusterRoleStrategy,
  roleBindingStrategy,
  roleStrategy,
} from '../apis/rbac/strategy.ts'
import { serviceStrategy } from '../apis/services/strategy.ts'
import { qualifiedResource } from '../kube/gvk.ts'
import { nameIsPathSegment } from '../kube/names.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import type { Schema } from '../kube/schema/schema.ts'
import type { Strategy } from '../registry/strategy.ts'
import type { Config } from './config.ts'

interface BuiltIn {
  readonly pods: ResourceType
  readonly quotas: ResourceType
  readonly apiServices: ResourceType
  readonly services: ResourceType
  /** Schema of ObjectMeta. */
  readonly objectMeta: Schema
  readonly nodeExists: (name: string) => boolean
  readonly initializerDeadline: NonNullable<NamespaceStrategyOptions['deadlineOf']>
}

export function strategies(
  config: Config,
  ofCustom: (type: ResourceType) => Strategy,
  fromCatalog: (type: ResourceType) => Strategy,
  { pods, quotas, apiServices, services, objectMeta, nodeExists, initializerDeadline }: BuiltIn,
): (type: ResourceType) => Strategy {
  const own: ReadonlyMap<string, Strategy> = new Map([
    [
      'namespaces',
      namespaceStrategy({
        initializers: config.featureGates.NamespaceInitializers,
        deadlineOf: initializerDeadline,
      }),
    ],
    ['namespaceinitializerconfigurations.admissionregistration.k8s.io', initializerConfigurationStrategy],
    ['customresourcedefinitions.apiextensions.k8s.io', definitionStrategy(objectMeta)],
    ['certificatesigningrequests.certificates.k8s.io', signingRequestStrategy],
    // `v1.` names the core group.
    ['apiservices.apiregistration.k8s.io', { ...fromCatalog(apiServices), validateName: nameIsPathSegment }],
    ['clusterroles.rbac.authorization.k8s.io', clusterRoleStrategy],
    ['clusterrolebindings.rbac.authorization.k8s.io', clusterRoleBindingStrategy],
    ['pods', podStrategy(fromCatalog(pods), nodeExists)],
    ['resourcequotas', quotaStrategy(fromCatalog(quotas))],
    [
      'services',
      serviceStrategy(
        services,
        fromCatalog(services),
        config.serviceRanges.map(({ family }) => family),
      ),
    ],
    ['roles.rbac.authorization.k8s.io', roleStrategy],
    ['rolebindings.rbac.authorization.k8s.io', roleBindingStrategy],
  ])
  return (type) => (type.custom ? ofCustom(type) : (own.get(qualifiedResource(type)) ?? fromCatalog(type)))
}
