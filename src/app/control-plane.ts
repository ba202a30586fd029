/**
 * A whole control plane without sockets: opened in the order in which state flows, closed in reverse. `serve.ts` puts it
 * on the network, `testing/` hands it to tests as it is.
 */
import { hostname, networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { EventRecorder } from '../apis/events/recorder.ts'
import { garbageCollector, garbageCollectorName } from '../apis/garbage-collection/reconcile.ts'
import { namespaceReconciler } from '../apis/namespaces/reconcile.ts'
import { initialNamespaces, namespaceResource } from '../apis/namespaces/types.ts'
import { bootstrapRbac } from '../apis/rbac/bootstrap.ts'
import { aggregationController, aggregationControllerName } from '../apis/rbac/reconcile.ts'
import { type Birthright, birthrightReconciler, birthrights } from '../apis/serviceaccounts/reconcile.ts'
import { populationControllers } from '../apis/templates/reconcile.ts'
import { authenticatorChain } from '../authn/authenticator-chain.ts'
import type { Authenticator } from '../authn/authn.ts'
import { ClientCertificateAuthenticator } from '../authn/client-certificate.ts'
import { discoveryDocument, discoveryPath, keySet, keySetContentType, keySetPath } from '../authn/openid-discovery.ts'
import { ServiceAccountTokens } from '../authn/service-account-token.ts'
import { TokenFileAuthenticator } from '../authn/token-file.ts'
import type { Client } from '../client/client.ts'
import { loopbackTransport } from '../client/loopback.ts'
import { RestClient } from '../client/rest-client.ts'
import type { ControllerSpec, Source } from '../controller/controller.ts'
import { runController } from '../controller/run-controller.ts'
import { ping } from '../http/health.ts'
import type { Serve } from '../http/pipeline.ts'
import { isAlreadyExists } from '../kube/status-error.ts'
import { mastersGroup, serviceAccountUser, type UserInfo } from '../kube/user.ts'
import { Compactor } from '../storage/compactor.ts'
import { createApiServer } from './api-server.ts'
import type { ControllerName } from './catalog.ts'
import type { Config } from './config.ts'
import { ownershipFeed } from './ownership-feed.ts'
import { directoryPkiStore, memoryPkiStore, openPki, type Pki } from './pki.ts'
import { servingNames } from './serving-names.ts'
import { openStorage } from './storage.ts'
import { type Core, wireCore } from './wire.ts'

export const serviceAccountIssuer = 'https://kubernetes.default.svc.cluster.local'

/** What the server itself acts as where no controller's identity fits: the first start. */
export const serverUser: UserInfo = { username: 'system:apiserver', groups: [mastersGroup, 'system:authenticated'] }
export const adminUser: UserInfo = { username: 'kubernetes-admin', groups: [mastersGroup, 'system:authenticated'] }

export interface ControlPlane extends AsyncDisposable {
  readonly core: Core
  readonly pki: Pki
  readonly serve: Serve
  /** Talks to the pipeline in-process as anybody; by default as the administrator. */
  client(user?: UserInfo): Client
  /** Where discovery says the server is; set once it listens. */
  setAddress(address: string): void
  /** Answers held creates as they stand, ends watches: the first step of a shutdown. */
  drain(): void
}

export async function createControlPlane(config: Config): Promise<ControlPlane> {
  const { clock, ids, log, dataDir } = config
  const stop = new AbortController()
  const store = dataDir === undefined ? memoryPkiStore() : directoryPkiStore(join(dataDir, 'pki'))
  const [pki, storage] = await Promise.all([
    openPki(store, { clock, names: servingNames(namesOf(config)) }),
    openStorage(config),
  ])
  const core = await wireCore(config, storage, pki.caCert)
  const compactor = new Compactor({
    storage,
    clock,
    windowMs: config.history.ageMs,
    windowBytes: config.history.bytes,
    onError: (error) => log.warn({ error }, 'history could not be compacted; it will be tried again'),
  })
  compactor.start()

  const tokens = new ServiceAccountTokens({
    issuer: serviceAccountIssuer,
    audiences: [serviceAccountIssuer],
    keys: pki.serviceAccountKeys,
    clock,
    ids,
    find: (resource, namespace, name) => {
      const type = core.catalog.types.find({ group: '', version: 'v1', resource })
      return type && core.lister.find(type, namespace, name)?.object
    },
  })
  const authenticators: Authenticator[] = [new ClientCertificateAuthenticator(clock)]
  if (config.tokenFile !== undefined) {
    const onReloadError = (error: Error): void =>
      log.error({ error: error.message }, 'the token file could not be read again; what it said before still holds')
    authenticators.push(await TokenFileAuthenticator.open(config.tokenFile, { clock, onReloadError }))
  }
  authenticators.push(tokens)
  const chain = authenticatorChain(authenticators, { anonymous: config.anonymous })

  let address = '127.0.0.1:6443'
  const serve = createApiServer({
    core,
    authenticate: (credentials) => chain.authenticate(credentials),
    serverAddress: () => address,
    documents: {
      health: {
        checks: {
          healthz: [ping],
          livez: [ping],
          readyz: [ping],
        },
        onFailure: (endpoint, check, error) => log.error({ endpoint, check, error }, 'a health check failed'),
      },
      build: { version: '0.1.0', gitCommit: '', gitTreeState: '', buildDate: '1970-01-01T00:00:00Z' },
      plain: {
        [discoveryPath]: {
          contentType: 'application/json',
          body: () => JSON.stringify(discoveryDocument(serviceAccountIssuer, `https://${address}${keySetPath}`)),
        },
        [keySetPath]: { contentType: keySetContentType, body: () => JSON.stringify(keySet(pki.serviceAccountKeys)) },
      },
      openapi: () => undefined,
      openapiPaths: () => [],
    },
    special: new Map(),
    answered: new Map(),
  })
  const client = (user: UserInfo, userAgent: string): Client =>
    new RestClient({ transport: loopbackTransport(serve, user), userAgent })

  await bootstrap(client(serverUser, 'borough/bootstrap'))
  const controllers = startControllers(core, pki, client, stop.signal)

  return {
    core,
    pki,
    serve,
    client: (user = adminUser) => client(user, 'borough'),
    setAddress: (next) => {
      address = next
    },
    drain: () => core.hold.release(),
    async [Symbol.asyncDispose]() {
      core.hold.release()
      stop.abort()
      await controllers
      await compactor[Symbol.asyncDispose]()
      await core[Symbol.asyncDispose]()
      await storage[Symbol.asyncDispose]()
    },
  }
}

function namesOf({ listen }: Config): Parameters<typeof servingNames>[0] {
  const addresses = Object.values(networkInterfaces()).flatMap((i) => (i ?? []).map((a) => a.address))
  return { listenHosts: listen === undefined ? [] : [listen.host], hostName: hostname(), addresses }
}

/** What must be there before anybody is answered. All at once: a first start is one flush, not fifty. */
async function bootstrap(client: Client): Promise<void> {
  await Promise.all([
    bootstrapRbac({ client }),
    ...initialNamespaces.map((name) =>
      client.create(namespaceResource, { metadata: { name } }).catch((error: unknown) => {
        if (!isAlreadyExists(error)) throw error
      }),
    ),
  ])
}

type ClientFor = (user: UserInfo, userAgent: string) => Client

/** Resolves when all have stopped. */
async function startControllers(core: Core, pki: Pki, client: ClientFor, signal: AbortSignal): Promise<void> {
  const { clock, ids, log, controllers } = core.config
  const as = (name: string): Client => client(serviceAccountUser('kube-system', name), name)
  const specs = controllerSpecs(core, pki, as).filter(([name]) => controllers(name))
  const runtime = { clock, log }
  await Promise.all(specs.map(([, spec]) => runController(spec, runtime, signal)))
  void ids
}

function controllerSpecs(core: Core, pki: Pki, as: (name: string) => Client): [ControllerName, ControllerSpec][] {
  const { clock, ids, log, population } = core.config
  const { content, lister } = core
  const terminating: Source = {
    async run(enqueue, signal) {
      const stop = content.onChange((name) => enqueue({ namespace: '', name }))
      const forget = lister.subscribe(core.namespaces.type, (next) => {
        if (next !== undefined && next.object.metadata.deletionTimestamp !== undefined) {
          enqueue({ namespace: '', name: next.name })
        }
      })
      await aborted(signal)
      stop()
      forget()
    },
  }
  const specs: [ControllerName, ControllerSpec][] = [
    [
      'namespace-controller',
      {
        name: 'namespace-controller',
        workers: 10,
        sources: [terminating],
        reconciler: namespaceReconciler({ client: as('namespace-controller'), content, clock }),
      },
    ],
  ]
  for (const birthright of birthrights(pki.caCert)) {
    const { controller } = birthright
    specs.push([
      controller,
      {
        name: controller,
        workers: 4,
        sources: [lostBirthrights(core, birthright)],
        reconciler: birthrightReconciler(as(controller), birthright),
      },
    ])
  }
  const warn = (component: string) => (error: unknown) =>
    log.warn({ error, component }, 'a watch broke and is taken up again')
  specs.push([
    aggregationControllerName,
    aggregationController({
      client: as(aggregationControllerName),
      clock,
      onError: warn(aggregationControllerName),
    }),
  ])
  specs.push([
    garbageCollectorName,
    garbageCollector({
      client: as(garbageCollectorName),
      feed: ownershipFeed(core.cache, core.catalog.types),
      events: new EventRecorder({
        client: as(garbageCollectorName),
        clock,
        ids,
        log,
        component: garbageCollectorName,
      }),
    }),
  ])
  if (population) {
    const client = as('namespace-template-controller')
    const component = 'namespace-template-controller'
    const events = new EventRecorder({ client, clock, ids, log, component })
    for (const spec of populationControllers({ client, clock, events, onError: warn(component) }))
      specs.push([component, spec])
  }
  return specs
}

/** Namespaces that live and have lost it, or whose copy was changed. */
function lostBirthrights({ catalog, lister, namespaces }: Core, { resource, name }: Birthright): Source {
  return {
    async run(enqueue, signal) {
      const type = catalog.types.find(resource)
      if (type === undefined) throw new Error(`the catalogue lacks ${resource.resource}`)
      const stop = lister.subscribe(type, (_next, old) => {
        if (old?.name !== name) return
        const namespace = namespaces.find(old.namespace)
        if (namespace !== undefined && namespace.metadata.deletionTimestamp === undefined) {
          enqueue({ namespace: '', name: old.namespace })
        }
      })
      await aborted(signal)
      stop()
    },
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
