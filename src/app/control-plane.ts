/**
 * A whole control plane without sockets: opened in the order in which state flows, closed in reverse. `serve.ts` puts
 * it on the network, `testing/` hands it to tests as it is.
 */
import { openAudit } from '../audit/open-audit.ts'
import { type Authentication, openAuthentication } from '../authn/open-authentication.ts'
import type { Client } from '../client/client.ts'
import { loopbackClient } from '../client/loopback.ts'
import { openServerStorage } from '../encryption/server-storage.ts'
import { agreeOnFormat, type FormatLevels } from '../feature/format-levels.ts'
import { build } from '../http/build.ts'
import { Defense } from '../http/overload.ts'
import type { Serve } from '../http/pipeline.ts'
import { reachedUrl } from '../http/reached-url.ts'
import { adminUser, serverUser, type UserInfo } from '../kube/user.ts'
import { type LoopBlock, LoopBlocks, Metrics, SharedMetrics } from '../metrics/metrics.ts'
import { type Credential, openKeys, type Pki, SigningKeys } from '../pki/pki.ts'
import { Compactor } from '../storage/compactor.ts'
import { closeOpened } from '../storage/served-storage.ts'
import type { Storage } from '../storage/storage.ts'
import { createApiServer } from './api-server.ts'
import { bootstrapServer } from './bootstrap.ts'
import type { Config } from './config.ts'
import { type ClientFor, Leadership, runUntilStopped } from './controllers.ts'
import { documentsOf } from './documents.ts'
import { featuresOf } from './features.ts'
import { flowControlOf } from './flow-control.ts'
import { openOperatorFiles } from './operator-files.ts'
import { type Core, turnsOf, wireCore } from './wire.ts'

export interface ControlPlane extends AsyncDisposable {
  readonly core: Core
  readonly pki: Pki
  /** The server's own serving certificate as it is kept now; made anew when it ends soon. */
  servingCredential(): Promise<Credential>
  /** Who may vouch for clients. */
  readonly authorities: Authentication['authorities']
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
  const { admission, askElsewhere } = await openOperatorFiles(config)
  const audit = await openAudit(config)
  opening.use(audit?.sink)
  const storing = given.opened ?? openServerStorage(config)
  opening.defer(() => closeOpened(storing))
  const [{ pki, store: pkiStore, serving }, storage] = await Promise.all([openKeys(config, storing), storing])
  const keys = opening.use(new SigningKeys({ clock, log, store: pkiStore, keys: pki.serviceAccountKeys }))
  const client: ClientFor = (...as) => loopbackClient(serve, ...as)
  const leadership = new Leadership(config, client)
  const flowControl = flowControlOf(config, () => core)
  const features = (given.features ?? featuresOf)(config, { ...certificatesOf(pki), flowControl, admission })
  const core = opening.use(await wireCore(config, storage, features, leadership))
  const onBlock = (block: LoopBlock): void => metrics.loopBlocked(block)
  const blocks = opening.use(new LoopBlocks({ clock, log, onBlock }).follow(core.diagnostics))
  opening.use(startCompactor(core))
  opening.use(core.storeReporter.start())
  const defense = opening.use(new Defense({ clock, log }))
  defense.limitWatchMemory(core.cache, config.load.maxMemoryBytes, turnsOf(clock, core.diagnostics))
  const authentication = await authenticationOf(core, pki.caCert, keys)

  const metrics: Metrics = new Metrics(build, {
    parts: core.parts,
    begins: (request, context) => blocks.begin(request.localUser === undefined ? context : undefined),
    cache: core.cache,
    leading: () => leadership.leading,
    bounds: () => defense.incidents.counts,
    evaluations: () => core.evaluator.offloaded,
    audit: () => audit?.sink.counts,
  })
  const shared = config.group && new SharedMetrics(config.group.metrics, () => metrics.figures(), log)
  let address = '127.0.0.1:6443'
  let formatLevels: FormatLevels | null = null
  const serve = createApiServer({
    core,
    authentication,
    askElsewhere,
    serverAddress: () => address,
    documents: documentsOf(core, {
      keys,
      flowControl,
      address: () => address,
      metricsText: () => (shared ?? metrics).text(),
      formatProblem: () => formatLevels?.problem,
    }),
    metrics,
    audit: audit && { ...audit, late: opening.use(defense.recordLate(audit.sink, core)) },
    defense,
    flowControl,
  })

  const kubernetes = await bootstrapServer(core, client(serverUser, 'borough/bootstrap'), authentication, opening)
  for (const parts of core.parts) parts.start?.()
  metrics.startSoon(clock)
  formatLevels = opening.use(await agreeOnFormat(config, () => leadership.identity(), { storage, client }))
  opening.defer(runUntilStopped({ core, client, leadership, flowControl, keys, metrics }))
  kubernetes.follow()
  opening.defer(() => kubernetes.stop())
  opening.defer(() => features.hold.release())
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
      kubernetes.listening(host, port)
    },
    drain: () => features.hold.release(),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

const authenticationOf = (core: Core, caCert: string, keys: SigningKeys): Promise<Authentication> =>
  openAuthentication(core.config, { caCert, keys: () => keys.current, find: (...named) => core.find(...named) })

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
