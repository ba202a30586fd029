/** Puts a control plane on the network and takes it off again: the order of start and of drain. */

import { kubeconfigYaml } from '../client/kubeconfig.ts'
import { type Listener, listen } from '../http/node.ts'
import { reachedUrl } from '../http/reached-url.ts'
import { authenticatedGroup } from '../kube/user.ts'
import type { Storage } from '../storage/storage.ts'
import { type Config } from './config.ts'
import { type ControlPlane, createControlPlane } from './control-plane.ts'
import { adminUser } from './identities.ts'

export interface Server extends AsyncDisposable {
  readonly plane: ControlPlane
  readonly url: string
  readonly port: number
  /** For the administrator: full rights for a year. */
  readonly adminKubeconfig: string
}

const adminDurationMs = 365 * 86_400_000
/** How long requests under way may take to finish. */
const drainMs = 10_000

/** @param opened see `createControlPlane` */
export async function serve(config: Config, opened?: Promise<Storage>): Promise<Server> {
  if (config.listen === undefined) throw new Error('serve needs an address to listen on')
  const plane = await createControlPlane(config, opened ? { opened } : {})
  let listener: Listener
  try {
    listener = await listen(plane.serve, {
      ...config.listen,
      tls: { key: plane.pki.serving.key, cert: plane.pki.serving.cert, clientCa: clientCas(config, plane) },
      onError: (error) => config.log.error({ error }, 'a connection failed'),
    })
  } catch (error) {
    await plane[Symbol.asyncDispose]()
    throw error
  }
  const url = reachedUrl(config.listen.host, listener.port)
  plane.listening(config.listen.host, listener.port)
  return {
    plane,
    url,
    port: listener.port,
    adminKubeconfig: kubeconfigOf(plane, url, adminUser.username, adminUser.groups, adminDurationMs),
    async [Symbol.asyncDispose]() {
      plane.drain()
      const deadline = new AbortController()
      const timer = config.clock.after(drainMs, () => deadline.abort())
      const closed = listener.close(deadline.signal)
      // What was asked is answered first, for it needs all of the plane; watches end with it.
      await listener.answered(deadline.signal)
      await plane[Symbol.asyncDispose]()
      await closed
      timer.cancel()
    },
  }
}

/** Whom TLS trusts to vouch for clients. Who of them may vouch for what, authentication knows. */
const clientCas = (config: Config, plane: ControlPlane): string =>
  config.frontProxy === undefined ? plane.pki.caCert : `${plane.pki.caCert}\n${config.frontProxy.ca}`

export function kubeconfigOf(
  plane: ControlPlane,
  server: string,
  user: string,
  groups: readonly string[],
  durationMs: number,
): string {
  const { cert, key } = plane.pki.mintClientCertificate({
    user,
    groups: groups.filter((g) => g !== authenticatedGroup),
    durationMs,
  })
  return kubeconfigYaml({ server, caCert: plane.pki.caCert, credential: { cert, key }, userName: user })
}
