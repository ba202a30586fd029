/**
 * A whole control plane without sockets: opened in the order in which state flows, closed in reverse. `serve.ts` puts
 * it on the network, `testing/` hands it to tests as it is.
 */
import { priorityClassResource, systemPriorityClasses } from '../apis/classes/priority.ts'
import { authenticationTrust, publishAuthenticationTrust } from '../apis/controlplane/authentication-trust.ts'
import { KubernetesService } from '../apis/controlplane/kubernetes-service.ts'
import { initialNamespaces, namespaceResource } from '../apis/namespaces/types.ts'
import { bootstrapRbac, defaultClusterPolicy, systemPolicy } from '../apis/rbac/bootstrap.ts'
import { reviewHandlers } from '../apis/reviews/review-handlers.ts'
import { openAudit } from '../audit/open-audit.ts'
import { authenticatorChain } from '../authn/authenticator-chain.ts'
import { openAuthenticators } from '../authn/open-authenticators.ts'
import { discoveryDocument, discoveryPath, keySet, keySetContentType, keySetPath } from '../authn/openid-discovery.ts'
import { ServiceAccountTokens } from '../authn/service-account-token.ts'
import { openAuthorizationWebhook } from '../authz/open-authorization-webhook.ts'
import type { Log } from '../base/log.ts'
import { sliceBegan } from '../base/turns.ts'
import type { Client } from '../client/client.ts'
import { createUnlessThere } from '../client/create-unless-there.ts'
import { loopbackTransport } from '../client/loopback.ts'
import { RestClient } from '../client/rest-client.ts'
import { createFlowControl, waitLimitMsOf, workEstimator } from '../flowcontrol/flowcontrol.ts'
import { build } from '../http/build.ts'
import { ping } from '../http/health.ts'
import { pendingWithin } from '../http/limits.ts'
import { OpenapiDocuments } from '../http/openapi/openapi-documents.ts'
import { Defense } from '../http/overload.ts'
import type { Serve } from '../http/pipeline.ts'
import { reachedUrl } from '../http/reached-url.ts'
import { gitVersion } from '../http/version.ts'
import type { GroupVersionResource } from '../kube/gvk.ts'
import { isStoreReadError } from '../kube/status-error.ts'
import type { KubeObject } from '../kube/types.ts'
import type { UserInfo } from '../kube/user.ts'
import { type Culprit, LoopBlocks, Metrics, SharedMetrics } from '../metrics/metrics.ts'
import { openKeys, type Pki, SigningKeys } from '../pki/pki.ts'
import { Compactor } from '../storage/compactor.ts'
import { closeOpened, openServedStorage } from '../storage/served-storage.ts'
import { isStorageError, type Storage } from '../storage/storage.ts'
import { endThoseBehind, sessionsOf } from '../watch/behind.ts'
import { createApiServer } from './api-server.ts'
import type { Config } from './config.ts'
import { runControllers } from './controllers.ts'
import { controllerRulesOf, featuresOf } from './features.ts'
import { collectionStatsOf, flowControlDumps, watchersOf } from './flow-control.ts'
import { adminUser, serverUser } from './identities.ts'
import { Leadership } from './leadership.ts'
import { type Core, wireCore } from './wire.ts'

export const serviceAccountIssuer = 'https://kubernetes.default.svc.cluster.local'

export interface ControlPlane extends AsyncDisposable {
  readonly core: Core
  readonly pki: Pki
  readonly serve: Serve
  /** For listeners. */
  readonly defense: Defense
  /** Talks to the pipeline in-process as anybody; by default as the administrator. */
  client(user?: UserInfo): Client
  /** What discovery, and the service `kubernetes`, say of where the server is. Called once it listens. */
  listening(host: string, port: number): void
  /** Answers held creates as they stand: the first step of a shutdown. */
  drain(): void
}

export interface Given {
  /** The store, where it has been begun already; from now on closed here. */
  readonly opened?: Promise<Storage>
  /** Default: all of them. */
  readonly features?: typeof featuresOf
}

