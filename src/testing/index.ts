/**
 * The real thing, in-process, for tests: real admission, RBAC, watches and namespace deletion, nothing on disk, gone
 * when disposed.
 *
 * @example
 * await using plane = await startControlPlane()
 * await plane.client.create(namespaces, { metadata: { name: 'team-a' } })
 */
import { type Config, defaultConfig } from '../app/config.ts'
import { type ControlPlane, createControlPlane } from '../app/control-plane.ts'
import { kubeconfigOf, type Server, serve } from '../app/serve.ts'
import type { Client } from '../client/client.ts'
import { fetchAdapter } from '../http/fetch.ts'
import type { UserInfo } from '../kube/user.ts'

export interface StartOptions
  extends Partial<
    Pick<
      Config,
      | 'clock'
      | 'ids'
      | 'log'
      | 'population'
      | 'listOwnNamespaces'
      | 'featureGates'
      | 'initializationTimeoutMs'
      | 'controllers'
      | 'tokenFile'
      | 'extraAdmission'
      | 'admissionConfigFile'
      | 'serviceAddresses'
      | 'serviceRanges'
      | 'serviceNodePorts'
      | 'history'
      | 'audit'
      | 'manifests'
      | 'storage'
    >
  > {
  /** Serve on a real port too; 0 picks a free one. */
  readonly port?: number
}

export interface TestControlPlane extends AsyncDisposable {
  /** As the administrator, without a socket. */
  readonly client: Client
  /** As any user, without a socket. Groups get `system:authenticated` added. */
  clientAs(username: string, groups?: readonly string[]): Client
  /** Raw requests without a socket, as the administrator or as `user`. */
  fetch(path: string, init?: RequestInit & { readonly user?: UserInfo }): Promise<Response>
  /** `https://127.0.0.1:port`. @throws Error if it was started without a port */
  readonly url: string
  /** For kubectl and other clients. @throws Error if it was started without a port */
  readonly kubeconfig: string
  kubeconfigFor(username: string, groups?: readonly string[]): string
}

const dayMs = 86_400_000

export async function startControlPlane(options: StartOptions = {}): Promise<TestControlPlane> {
  const { port, ...overrides } = options
  const config: Config = { ...defaultConfig, ...overrides }
  if (port === undefined) return handle(await createControlPlane(config), undefined)
  const server = await serve({ ...config, listen: { host: '127.0.0.1', port } })
  return handle(server.plane, server)
}

function handle(plane: ControlPlane, server: Server | undefined): TestControlPlane {
  const listening = (): Server => {
    if (server === undefined) throw new Error('no sockets: start with { port: 0 } for a url and kubeconfigs')
    return server
  }
  return {
    client: plane.client(),
    clientAs: (username, groups = []) => plane.client({ username, groups: [...groups, 'system:authenticated'] }),
    fetch(path, { user, ...init } = {}) {
      const adapter = fetchAdapter(
        plane.serve,
        user ?? { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] },
      )
      return adapter(new Request(new URL(path, 'https://borough.test'), init))
    },
    get url() {
      return listening().url
    },
    get kubeconfig() {
      return listening().adminKubeconfig
    },
    kubeconfigFor: (username, groups = []) => kubeconfigOf(plane, listening().url, username, groups, dayMs),
    [Symbol.asyncDispose]: () => (server ?? plane)[Symbol.asyncDispose]() as Promise<void>,
  }
}
