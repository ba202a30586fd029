/** CustomResourceDefinitions: what they define is served, and its instances go with them. */
import { SizedCache } from '../../base/sized-cache.ts'
import type { Feature } from '../../feature/feature.ts'
import type { KubeObject } from '../../kube/types.ts'
import { events, may, read } from '../rbac/bootstrap-rules.ts'
import { definitionLifecycle } from './admission.ts'
import { instancesIn } from './instances.ts'
import { definitionController, definitionControllerName } from './reconcile.ts'
import { CustomResources } from './serve.ts'
import { definitionStrategy } from './strategy.ts'
import { definitionResource } from './types.ts'
import { WebhookConversion } from './webhook-conversion.ts'

/** What conversion webhooks made, kept for the next reader. */
const convertedBytes = 64 * 1024 * 1024

export const customResourceDefinitions: Feature = {
  name: 'crds',
  controllerRules: {
    // Establishes definitions; deletes the instances of those that go.
    [definitionControllerName]: [
      may([...read, 'update'], 'apiextensions.k8s.io', 'customresourcedefinitions'),
      may('update', 'apiextensions.k8s.io', 'customresourcedefinitions/status'),
      may([...read, 'delete', 'deletecollection'], '*', '*'),
      events,
    ],
  },
  open({ catalog, clock, ids, lister, log, stored, turns, typeOf, webhookClient }) {
    const definitionType = typeOf(definitionResource)
    const objectMeta = catalog.schemaOf('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta')
    const converted = new SizedCache<KubeObject>(convertedBytes)
    const customResources = new CustomResources({
      types: catalog.types,
      lister,
      objectMeta,
      convertBy: (definition) =>
        new WebhookConversion({ client: webhookClient, ids, cache: converted, turns }, definition),
      onReplaced: (storageName) => stored.endWatches(storageName),
      onFault: (definition, error) => log.error({ definition, error }, 'a definition can not be served'),
    })
    return {
      strategies: { 'customresourcedefinitions.apiextensions.k8s.io': definitionStrategy(objectMeta) },
      customStrategy: (type) => customResources.strategyOf(type),
      admission: [definitionLifecycle(definitionType, (name) => lister.find(definitionType, '', name)?.object)],
      controllers: ({ client }) => [
        definitionController({
          client: client(definitionControllerName),
          clock,
          definitions: customResources,
          instances: instancesIn(stored),
        }),
      ],
    }
  },
}
