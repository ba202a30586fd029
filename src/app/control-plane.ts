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
import { ClientAuthorities } from '../authn/client-authorities.ts'
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
import { encryptionOf, openServerStorage } from '../encryption/server-storage.ts'
import type { FlowControl } from '../flowcontrol/flowcontrol.ts'
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
import { type Culprit, type LoopBlock, LoopBlocks, Metrics, SharedMetrics } from '../metrics/metrics.ts'
import { type Credential, openKeys, type Pki, SigningKeys } from '../pki/pki.ts'
import { Compactor } from '../storage/compactor.ts'
import { closeOpened } from '../storage/served-storage.ts'
import { isStorageError, type Storage } from '../storage/storage.ts'
import { endThoseBehind, sessionsOf } from '../watch/behind.ts'
import { type ApiServerDeps, createApiServer } from './api-server.ts'
import type { Config } from './config.ts'
import { runControllers } from './controllers.ts'
import { controllerRulesOf, featuresOf } from './features.ts'
import { flowControlDumps, flowControlOf } from './flow-control.ts'
import { adminUser, serverUser } from './identities.ts'
import { Leadership } from './leadership.ts'
import { kmsChecks } from './store-health.ts'
import { type Core, wireCore } from './wire.ts'

export const serviceAccountIssuer = 'https://kubernetes.default.svc.cluster.local'

export interface ControlPlane extends AsyncDisposable {
  readonly core: Core
  readonly pki: Pki
  /** The server's own serving certificate as it is kept now; made anew when it ends soon. */
  servingCredential(): Promise<Credential>
  /** Who may vouch for clients. */
  readonly authorities: ClientAuthorities
  readonly serve: Serve
  /** For listeners. */
  readonly defense: Defense
  /** Talks to the pipeline in-process as any user; by default as the administrator. */
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
  const { clock, log } = config
  // Whatever fails below, what was opened is closed: a process that could not start must be able to end.
  await using opening = new AsyncDisposableStack()
  const audit = await openAudit(config)
  opening.use(audit?.sink)
  const storing = given.opened ?? openServerStorage(config)
  opening.defer(() => closeOpened(storing))
  const [{ pki, store: pkiStore, serving }, storage] = await Promise.all([openKeys(config, storing), storing])
  const keys = opening.use(new SigningKeys({ clock, log, store: pkiStore, keys: pki.serviceAccountKeys }))
  const client = (user: UserInfo, userAgent: string, sharesValues = false): Client =>
    new RestClient({ transport: loopbackTransport(serve, user, sharesValues), userAgent })
  const leadership = new Leadership(config, client)
  const flowControl = flowControlOf(config, () => core)
  const features = (given.features ?? featuresOf)(config, { ...certificatesOf(pki), flowControl })
  const core = opening.use(await wireCore(config, storage, features, () => leadership.leading))
  const blocks = opening.use(loopBlocksOf(core, (block) => metrics.loopBlocked(block)))
  opening.use(startCompactor(core))
  const askElsewhere = await authorizationWebhookOf(config)
  const defense = opening.use(defenseOf(core))
  const authentication = await openAuthentication(core, pki.caCert, keys)

  const metrics: Metrics = new Metrics(build, {
    parts: core.parts,
    begins: (request, context) => blocks.begin(request.localUser === undefined ? context : undefined),
    revision: () => core.cache.revision,
    memory: () => core.cache.memory(),
    leading: () => leadership.leading,
    bounds: () => defense.incidents.counts,
    audit: () => audit?.sink.counts,
  })
  const shared = config.group && new SharedMetrics(config.group.metrics, () => metrics.figures(), log)
  let address = '127.0.0.1:6443'
  const serve = createApiServer({
    core,
    authenticate: (credentials) => authentication.chain.authenticate(credentials),
    askElsewhere,
    serverAddress: () => address,
    documents: documentsOf(core, {
      keys,
      flowControl,
      address: () => address,
      metricsText: () => (shared ?? metrics).text(),
    }),
    metrics,
    audit,
    defense,
    flowControl,
    reviews: reviewsOf(core, authentication, askElsewhere),
  })

  const bootstrapClient = client(serverUser, 'borough/bootstrap')
  const kubernetesService = kubernetesServiceOf(core, bootstrapClient)
  await bootstrap(log, bootstrapClient, core, trustOf(config, authentication), kubernetesService)
  for (const parts of core.parts) parts.start?.()
  metrics.startSoon(clock)
  opening.defer(runUntilStopped({ core, client, leadership, flowControl, keys, metrics }))
  kubernetesService.follow()
  opening.defer(() => kubernetesService.stop())
  const running = opening.move()

