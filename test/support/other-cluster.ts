/**
 * The cluster that `borough populate` serves in tests: a Borough that knows nothing of templates, or, where
 * BOROUGH_OTHER_CLUSTER names the kubeconfig of an administrator, that one. Nothing else may use it: each test finds
 * it empty, and leaves it so.
 */
import { openRemote, type Remote } from '../../src/client/remote.ts'
import { RestClient } from '../../src/client/rest-client.ts'
import type { Transport } from '../../src/client/transport.ts'
import type { UserInfo } from '../../src/kube/user.ts'
import { type StartOptions, startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { emptyCluster } from './empty-cluster.ts'

export const otherKubeconfig: string | undefined = process.env['BOROUGH_OTHER_CLUSTER']

export type OtherCluster = Pick<TestControlPlane, 'client' | 'clientAs' | 'fetch'> & AsyncDisposable

const admin: UserInfo = { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] }

/** @param options of the Borough that it is without BOROUGH_OTHER_CLUSTER */
export async function startOtherCluster(options: StartOptions = {}): Promise<OtherCluster> {
  if (otherKubeconfig !== undefined) return RemoteCluster.open(otherKubeconfig)
  return startControlPlane({ population: false, featureGates: { NamespaceInitializers: false }, ...options })
}

/** What can decide about namespaces there. */
export async function otherAdmissions(): Promise<readonly ('webhooks' | 'policies')[]> {
  return (await otherServes('MutatingAdmissionPolicy')) ? ['webhooks', 'policies'] : ['webhooks']
}

/** A kind of policies: one that changes objects from 1.36 on, one that refuses them from 1.30 on. */
export async function otherServes(kind: 'MutatingAdmissionPolicy' | 'ValidatingAdmissionPolicy'): Promise<boolean> {
  if (otherKubeconfig === undefined) return true
  const { client } = openRemote({ kubeconfigPath: otherKubeconfig, userAgent: 'test' })
  return (await client.discovery.findKind('admissionregistration.k8s.io/v1', kind)) !== undefined
}

/** Its minor version is that or newer. */
export async function otherIsFrom(minor: number): Promise<boolean> {
  if (otherKubeconfig === undefined) return true
  const { client } = openRemote({ kubeconfigPath: otherKubeconfig, userAgent: 'test' })
  const version = (await client.request('GET', '/version')) as { minor: string }
  return Number.parseInt(version.minor, 10) >= minor
}

class RemoteCluster implements OtherCluster {
  readonly #remote: Remote
  readonly client: RestClient

  private constructor(remote: Remote) {
    this.#remote = remote
    this.client = this.#clientOf(admin)
  }

  static async open(kubeconfigPath: string): Promise<RemoteCluster> {
    const cluster = new RemoteCluster(openRemote({ kubeconfigPath, userAgent: 'test' }))
    await emptyCluster(cluster.client)
    return cluster
  }

  clientAs(username: string, groups: readonly string[] = []): RestClient {
    return this.#clientOf({ username, groups: [...groups, 'system:authenticated'] })
  }

  #clientOf(user: UserInfo): RestClient {
    return new RestClient({ transport: actingAs(this.#remote.transport, user), userAgent: 'test' })
  }

  async fetch(path: string, init: RequestInit & { readonly user?: UserInfo } = {}): Promise<Response> {
    const { user = admin, ...rest } = init
    const request = new Request(new URL(path, 'https://other.test'), rest)
    const { pathname, searchParams } = new URL(request.url)
    const bytes = new Uint8Array(await request.arrayBuffer())
    const { status, header, body } = await actingAs(this.#remote.transport, user).send({
      method: request.method,
      path: pathname,
      query: searchParams,
      headers: Object.fromEntries(request.headers),
      ...(bytes.length === 0 ? {} : { body: bytes }),
      signal: request.signal,
      streaming: searchParams.get('watch') === 'true',
    })
    const headers = new Headers()
    for (const name of ['content-type', 'retry-after', 'warning']) {
      const value = header(name)
      if (value !== undefined) headers.set(name, value)
    }
    const sent = body instanceof Uint8Array ? body : ReadableStream.from(body)
    return new Response(sent as ConstructorParameters<typeof Response>[0], { status, headers })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await emptyCluster(this.client)
  }
}

/** Node writes a character of a header as one byte; names of users and groups are UTF-8. */
const onWire = (name: string): string => Buffer.from(name).toString('latin1')

/** Requests of another user, by impersonation. */
function actingAs({ send }: Transport, { username, groups, extra = {} }: UserInfo): Transport {
  const who: Record<string, string | readonly string[]> = {
    'impersonate-user': onWire(username),
    'impersonate-group': groups.map(onWire),
  }
  for (const [key, values] of Object.entries(extra))
    who[`impersonate-extra-${encodeURIComponent(key.toLowerCase())}`] = values
  // Node sends a header for each value of a list.
  return {
    send: (request) => send({ ...request, headers: { ...request.headers, ...(who as Record<string, string>) } }),
  }
}
