/** What can befall replicas and etcd. Waits are for states: how fast the machine is decides nothing. */
import type { Client } from '../../src/client/client.ts'
import { findStatusError, isAlreadyExists, isNotFound } from '../../src/kube/status-error.ts'
import type { KubeList, KubeObject } from '../../src/kube/types.ts'
import type { Direction } from '../support/tcp-proxy.ts'
import { etcdCall, linkedReplica, type ReplicaCluster } from './cluster.ts'

export interface Fault {
  readonly name: string
  /** Resolves when everything that can work again may be expected to. */
  run(cluster: ReplicaCluster): Promise<void>
}

const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
/** A client that hears nothing for so long gives up. */
const patienceMs = 12_000

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** As a supervisor does: a server that reaches no etcd in time ends, on a busy machine too. */
export async function supervised<T>(start: () => Promise<T>, mostTries: number = 5): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await start()
    } catch (error) {
      if (tries === mostTries || !/etcd/.test(String(error))) throw error
    }
  }
}

export const killReplica = (i: number): Fault => ({
  name: `kill -9 of replica ${i}, and its start`,
  async run({ replicas }) {
    await replicas[i]?.end('SIGKILL')
    await replicas[i]?.start()
  },
})

export const restartReplica = (i: number): Fault => ({
  name: `SIGTERM of replica ${i}, and its start, as an upgrade does it`,
  async run({ replicas }) {
    await replicas[i]?.end('SIGTERM')
    await replicas[i]?.start()
  },
})

export const pauseReplica = (i: number, ms: number): Fault => ({
  name: `SIGSTOP of replica ${i} for ${ms / 1000} s`,
  async run({ replicas }) {
    replicas[i]?.send('SIGSTOP')
    await pause(ms)
    replicas[i]?.send('SIGCONT')
  },
})

export const killEtcdLeader: Fault = {
  name: 'kill -9 of the leader of etcd, and its start when another leads',
  async run(cluster) {
    const at = await cluster.etcdLeader()
    await cluster.members[at]?.stop('SIGKILL')
    await cluster.etcdLeader(at)
    await cluster.members[at]?.start()
  },
}

export const killMajority: Fault = {
  name: 'kill -9 of two members of etcd for 2 s',
  async run({ members }) {
    const two = members.slice(0, 2)
    await Promise.all(two.map((member) => member.stop('SIGKILL')))
    await pause(2000)
    await Promise.all(two.map((member) => member.start()))
  },
}

export const pauseEtcdLeader: Fault = {
  name: 'SIGSTOP of the leader of etcd beyond its own lease, until another leads, and 1 s more',
  async run(cluster) {
    const at = await cluster.etcdLeader()
    cluster.members[at]?.pause()
    await cluster.etcdLeader(at)
    await pause(1000)
    cluster.members[at]?.resume()
  },
}

export const pauseFollower = (ms: number): Fault => ({
  name: `SIGSTOP of a follower of etcd for ${ms / 1000} s, then far behind`,
  async run(cluster) {
    const follower = cluster.members[((await cluster.etcdLeader()) + 1) % 3]
    follower?.pause()
    await pause(ms)
    follower?.resume()
  },
})

/** `meanwhile` runs while it is slow. */
export const slowFollower = (ms: number, meanwhile: Fault): Fault => ({
  name: `a follower of etcd with a tenth of its CPU for at least ${ms / 1000} s, and meanwhile: ${meanwhile.name}`,
  async run(cluster) {
    const follower = cluster.members[((await cluster.etcdLeader()) + 2) % 3]
    let slow = true
    const slowing = (async () => {
      while (slow) {
        follower?.pause()
        await pause(90)
        follower?.resume()
        await pause(10)
      }
    })()
    await Promise.all([pause(ms), meanwhile.run(cluster)])
    slow = false
    await slowing
  },
})

export const slowLink = (ms: number, meanwhile: Fault): Fault => ({
  name:
    `40 ms and 64 kB/s between replica ${linkedReplica} and etcd for at least ${ms / 1000} s, and meanwhile: ` +
    `${meanwhile.name}`,
  async run(cluster) {
    for (const link of cluster.links) link.slowDown({ delayMs: 40, bytesPerSecond: 64_000 })
    await Promise.all([pause(ms), meanwhile.run(cluster)])
    for (const link of cluster.links) link.mend()
  },
})

/** A partition of one direction: what is asked arrives and is done, and no answer comes; or nothing arrives. */
export const oneWay = (direction: Direction, ms: number): Fault => ({
  name: `${direction} between replica ${linkedReplica} and etcd lost for ${ms / 1000} s`,
  async run({ links }) {
    for (const link of links) link.silence(direction)
    await pause(ms)
    for (const link of links) link.mend()
  },
})

/** A member is lost with its data: it is taken out, and another one takes its place and name. */
export const replaceMember: Fault = {
  name: 'the loss of a member of etcd with its data, and its replacement by a new one',
  async run(cluster) {
    const leader = await cluster.etcdLeader()
    const lost = cluster.members[(leader + 1) % 3]
    const { endpoint = '' } = cluster.members[leader] ?? {}
    if (lost === undefined) throw new Error('no member')
    await lost.stop('SIGKILL')
    const { members } = (await etcdCall(endpoint, 'cluster/member/list')) as {
      members: readonly { readonly ID: string; readonly name?: string }[]
    }
    const id = members.find(({ name }) => name === lost.name)?.ID
    await reconfigure(endpoint, 'cluster/member/remove', { ID: id })
    await reconfigure(endpoint, 'cluster/member/add', { peerURLs: [lost.peer] })
    await lost.startAnew()
  },
}