export async function createControlPlane(config: Config, given: Given = {}): Promise<ControlPlane> {
  const { clock, ids, log } = config
  // Whatever fails below, what was opened is closed: a process that could not start must be able to end.
  await using opening = new AsyncDisposableStack()
  const audit = await openAudit(config)
  opening.use(audit?.sink)
  const storing = given.opened ?? openServedStorage(config)
  opening.defer(() => closeOpened(storing))
  const [{ pki, store: pkiStore }, storage] = await Promise.all([openKeys(config, storing), storing])
  const keys = opening.use(new SigningKeys({ clock, log, store: pkiStore, keys: pki.serviceAccountKeys }))
  const client = (user: UserInfo, userAgent: string, sharesValues = false): Client =>
    new RestClient({ transport: loopbackTransport(serve, user, sharesValues), userAgent })
  const leadership = new Leadership(config, client)
  const flowControl = createFlowControl({
    clock,
    salt: ids.uid(),
    serverSeats: config.load.serverSeats,
    waitLimitMs: waitLimitMsOf(config.load.deadlines.handlerMs),
    estimateWork: workEstimator({
      statsOf: (request) => collectionStatsOf(core, request),
      watchersOf: (request) => watchersOf(core, request),
    }),
    endOfTurn: setImmediate,
  })
  const features = (given.features ?? featuresOf)(config, {
    caCert: pki.caCert,
    signClientCertificate: (request, publicKey) => pki.signClientCertificate(request, publicKey),
    flowControl,
  })
  const core = opening.use(await wireCore(config, storage, features, () => leadership.leading))
  const blocks = opening.use(new LoopBlocks({ clock, log, onBlock: (block) => metrics.loopBlocked(block) }))
  core.diagnostics.subscribe(sliceBegan, (owner) => blocks.begin(culpritOf(owner)))
  const compactor = new Compactor({
    storage,
    clock,
    windowMs: config.history.ageMs,
    windowBytes: config.history.bytes,
    moved: (revision, signal) => core.cache.applied(revision + 1, signal),
    onError: (error) => log.warn({ error }, 'history could not be compacted; it will be tried again'),
  })
  opening.use(compactor)
  // Whoever holds the store for us compacts it.
  if (config.storage.engine !== 'relay') compactor.start()

  const find = (resource: string, namespace: string, name: string): KubeObject | undefined => {
    const type = core.catalog.types.find({ group: '', version: 'v1', resource })
    return type && core.lister.find(type, namespace, name)?.object
  }
  const tokens = new ServiceAccountTokens({
    issuer: serviceAccountIssuer,
    audiences: [serviceAccountIssuer],
    keys: () => keys.current,
    clock,
    ids,
    find,
  })
  const { authorizationWebhook } = config
  const askElsewhere = authorizationWebhook && (await openAuthorizationWebhook(authorizationWebhook, clock))
  const defense = opening.use(new Defense({ clock, log }))
  const pending = pendingWithin(config.load.maxMemoryBytes)
  defense.sweeper.add(() => {
    for (const flow of endThoseBehind(sessionsOf(core.cache), pending)) {
      defense.incidents.happened('watch_memory', flow)
    }
    // The connections keep the sweeper awake, and without them no watch is behind.
    return false
  })
  const chain = authenticatorChain(await openAuthenticators(config, pki.caCert, tokens), {
    anonymous: config.anonymous,
  })

  const metrics: Metrics = new Metrics(build, {
    parts: core.parts,
    begins: (request, context) => blocks.begin(request.localUser === undefined ? context : undefined),
    revision: () => core.cache.revision,
    leading: () => leadership.leading,
    bounds: () => defense.incidents.counts,
    audit: () => audit?.sink.counts,
  })
  const shared = config.group && new SharedMetrics(config.group.metrics, () => metrics.figures(), log)
  const openapi = new OpenapiDocuments({
    types: core.catalog.types,
    catalog: core.catalog,
    clock,
    version: gitVersion(build),
  })
  let address = '127.0.0.1:6443'
  const serve = createApiServer({
    core,
    authenticate: (credentials) => chain.authenticate(credentials),
    askElsewhere,
    serverAddress: () => address,
    documents: {
      health: {
        checks: {
          healthz: [ping],
          livez: [ping],
          readyz: [
            ping,
            {
              name: 'storage',
              check: () => core.lister.refresh(),
              warnings: () => [...core.cache.damaged.all()],
            },
          ],
        },
        onFailure: (endpoint, check, error) => log.error({ endpoint, check, error }, 'a health check failed'),
      },
      build,
      plain: {
        ...flowControlDumps(flowControl),
        '/metrics': { contentType: 'text/plain; version=0.0.4; charset=utf-8', body: () => (shared ?? metrics).text() },
        [discoveryPath]: {
          contentType: 'application/json',
          cacheControl: 'public, max-age=3600',
          body: () => JSON.stringify(discoveryDocument(serviceAccountIssuer, `https://${address}${keySetPath}`)),
        },
        [keySetPath]: {
          contentType: keySetContentType,
          body: () => JSON.stringify(keySet(keys.current)),
        },
      },
      openapi: (path) => openapi.find(path),
      openapiPaths: () => openapi.paths(),
    },
    metrics,
    audit,
    defense,
    flowControl,
    reviews: reviewHandlers({
      authorizer: core.authorizer,
      askElsewhere,
      authenticate: async (credentials) => chain.authenticate(credentials),
      tokens,
      audiences: [serviceAccountIssuer],
      find,
      clock,
    }),
  })

  const bootstrapClient = client(serverUser, 'borough/bootstrap')
  const kubernetesService = new KubernetesService({
    lister: core.lister,
    types: core.catalog.types,
    client: bootstrapClient,
    log,
    ranges: config.serviceRanges,
    port: config.listen?.port,
    shared: config.storage.engine === 'etcd',
    leavesWhenStopped: config.storage.engine === 'etcd' && config.group === undefined,
  })
  await bootstrap(log, bootstrapClient, core, authenticationTrust(pki.caCert, config.frontProxy), kubernetesService)
  for (const parts of core.parts) parts.start?.()
  metrics.startSoon(clock)
  const stop = new AbortController()
  const controllers = leadership.run(
    (signal) => runControllers(core, client, (...reconciled) => metrics.reconciled(...reconciled), signal),
    stop.signal,
  )
  flowControl.start()
  const following = keys.follow(stop.signal)
  opening.defer(async () => {
    stop.abort()
    flowControl.stop()
    await Promise.all([controllers, following])
  })
  kubernetesService.follow()
  opening.defer(() => kubernetesService.stop())
  const running = opening.move()

  return {
    core,
    pki,
    serve,
    defense,
    client: (user = adminUser) => client(user, 'borough'),
    listening(host, port) {
      address = reachedUrl(host, port).slice('https://'.length)
      kubernetesService.listening(host, port)
    },
    drain: () => features.hold.release(),
    async [Symbol.asyncDispose]() {
      features.hold.release()
      await running.disposeAsync()
    },
  }
}

