/**
 * Three members of etcd and three replicas on loopback, each a process of its own, with everything that can befall
 * them.
 */
import type { Client } from '../../src/client/client.ts'
import { BoroughProcess } from '../interop/borough-process.ts'
import { EtcdServer } from '../support/etcd-server.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'
import { clientOf, pageOf } from './kubeconfig-client.ts'

export interface ClusterOptions {
  /** Of each replica. */
  readonly flags?: readonly string[]
  /** Of each member of etcd. */
  readonly etcdFlags?: readonly string[]
  /** Called with the folder of each member before it starts. */
  readonly prepareMember?: (folder: string, member: number) => void
}

interface Parts {
  readonly members: readonly EtcdServer[]
  readonly replicas: readonly BoroughProcess[]
  readonly links: readonly TcpProxy[]
  readonly kubeconfig: string
}

/** The one whose way to etcd can be made slow. */
export const linkedReplica = 2

export class ReplicaCluster implements AsyncDisposable {
  readonly members: readonly EtcdServer[]
  readonly replicas: readonly BoroughProcess[]
  /** Between replica `linkedReplica` and each member. */
  readonly links: readonly TcpProxy[]
  readonly #kubeconfig: string

  private constructor({ members, replicas, links, kubeconfig }: Parts) {
    this.members = members
    this.replicas = replicas
    this.links = links
    this.#kubeconfig = kubeconfig
  }

  /** The replicas start at once, on an empty store; each asks another member first. */
  static async start({ flags = [], etcdFlags = [], prepareMember }: ClusterOptions = {}): Promise<ReplicaCluster> {
    const members = await EtcdServer.startCluster(3, {
      flags: etcdFlags,
      ...(prepareMember === undefined ? {} : { prepare: prepareMember }),
    })
    const links = await Promise.all(members.map(({ endpoint }) => TcpProxy.start(Number(new URL(endpoint).port))))
    const direct = members.map(({ endpoint }) => new URL(endpoint).host)
    const linked = links.map(({ port }) => `127.0.0.1:${port}`)
    const replicas = await Promise.all(
      members.map((_, i) => {
        const hosts = i === linkedReplica ? linked : direct
        const order = [...hosts.slice(i), ...hosts.slice(0, i)]
        return BoroughProcess.start([`--storage=etcd://${order.join(',')}`, '--log-level=error', ...flags])
      }),
    )
    const [first] = replicas
    if (!first) throw new Error('no replicas')
    return new ReplicaCluster({ members, replicas, links, kubeconfig: await first.adminKubeconfig() })
  }

  /** As the administrator, at each replica. */
  clients(): Client[] {
    return this.replicas.map((replica) => clientOf(this.#kubeconfig, replica))
  }

  /** The replicas whose controllers run, of those that say so. */
  async controllersAt(): Promise<readonly number[]> {
    const leading = await Promise.all(
      this.replicas.map((_, i) =>
        this.#metric(i, 'borough_controllers_leading').then(
          (value) => value === 1,
          () => false,
        ),
      ),
    )
    return [...leading.keys()].filter((i) => leading[i])
  }

  /** The resourceVersion that this replica has seen. */
  revisionAt(replica: number): Promise<number> {
    return this.#metric(replica, 'borough_storage_revision')
  }

  /** Waits until one of the members, other than `except`, says that it is the leader; its index. */
  async etcdLeader(except?: number): Promise<number> {
    for (;;) {
      const asked = [...this.members.entries()].filter(([i]) => i !== except)
      const leads = await Promise.all(asked.map(([, { endpoint }]) => isLeader(endpoint).catch(() => false)))
      const at = leads.indexOf(true)
      const found = asked[at]
      if (found) return found[0]
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  page(replica: number, path: string, timeoutMs?: number): Promise<string> {
    const at = this.replicas[replica]
    if (!at) throw new Error(`there is no replica ${replica}`)
    return pageOf(this.#kubeconfig, at, path, timeoutMs)
  }

  async #metric(replica: number, name: string): Promise<number> {
    const page = await this.page(replica, '/metrics', 3_000)
    return Number(new RegExp(`\\n${name} (\\S+)\\n`).exec(page)?.[1])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica[Symbol.asyncDispose]()))
    await Promise.all(this.links.map((link) => link[Symbol.asyncDispose]()))
    await Promise.all(this.members.map((member) => member[Symbol.asyncDispose]()))
  }
}

export async function isLeader(endpoint: string): Promise<boolean> {
  const { leader, header } = (await etcdCall(endpoint, 'maintenance/status', {}, 1_000)) as {
    leader?: string
    header?: { member_id?: string }
  }
  return leader !== undefined && leader === header?.member_id
}

/** etcd's JSON gateway: for what no part of Borough does. */
export async function etcdCall(
  endpoint: string,
  path: string,
  body: object = {},
  timeoutMs: number = 30_000,
): Promise<unknown> {
  const answer = await fetch(`${endpoint}/v3/${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(timeoutMs),
  })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return answer.json()
}