/** A cluster that has been whole for less than a few seconds refuses it. */
async function reconfigure(endpoint: string, path: string, body: object): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await etcdCall(endpoint, path, body)
      return
    } catch (error) {
      if (tries === 100) throw error
      await pause(200)
    }
  }
}

/**
 * Fills etcd to its quota, and frees it as operations.md says, while a long list is read page by page at every replica.
 * What the pages say is right, or 410 with a token to go on.
 */
export const fullEtcd: Fault = {
  name: 'a full etcd, compacted during a long list, defragmented and disarmed',
  async run(cluster) {
    const clients = cluster.clients()
    const [first] = clients
    if (!first) throw new Error('no clients')
    await insist(() => first.create(namespaces, { metadata: { name: 'long' } }))
    await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        insist(() => first.create(configMaps, { metadata: { name: `c-${10 + i}`, namespace: 'long' } })),
      ),
    )
    const begun = await Promise.all(clients.map((client) => insist(() => client.list(configMaps, firstPage))))
    await fill(first)

    const compacted = await compact(cluster)
    await Promise.all(clients.map((client, i) => finishList(client, begun[i])))
    for (const { endpoint } of cluster.members) await etcdCall(endpoint, 'maintenance/defragment')
    const [member] = cluster.members
    if (!member) throw new Error('no members')
    const { alarms = [] } = (await etcdCall(member.endpoint, 'maintenance/alarm', { action: 'GET' })) as {
      alarms?: object[]
    }
    if (alarms.length === 0) throw new Error('etcd was full and raised no alarm')
    for (const alarm of alarms) await etcdCall(member.endpoint, 'maintenance/alarm', { ...alarm, action: 'DEACTIVATE' })
    if (compacted < 2) throw new Error('nothing was compacted')
  },
}

const firstPage = { namespace: 'long', limit: 10 } as const

/** Again where the machine or etcd was too slow for it; undefined where an earlier try had made it after all. */
async function insist<T>(act: () => Promise<T>): Promise<T | undefined> {
  for (;;) {
    try {
      return await act()
    } catch (error) {
      if (isAlreadyExists(error)) return undefined
      if (![429, 503, 504].includes(findStatusError(error)?.code ?? 0)) throw error
      await pause(100)
    }
  }
}

/** Writes one big object until it is refused: 507. */
async function fill(client: Client): Promise<void> {
  const metadata = { name: 'big', namespace: 'long' }
  await insist(() => client.create(configMaps, { metadata }))
  for (let turn = 0; ; turn++) {
    try {
      await client.update(configMaps, { metadata, data: { turn: String(turn), text: 'x'.repeat(900_000) } })
    } catch (error) {
      const code = findStatusError(error)?.code
      if (code === 507) return
      // Slow or cut off: not what is awaited.
      if (code !== 503 && code !== 504) throw error
    }
  }
}

/** At the revision that everybody has seen; etcd is full, so it stays the newest. */
async function compact(cluster: ReplicaCluster): Promise<number> {
  const [member] = cluster.members
  if (!member) throw new Error('no members')
  const { header } = (await etcdCall(member.endpoint, 'kv/range', { key: 'AA==' })) as { header: { revision: string } }
  const revision = Number(header.revision)
  for (const i of cluster.replicas.keys()) while ((await cluster.revisionAt(i)) < revision * 1024) await pause(50)
  await etcdCall(member.endpoint, 'kv/compaction', { revision: header.revision, physical: true })
  return revision
}

async function finishList(client: Client, first: KubeList | undefined): Promise<void> {
  if (!first) throw new Error('a list that never began')
  const names = new Set(first.items.map(nameOf))
  let token = first.metadata.continue
  while (token !== undefined && token !== '') {
    let page: KubeList | undefined
    try {
      const at = token
      page = await insist(() => client.list(configMaps, { ...firstPage, continue: at }))
    } catch (error) {
      const refused = findStatusError(error)
      if (refused?.reason !== 'Expired') throw error
      token = refused.continueToken
      if (!token) throw new Error('410 without a token to go on', { cause: error })
      continue
    }
    for (const item of page?.items ?? []) names.add(nameOf(item))
    token = page?.metadata.continue
  }
  for (let i = 10; i < 40; i++) if (!names.has(`c-${i}`)) throw new Error(`a list lacks c-${i}`)
}

const nameOf = (object: KubeObject): string => object.metadata.name ?? ''

/** Every one of them takes a write again. */
export async function recovered(clients: readonly Client[]): Promise<void> {
  await Promise.all(
    clients.map(async (client) => {
      for (;;) {
        try {
          const metadata = { generateName: 'probe-', namespace: 'default' }
          await client.create(configMaps, { metadata }, { signal: AbortSignal.timeout(patienceMs) })
          return
        } catch {
          await pause(20)
        }
      }
    }),
  )
}

/** Resolves when the namespace is gone: that takes controllers. */
export async function deleted(clients: readonly Client[], name: string): Promise<void> {
  for (let i = 0; ; i++) {
    const client = clients[i % clients.length]
    const signal = AbortSignal.timeout(patienceMs)
    try {
      await client?.delete(namespaces, { name }, { signal })
      await client?.get(namespaces, { name }, { signal })
    } catch (error) {
      if (isNotFound(error)) return
    }
    await pause(100)
  }
}

/** A namespace with something in it. */
export async function populated(client: Client, name: string): Promise<void> {
  await insist(() => client.create(namespaces, { metadata: { name } }))
  await insist(() => client.create(configMaps, { metadata: { name: 'a', namespace: name } }))
}