const ownAccounts = 'system:serviceaccount:kube-system:'

/** The server's own requests are no client's fault: they count, and no warning tells of them. */
function culpritOf(owner: object | undefined): Culprit | undefined {
  const culprit = owner as Culprit | undefined
  const username = culprit?.user.username ?? ''
  return username === serverUser.username || username.startsWith(ownAccounts) ? undefined : culprit
}

/** What must be there before anybody is answered. All at once: a first start is a flush or two, not fifty. */
async function bootstrap(
  log: Log,
  client: Client,
  core: Pick<Core, 'lister' | 'catalog' | 'features'>,
  trust: Record<string, string>,
  kubernetesService: KubernetesService,
): Promise<void> {
  const make = async (resource: GroupVersionResource, object: KubeObject, fieldManager?: string): Promise<void> => {
    const type = core.catalog.types.find(resource)
    if (type && core.lister.find(type, '', object.metadata.name ?? '') !== undefined) return
    await createUnlessThere(client, resource, object, fieldManager === undefined ? {} : { fieldManager })
  }
  /** One of these objects that can't be read is there all the same: the rest is served. */
  const unlessDamaged = async (work: Promise<unknown>): Promise<void> => {
    try {
      await work
    } catch (error) {
      if (!isStoreReadError(error) && !isStorageError(error, 'damaged')) throw error
      log.error({ error }, "an object of the server's own is damaged and was left as it is")
    }
  }
  await Promise.all(
    [
      bootstrapRbac({ client, policy: defaultClusterPolicy(controllerRulesOf(core.features.list)) }),
      kubernetesService.makeRange(),
      ...initialNamespaces.map((name) => make(namespaceResource, { metadata: { name } })),
      ...systemPriorityClasses.map((object) => make(priorityClassResource, object)),
      ...core.features.list
        .flatMap(({ defaultObjects = [] }) => defaultObjects)
        .map(({ resource, object, fieldManager }) => make(resource, object, fieldManager)),
    ].map(unlessDamaged),
  )
  await Promise.all(
    [
      bootstrapRbac({ client, policy: systemPolicy }),
      publishAuthenticationTrust(client, trust),
      kubernetesService.makeService(),
    ].map(unlessDamaged),
  )
}
