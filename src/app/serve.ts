/** Puts a control plane on the network and takes it off again: the order of start and of drain. */

import { authenticationTrust, publishAuthenticationTrust } from '../apis/controlplane/authentication-trust.ts'
import { kubeconfigYaml } from '../client/kubeconfig.ts'
import { budgetWithin, connectionsWithin, reservedBudget, reservedConnections } from '../http/limits.ts'
import { type Listener, type ListenOptions, listen, type TlsMaterial } from '../http/node/listen.ts'
import { followServingTls, readServingTls, type ServingTlsSources } from '../http/node/serving-tls.ts'
import { reachedUrl } from '../http/reached-url.ts'
import { adminUser, authenticatedGroup, serverUser } from '../kube/user.ts'
import type { Storage } from '../storage/storage.ts'
import { type Config } from './config.ts'
import { type ControlPlane, createControlPlane } from './control-plane.ts'

export interface Server extends AsyncDisposable {
  readonly plane: ControlPlane
  readonly url: string
  readonly port: number
  /** Where administrators are served apart from others; absent if nowhere. */
  readonly adminUrl?: string
  /** For the administrator: full rights for a year. */
  readonly adminKubeconfig: string
}

const adminDurationMs = 365 * 86_400_000
/** How long requests under way may take to finish. */
const drainMs = 10_000

/**
 * @param opened see `createControlPlane`
 * @param onAdminKubeconfig given another one when the certificate that it trusts was replaced in the operator's file
 */
export async function serve(
  config: Config,
  opened?: Promise<Storage>,
  onAdminKubeconfig: (kubeconfig: string) => void = () => undefined,
): Promise<Server> {
  if (config.listen === undefined) throw new Error('serve needs an address to listen on')
  const plane = await createControlPlane(config, opened ? { opened } : {})
  const listeners: Listener[] = []
  const sources = tlsSources(config, plane)
  let tls: TlsMaterial
  try {
    tls = await readServingTls(sources)
    // First, so that no client is answered before all addresses are there.
    if (config.adminListen !== undefined) {
      listeners.push(await listen(plane.serve, { ...reservedListening(config, plane, tls), ...config.adminListen }))
    }
    listeners.push(await listen(plane.serve, { ...listening(config, plane, tls), ...config.listen }))
  } catch (error) {
    await Promise.all(listeners.map((listener) => listener.close(AbortSignal.abort())))
    await plane[Symbol.asyncDispose]()
    throw error
  }
  const [listener, adminListener] = listeners.toReversed() as [Listener, Listener?]
  const url = reachedUrl(config.listen.host, listener.port)
  plane.listening(config.listen.host, listener.port)
  const stop = new AbortController()
  const kubeconfigTrusting = (served: TlsMaterial): string =>
    kubeconfigOf(plane, url, adminUser.username, adminUser.groups, adminDurationMs, {
      // Of another authority: as far as the operator's file says who vouches for it.
      caCert: config.tlsFiles === undefined ? plane.pki.caCert : `${plane.pki.caCert}${served.cert}`,
    })
  const trust =
    config.tlsFiles === undefined
      ? []
      : [{ setTls: (next: TlsMaterial) => onAdminKubeconfig(kubeconfigTrusting(next)) }]
  const following = followServingTls(sources, tls, [...listeners, ...trust], stop.signal)
  return {
    plane,
    url,
    port: listener.port,
    ...(adminListener === undefined ? {} : { adminUrl: reachedUrl(adminListener.host, adminListener.port) }),
    adminKubeconfig: kubeconfigTrusting(tls),
    async [Symbol.asyncDispose]() {
      stop.abort()
      await following
      plane.drain()
      const deadline = new AbortController()
      const timer = config.clock.after(drainMs, () => deadline.abort())
      const closed = Promise.all(listeners.map((each) => each.close(deadline.signal)))
      // What was asked is answered first, for it needs all of the plane; watches end with it.
      await Promise.all(listeners.map((each) => each.answered(deadline.signal)))
      await plane[Symbol.asyncDispose]()
      await closed
      timer.cancel()
    },
  }
}

type Listening = Omit<ListenOptions, 'host' | 'port'>

function listening(config: Config, plane: ControlPlane, tls: TlsMaterial): Listening {
  const { maxMemoryBytes, connections, deadlines, http2 } = config.load
  const limits = { deadlines, http2, connections: connectionsWithin(maxMemoryBytes, connections) }
  return {
    tls,
    overload: plane.defense.of(limits, budgetWithin(maxMemoryBytes)),
    onError: (error) => config.log.error({ error }, 'a connection failed'),
  }
}

/** With connections and memory of its own. */
function reservedListening(config: Config, plane: ControlPlane, tls: TlsMaterial): Listening {
  const { deadlines, http2 } = config.load
  const overload = plane.defense.of({ deadlines, http2, connections: reservedConnections }, reservedBudget)
  return { ...listening(config, plane, tls), overload, reserved: true }
}

function tlsSources(config: Config, plane: ControlPlane): ServingTlsSources {
  const { clock, log, tlsFiles, frontProxy } = config
  return {
    clock,
    log,
    ...(tlsFiles === undefined ? {} : { files: tlsFiles }),
    ownCredential: () => plane.servingCredential(),
    // All whom TLS trusts. Who of them may vouch for what, authentication knows.
    async clientAuthorities() {
      const { authorities } = plane
      if (await authorities.read()) {
        await publishAuthenticationTrust(plane.client(serverUser), authenticationTrust(authorities.pem, frontProxy))
      }
      return frontProxy === undefined ? authorities.pem : `${authorities.pem}\n${frontProxy.ca}`
    },
  }
}

export function kubeconfigOf(
  plane: ControlPlane,
  server: string,
  user: string,
  groups: readonly string[],
  durationMs: number,
  { caCert }: { readonly caCert: string } = plane.pki,
): string {
  const { cert, key } = plane.pki.mintClientCertificate({
    user,
    groups: groups.filter((g) => g !== authenticatedGroup),
    durationMs,
  })
  return kubeconfigYaml({ server, caCert, credential: { cert, key }, userName: user })
}
