/** Three members of etcd and three replicas on loopback, each a process of its own, with everything that can befall them. */
import type { Client } from '../../src/client/client.ts'
import { BoroughProcess } from '../interop/borough-process.ts'
import { EtcdServer } from '../support/etcd-server.ts'
import { clientOf, pageOf } from './kubeconfig-client.ts'

export class ReplicaCluster implements AsyncDisposable {
  readonly members: readonly EtcdServer[]
  readonly replicas: readonly BoroughProcess[]
  readonly #kubeconfig: string

  private constructor(members: readonly EtcdServer[], replicas: readonly BoroughProcess[], kubeconfig: string) {
    this.members = members
    this.replicas = replicas
    this.#kubeconfig = kubeconfig
  }

  /** The replicas start at once, on an empty store; each asks another member first. */
  static async start(flags: readonly string[] = []): Promise<ReplicaCluster> {
    const members = await EtcdServer.startCluster(3)
    const hosts = members.map(({ endpoint }) => new URL(endpoint).host)
    const replicas = await Promise.all(
      hosts.map((_, i) => {
        const order = [...hosts.slice(i), ...hosts.slice(0, i)]
        return BoroughProcess.start([`--storage=etcd://${order.join(',')}`, '--log-level=error', ...flags])
      }),
    )
    const [first] = replicas
    if (!first) throw new Error('no replicas')
    return new ReplicaCluster(members, replicas, await first.adminKubeconfig())
  }

  /** As the administrator, at each replica. */
  clients(): Client[] {
    return this.replicas.map((replica) => clientOf(this.#kubeconfig, replica))
  }

  /** The replica whose controllers run; undefined between two. */
  async controllersAt(): Promise<number | undefined> {
    const leading = await Promise.all(
      this.replicas.map((replica) =>
        pageOf(this.#kubeconfig, replica, '/metrics').then(
          (text) => text.includes('\nborough_controllers_leading 1\n'),
          () => false,
        ),
      ),
    )
    const at = leading.indexOf(true)
    if (at !== leading.lastIndexOf(true)) throw new Error('two replicas lead')
    return at < 0 ? undefined : at
  }

  /** The index of etcd's own leader. */
  async etcdLeader(): Promise<number> {
    for (;;) {
      for (const [i, { endpoint }] of this.members.entries()) {
        const status = await etcdCall(endpoint, 'maintenance/status').catch(() => undefined)
        const { leader, header } = (status ?? {}) as { leader?: string; header?: { member_id?: string } }
        if (leader !== undefined && leader === header?.member_id) return i
      }
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica[Symbol.asyncDispose]()))
    await Promise.all(this.members.map((member) => member[Symbol.asyncDispose]()))
  }
}

/** etcd's JSON gateway: for what no part of Borough does. */
export async function etcdCall(endpoint: string, path: string, body: object = {}): Promise<unknown> {
  const answer = await fetch(`${endpoint}/v3/${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(5_000),
  })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return answer.json()
}
