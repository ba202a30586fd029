/**
 * `borough populate`: the population controller and its webhooks for a cluster that is reached as any client reaches
 * it.
 *
 * Order of start: the kind is served, the certificate is there, the webhooks answer, the cluster is told of them; then
 * this process runs for leader. All replicas answer webhooks; one runs the controllers. Order of the end: controllers,
 * lease, then the webhooks. The cluster keeps asking them: that is for the next instance, or `uninstallPopulation`.
 */

import { hostname } from 'node:os'
import type { Clock } from '../base/clock.ts'
import type { Client } from '../client/client.ts'
import { leadWhileElected } from '../controller/leader.ts'
import { budgetWithin, defaultMaxMemoryBytes, defaultTransportLimits } from '../http/limits.ts'
import { type Listener, listen } from '../http/node/listen.ts'
import { Defense } from '../http/overload.ts'
import { reachedUrl } from '../http/reached-url.ts'
import { findServerShare, findTrusted } from './admission.ts'
import { ensureNamespace, installDefinition } from './install.ts'
import { lookAfter } from './look-after.ts'
import { PopulateMetrics } from './metrics.ts'
import { installName, secretName, serviceHost } from './names.ts'
import { openWebhook } from './open-webhook.ts'
import { populatesItself } from './own-kind.ts'
import type { Populate, PopulateOptions } from './populate-options.ts'
import { runPopulation } from './run-population.ts'
import { endOf, type Material, obtainMaterial } from './serving-certificate.ts'
import { registeredObjects, tellCluster, titlesOf } from './tell-cluster.ts'
import { webhookServe } from './webhook-server.ts'

export type { AdmissionBy } from './admission.ts'
export { definitionName } from './definition.ts'
export { manifests } from './manifests.ts'
export { PopulateMetrics } from './metrics.ts'
export type { Populate, PopulateOptions } from './populate-options.ts'
export { reachOf, rightsManifests } from './rights.ts'
export { heldKinds, kindsInTemplates, servedKinds } from './templated-kinds.ts'
export { uninstallPopulation } from './uninstall.ts'
export { installName, secretName }

/** How long requests under way may take at the end. */
const drainMs = 5000

/** @throws StatusError, Error: the cluster refuses, or can't be reached, or `signal` came: it is told nothing then */
export async function startPopulate(options: PopulateOptions): Promise<Populate> {
  const { client, clock, ids, log, namespace } = options
  await using opening = new AsyncDisposableStack()
  const stop = new AbortController()
  opening.defer(() => stop.abort())
  const starting = options.signal === undefined ? stop.signal : AbortSignal.any([stop.signal, options.signal])
  const minor = await requireKubernetes(client)
  await refuseOwnKind(client)
  await installDefinition(client, clock, starting)
  await ensureNamespace(client, namespace)
  const metrics = options.metrics ?? new PopulateMetrics()
  const certificate = {
    client,
    clock,
    log,
    secret: { namespace, name: secretName },
    names: servedNames(options),
  }
  const material = await obtainMaterial(certificate, { 'ca.crt': await findTrusted(client) })
  metrics.certificateEndMs = endOf(material)
  const defense = opening.use(new Defense({ clock, log }))
  const listener = await listen(
    webhookServe({ webhook: openWebhook(options), metrics, clock, log, ready: reachable(client) }),
    {
      ...options.listen,
      tls: tlsOf(material),
      overload: defense.of(defaultTransportLimits, budgetWithin(defaultMaxMemoryBytes)),
      onError: (error) => log.error({ error }, 'a connection failed'),
    },
  )
  opening.defer(() => closeListener(listener, clock))

  const url = reachedUrl(options.listen.host, listener.port)
  const share = await findServerShare(client, options.admission ?? 'auto', minor)
  const objects = registeredObjects(options, share, url, material['ca.crt'])
  await tellCluster(options, objects, starting)
  const looking = lookAfter(
    {
      ...{ options, metrics, certificate, material },
      serveWith: (next) => listener.setTls(tlsOf(next)),
      objectsFor: (caBundle) => registeredObjects(options, share, url, caBundle),
    },
    stop.signal,
  )
  opening.defer(() => looking)

  let leading = false
  const election = leadWhileElected(
    {
      client,
      clock,
      log,
      lease: { namespace, name: installName },
      identity: `${hostname()}_${ids.uid()}`,
      onLeading(now) {
        leading = now
        metrics.leading = now
      },
    },
    (signal) => runPopulation(options, metrics, signal),
    stop.signal,
  )
  opening.defer(async () => {
    stop.abort()
    await election
  })
  const running = opening.move()
  return {
    url,
    policies: share.policies,
    registered: titlesOf(objects),
    get leading() {
      return leading
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

/**
 * The oldest release that the tests of population were run on. Before 1.21 it can't be: servers do not see to the
 * label `kubernetes.io/metadata.name`, by which the webhooks leave out system namespaces.
 */
export const oldestMinor: number = 25

/** Answers the minor version. */
async function requireKubernetes(client: Client): Promise<number> {
  const { major, minor, gitVersion } = (await client.request('GET', '/version')) as Record<string, string | undefined>
  // Some vendors write `21+`.
  const number = Number.parseInt(minor ?? '', 10)
  if (major === '1' && number < oldestMinor)
    throw new Error(`Kubernetes 1.${oldestMinor} or newer is needed, this is ${gitVersion}`)
  return number
}

/** Two controllers would fight over every object. */
async function refuseOwnKind(client: Client): Promise<void> {
  if (await populatesItself(client))
    throw new Error(
      'this cluster is a Borough that populates namespaces by itself (borough up --no-population stops that)',
    )
}

const reachable = (client: Client): { readonly name: string; check(signal: AbortSignal): Promise<void> } => ({
  name: 'cluster',
  async check(signal) {
    await client.request('GET', '/version', undefined, { signal })
  },
})

const tlsOf = (material: Material): Parameters<typeof listen>[1]['tls'] => ({
  key: material['tls.key'],
  cert: material['tls.crt'],
  clientCa: material['ca.crt'],
})

async function closeListener(listener: Listener, clock: Clock): Promise<void> {
  const deadline = new AbortController()
  const timer = clock.after(drainMs, () => deadline.abort())
  await listener.close(deadline.signal)
  timer.cancel()
}

function servedNames({ listen: { host }, namespace, reachedAt }: PopulateOptions): string[] {
  const own = new URL(reachedUrl(host, 0)).hostname
  const given = typeof reachedAt === 'object' ? [new URL(reachedAt.url).hostname] : []
  const plain = (name: string): string => name.replace(/^\[|\]$/g, '')
  return [...new Set([serviceHost(namespace), ...given.map(plain), plain(own), 'localhost'])]
}
