/**
 * Everything that can befall three replicas on a three-node etcd, under load: the history of every key stays
 * linearizable, watches stay complete and in order, quota stays exact, no acknowledged write is lost. The times to
 * recover are printed.
 *
 * BOROUGH_LONG=<minutes> goes on with faults in random order for so long; BOROUGH_SEED repeats an order.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { controllersLease } from '../../src/app/leadership.ts'
import type { Client } from '../../src/client/client.ts'
import { etcdMissing, etcdVersion } from '../support/etcd-server.ts'
import { ReplicaCluster } from './cluster.ts'
import { EtcdTruth } from './etcd-truth.ts'
import { RecordedLoad, randomFrom } from './recorded-load.ts'

const longMinutes = Number(process.env['BOROUGH_LONG'] ?? 0)
const seed = Number(process.env['BOROUGH_SEED'] ?? 20_261_121)
const leases = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' }
const configMaps = { group: '', version: 'v1', resource: 'configmaps' }

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

interface Fault {
  readonly name: string
  /** Resolves when everything that can work again may be expected to. */
  run(cluster: ReplicaCluster): Promise<void>
}

const killReplica = (i: number): Fault => ({
  name: `kill -9 of replica ${i}, and its start`,
  async run({ replicas }) {
    await replicas[i]?.end('SIGKILL')
    await replicas[i]?.start()
  },
})

const restartReplica = (i: number): Fault => ({
  name: `SIGTERM of replica ${i}, and its start, as an upgrade does it`,
  async run({ replicas }) {
    await replicas[i]?.end('SIGTERM')
    await replicas[i]?.start()
  },
})

const killEtcdLeader: Fault = {
  name: 'kill -9 of the leader of etcd, and its start',
  async run(cluster) {
    const member = cluster.members[await cluster.etcdLeader()]
    await member?.stop('SIGKILL')
    await pause(1500)
    await member?.start()
  },
}

const killMajority: Fault = {
  name: 'kill -9 of two members of etcd for 2 s',
  async run({ members }) {
    const two = members.slice(0, 2)
    await Promise.all(two.map((member) => member.stop('SIGKILL')))
    await pause(2000)
    await Promise.all(two.map((member) => member.start()))
  },
}

const pauseFollower = (ms: number): Fault => ({
  name: `SIGSTOP of a follower of etcd for ${ms / 1000} s, then far behind`,
  async run(cluster) {
    const follower = cluster.members[((await cluster.etcdLeader()) + 1) % 3]
    follower?.pause()
    await pause(ms)
    follower?.resume()
  },
})

const pauseReplica = (i: number, ms: number): Fault => ({
  name: `SIGSTOP of replica ${i} for ${ms / 1000} s`,
  async run({ replicas }) {
    replicas[i]?.send('SIGSTOP')
    await pause(ms)
    replicas[i]?.send('SIGCONT')
  },
})

/** Every replica takes a write again. */
async function recovered(clients: readonly Client[]): Promise<void> {
  await Promise.all(
    clients.map(async (client) => {
      for (;;) {
        try {
          const metadata = { generateName: 'probe-', namespace: 'default' }
          await client.create(configMaps, { metadata }, { signal: AbortSignal.timeout(12_000) })
          return
        } catch {
          await pause(20)
        }
      }
    }),
  )
}

describe.skipIf(etcdVersion === undefined)(`under load${etcdVersion ? '' : ` (skipped: ${etcdMissing})`}`, () => {
  let cluster: ReplicaCluster
  let load: RecordedLoad
  let truth: EtcdTruth
  const random = randomFrom(seed)

  beforeAll(async () => {
    cluster = await ReplicaCluster.start()
    truth = await EtcdTruth.open(cluster.members.map(({ endpoint }) => endpoint))
    load = new RecordedLoad({
      clients: cluster.clients(),
      changes: () => truth.changes,
      keys: 5,
      contenders: 9,
      random,
    })
    await load.start()
  }, 90_000)

  afterAll(async () => {
    await truth?.[Symbol.asyncDispose]()
    await cluster?.[Symbol.asyncDispose]()
  }, 60_000)

  /** Replicas that are down on purpose. */
  const down = new Set<number>()

  async function befall(fault: Fault): Promise<void> {
    const began = performance.now()
    await fault.run(cluster)
    const ran = performance.now()
    await recovered(cluster.clients().filter((_, i) => !down.has(i)))
    const recoveredMs = Math.round(performance.now() - ran)
    const silentMs = Math.round(load.longestSilence(began))
    console.log(
      `${fault.name}: all replicas write ${recoveredMs} ms after it ended; no write anywhere for at most ${silentMs} ms`,
    )
    expect(recoveredMs).toBeLessThan(15_000)
  }

  /** Kills the replica whose controllers run, and leaves it down; `handedOver` says how long nobody's did. */
  async function killLeader(): Promise<{ at: number; handedOver: Promise<number> }> {
    const at = await cluster.controllersAt()
    if (at === undefined) throw new Error('nobody leads')
    const other = cluster.clients()[(at + 1) % 3]
    const holder = async (): Promise<unknown> => {
      const signal = AbortSignal.timeout(5000)
      const lease = await other?.get(leases, controllersLease, { signal }).catch(() => undefined)
      return (lease?.['spec'] as { holderIdentity?: string } | undefined)?.holderIdentity
    }
    const before = await holder()
    const began = performance.now()
    down.add(at)
    await befall({
      name: `kill -9 of replica ${at}, whose controllers ran`,
      run: async () => void (await cluster.replicas[at]?.end('SIGKILL')),
    })
    const waiting = async (): Promise<number> => {
      for (let now = before; now === before || !now; now = await holder()) await pause(100)
      return performance.now() - began
    }
    return { at, handedOver: waiting() }
  }

  it('nothing that was promised is broken by what befalls replicas and etcd', {
    timeout: 120_000 + longMinutes * 60_000,
  }, async () => {
    const { at, handedOver } = await killLeader()
    await befall(killEtcdLeader)
    await befall(killMajority)
    await befall(pauseFollower(1500))
    const handedOverMs = await handedOver
    console.log(`the controllers ran elsewhere ${Math.round(handedOverMs)} ms after their leader was killed`)
    // The lease lapses after 9.5 s at most; the rest is what a machine with other work on it needs to notice.
    expect(handedOverMs).toBeLessThan(15_000)
    down.clear()
    await befall({ name: `start of replica ${at}`, run: async ({ replicas }) => replicas[at]?.start() })

    const faults = [
      ...[0, 1, 2].map(killReplica),
      ...[0, 1, 2].map(restartReplica),
      ...[0, 1, 2].map((i) => pauseReplica(i, 4000)),
      ...[0, 1, 2].map((i) => pauseReplica(i, 18_000)),
      killEtcdLeader,
      killMajority,
      pauseFollower(6000),
    ]
    const until = performance.now() + longMinutes * 60_000
    while (performance.now() < until) {
      const next = faults[Math.floor(random() * faults.length)]
      if (next) await befall(next)
      await pause(1000 * random())
    }

    const { problems, ...counts } = await load.finish(() => truth.catchUp())
    console.log(`checked: ${JSON.stringify(counts)}, seed ${seed}`)
    expect(problems.slice(0, 20)).toEqual([])
    expect(counts.acknowledged).toBeGreaterThan(50)
  })
})