  return {
    core,
    pki,
    servingCredential: serving,
    authorities: authentication.authorities,
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

function loopBlocksOf({ config: { clock, log }, diagnostics }: Core, onBlock: (block: LoopBlock) => void): LoopBlocks {
  const blocks = new LoopBlocks({ clock, log, onBlock })
  diagnostics.subscribe(sliceBegan, (owner) => blocks.begin(culpritOf(owner)))
  return blocks
}

interface Running {
  readonly core: Core
  readonly client: (user: UserInfo, userAgent: string, sharesValues?: boolean) => Client
  readonly leadership: Leadership
  readonly flowControl: FlowControl
  readonly keys: SigningKeys
  readonly metrics: Metrics
}

/** What goes on beside requests. Answers what stops all of it, and waits until it has ended. */
function runUntilStopped({ core, client, leadership, flowControl, keys, metrics }: Running): () => Promise<void> {
  const stop = new AbortController()
  const controllers = leadership.run(
    (signal) => runControllers(core, client, (...reconciled) => metrics.reconciled(...reconciled), signal),
    stop.signal,
  )
  flowControl.start()
  const following = keys.follow(stop.signal)
  return async () => {
    stop.abort()
    flowControl.stop()
    await Promise.all([controllers, following])
  }
}

const authorizationWebhookOf = async ({
  authorizationWebhook,
  clock,
}: Config): Promise<ApiServerDeps['askElsewhere']> =>
  authorizationWebhook && (await openAuthorizationWebhook(authorizationWebhook, clock))

const trustOf = ({ frontProxy }: Config, { authorities }: Authentication): Record<string, string> =>
  authenticationTrust(authorities.pem, frontProxy)

interface Authentication {
  readonly authorities: ClientAuthorities
  readonly tokens: ServiceAccountTokens
  readonly chain: ReturnType<typeof authenticatorChain>
}

async function openAuthentication(core: Core, caCert: string, keys: SigningKeys): Promise<Authentication> {
  const { config } = core
  const tokens = new ServiceAccountTokens({
    issuer: serviceAccountIssuer,
    audiences: [serviceAccountIssuer],
    keys: () => keys.current,
    clock: config.clock,
    ids: config.ids,
    find: finderOf(core),
  })
  const authorities = await ClientAuthorities.open(caCert, config.clientCaFile)
  const authenticators = await openAuthenticators(config, authorities, tokens)
  return { tokens, authorities, chain: authenticatorChain(authenticators, { anonymous: config.anonymous }) }
}

function reviewsOf(
  core: Core,
  { tokens, chain }: Authentication,
  askElsewhere: ApiServerDeps['askElsewhere'],
): ApiServerDeps['reviews'] {
  return reviewHandlers({
    authorizer: core.authorizer,
    askElsewhere,
    authenticate: async (credentials) => chain.authenticate(credentials),
    tokens,
    audiences: [serviceAccountIssuer],
    find: finderOf(core),
    clock: core.config.clock,
  })
}

/** On a store that another process serves, that process compacts it. */
function startCompactor({ config, storage, cache }: Core): Compactor {
  const { clock, log, history } = config
  const compactor = new Compactor({
    storage,
    clock,
    windowMs: history.ageMs,
    windowBytes: history.bytes,
    moved: (revision, signal) => cache.applied(revision + 1, signal),
    onError: (error) => log.warn({ error }, 'history could not be compacted; it will be tried again'),
  })
  if (config.storage.engine !== 'relay') compactor.start()
  return compactor
}

type Certificates = Pick<Parameters<typeof featuresOf>[1], 'caCert' | 'signClientCertificate'>

const certificatesOf = (pki: Pki): Certificates => ({
  caCert: pki.caCert,
  signClientCertificate: (request, publicKey) => pki.signClientCertificate(request, publicKey),
})

/** Reads objects of the core group from the cache. */
function finderOf({
  catalog,
  lister,
}: Core): (resource: string, namespace: string, name: string) => KubeObject | undefined {
  return (resource, namespace, name) => {
    const type = catalog.types.find({ group: '', version: 'v1', resource })
    return type && lister.find(type, namespace, name)?.object
  }
}

function defenseOf({ config, cache }: Core): Defense {
  const { clock, log, load } = config
  const defense = new Defense({ clock, log })
  const pending = pendingWithin(load.maxMemoryBytes)
  defense.sweeper.add(() => {
    for (const flow of endThoseBehind(sessionsOf(cache), pending)) {
      defense.incidents.happened('watch_memory', flow)
    }
    // The connections keep the sweeper awake, and without them no watch is behind.
    return false
  })
  return defense
}

interface DocumentSources {
  readonly keys: SigningKeys
  readonly flowControl: FlowControl
  /** `host:port`, once it listens. */
  readonly address: () => string
  readonly metricsText: () => Promise<string> | string
}

/** What is served besides resources. */
function documentsOf(
  core: Core,
  { keys, flowControl, address, metricsText }: DocumentSources,
): ApiServerDeps['documents'] {
  const { config, catalog, lister, cache } = core
  const { clock } = config
  const kms = kmsChecks(encryptionOf(core.storage))
  const openapi = new OpenapiDocuments({ types: catalog.types, catalog, clock, version: gitVersion(build) })
  return {
    health: {
      checks: {
        healthz: [ping, ...kms],
        livez: [ping, ...kms],
        readyz: [
          ping,
          ...kms,
          { name: 'storage', check: () => lister.refresh(), warnings: () => [...cache.damaged.all()] },
        ],
      },
      onFailure: (endpoint, check, error) => config.log.error({ endpoint, check, error }, 'a health check failed'),
    },
    build,
    plain: {
      ...flowControlDumps(flowControl),
      '/metrics': { contentType: 'text/plain; version=0.0.4; charset=utf-8', body: () => metricsText() },
      [discoveryPath]: {
        contentType: 'application/json',
        cacheControl: 'public, max-age=3600',
        body: () => JSON.stringify(discoveryDocument(serviceAccountIssuer, `https://${address()}${keySetPath}`)),
      },
      [keySetPath]: {
        contentType: keySetContentType,
        body: () => JSON.stringify(keySet(keys.current)),
      },
    },
    openapi: (path) => openapi.find(path),
    openapiPaths: () => openapi.paths(),
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

const ownAccounts = 'system:serviceaccount:kube-system:'

/** The server's own requests are no client's fault: they count, and no warning tells of them. */
function culpritOf(owner: object | undefined): Culprit | undefined {
  const culprit = owner as Culprit | undefined
  const username = culprit?.user.username ?? ''
  return username === serverUser.username || username.startsWith(ownAccounts) ? undefined : culprit
}

/** What must be there before any client is answered. All at once: a first start is a flush or two, not fifty. */
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
