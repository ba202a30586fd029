/** What a server stores of its own before it answers, and the service `kubernetes`. */
import { type BootstrapParts, bootstrap } from '../apis/controlplane/bootstrap.ts'
import { KubernetesService } from '../apis/controlplane/kubernetes-service.ts'
import type { Authentication } from '../authn/open-authentication.ts'
import type { Client } from '../client/client.ts'
import { rememberStore } from '../storage/served-storage.ts'
import { isStorageError } from '../storage/storage.ts'
import { controllerRulesOf } from './features.ts'
import type { Core } from './wire.ts'

/** The service is stored, and followed once it is told to. `opening`: closes what goes on. */
export async function bootstrapServer(
  core: Core,
  client: Client,
  authentication: Authentication,
  opening: AsyncDisposableStack,
): Promise<KubernetesService> {
  const service = kubernetesServiceOf(core, client)
  await bootstrap(bootstrapParts(core, client, authentication, service))
  // After the first objects: an etcd that was never filled is not one that has lost everything.
  opening.use(await rememberStore(core.config, () => core.cache.revision))
  return service
}

function bootstrapParts(
  { config, features, lister, catalog }: Core,
  client: Client,
  { authorities }: Authentication,
  kubernetesService: KubernetesService,
): BootstrapParts {
  return {
    log: config.log,
    client,
    lister,
    types: catalog.types,
    controllerRules: controllerRulesOf(features.list),
    defaultObjects: features.list.flatMap(({ defaultObjects = [] }) => defaultObjects),
    authorities: authorities.pem,
    frontProxy: config.frontProxy,
    kubernetesService,
    isDamage: (error) => isStorageError(error, 'damaged'),
  }
}

function kubernetesServiceOf({ config, lister, catalog }: Core, client: Client): KubernetesService {
  return new KubernetesService({
    lister,
    types: catalog.types,
    client,
    log: config.log,
    ranges: config.serviceRanges,
    port: config.listen?.port,
    shared: config.storage.engine === 'etcd',
    leavesWhenStopped: config.storage.engine === 'etcd' && config.group === undefined,
  })
}
