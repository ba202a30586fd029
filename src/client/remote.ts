/**
 * Any cluster as a `Client`: the server and the credentials of a kubeconfig, found and read as kubectl does, with its
 * plugins for credentials. The official client library knows how; it is slow to load, so only who needs it imports this.
 */
import { KubeConfig } from '@kubernetes/client-node'
import type { Client } from './client.ts'
import { httpsTransport, type RequestCredentials } from './https-transport.ts'
import { RestClient } from './rest-client.ts'

export interface RemoteOptions {
  /** Absent = `$KUBECONFIG`, `~/.kube/config`, or the account of the pod that this runs in. */
  readonly kubeconfigPath?: string
  /** Absent = the current one of the file. */
  readonly context?: string
  readonly userAgent: string
}

export interface Remote {
  readonly client: Client
  /** `https://127.0.0.1:6443` */
  readonly server: string
  /** Of the context, where it names one. */
  readonly namespace: string | undefined
}

/** @throws Error that says in one line what is wrong with the kubeconfig */
export function openRemote({ kubeconfigPath, context, userAgent }: RemoteOptions): Remote {
  const config = new KubeConfig()
  const source = kubeconfigPath ?? process.env['KUBECONFIG'] ?? 'the kubeconfig'
  try {
    if (kubeconfigPath === undefined) config.loadFromDefault()
    else config.loadFromFile(kubeconfigPath)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.split('\n')[0] : String(cause)
    throw new Error(`${source} can't be read: ${why}`, { cause })
  }
  if (context !== undefined) {
    if (config.getContextObject(context) === null)
      throw new Error(`${source} has no context ${JSON.stringify(context)}`)
    config.setCurrentContext(context)
  }
  const cluster = config.getCurrentCluster()
  if (cluster === null) throw new Error(`${source} names no cluster: choose one with --kubeconfig or --context`)
  // A proxy needs an agent that knows it.
  const proxied = cluster.proxyUrl !== undefined && cluster.proxyUrl !== ''
  const transport = httpsTransport({
    server: cluster.server,
    async credentials() {
      const { agent, ...credentials }: RequestCredentials = await credentialsOf(config)
      return proxied && agent !== undefined ? { ...credentials, agent } : credentials
    },
  })
  return {
    client: new RestClient({ transport, userAgent }),
    server: cluster.server,
    namespace: config.getContextObject(config.getCurrentContext())?.namespace,
  }
}

async function credentialsOf(config: KubeConfig): Promise<RequestCredentials> {
  const options: RequestCredentials = { headers: {} }
  await config.applyToHTTPSOptions(options)
  return options
}
