/** One seed of quotas over several namespaces: three replicas, clients that contest them, and what befalls both. */
import { type ClusterResourceQuota, clusterQuotaResource } from '../../src/apis/clusterquotas/types.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { toEntry } from '../../src/storage/etcd/record.ts'
import { Random } from '../fuzz/random.ts'
import { ClusterQuotaAccounts } from '../support/cluster-quota-accounts.ts'
import type { Commit, EtcdMvcc } from './etcd/mvcc.ts'
import { drawFaults } from './faults.ts'
import { QuotaLoad } from './quota-load.ts'
import { simulated } from './runtime/simulated-process.ts'
import { scheduleFaults } from './scheduled-fault.ts'
import { Scheduler } from './scheduler.ts'
import type { Outcome, SeedOptions } from './seed.ts'
import { ReplicaWorld } from './worlds/replicas.ts'

const replicas = 3
const clients = 5
const thinkMs = 60
const loadMs = 6_000
const startMs = 120_000
/** After the last fault. */
const quietMs = 120_000
const lookMs = 500

export async function runQuotaSeed(
  { seed, without = [], keepsTrace = false }: SeedOptions,
  base: EtcdMvcc,
): Promise<Outcome> {
  const scheduler = new Scheduler({ keepsTrace })
  simulated.begin(scheduler, seed)
  const random = new Random(seed, 4)
  const world = new ReplicaWorld(scheduler, seed, base.copy(), {
    replicas,
    historyMs: random.pick([300_000, 5_000]),
    checksums: random.chance(0.5),
  })
  const all = drawFaults(new Random(seed, 5), loadMs, replicas)
  const faults = all.filter((_, i) => !without.includes(i))
  const load = new QuotaLoad({ scheduler, random: new Random(seed, 6), targets: world.replicas })
  const problems = await play(world, load, faults).catch((error: unknown) => [`the run broke off: ${String(error)}`])
  scheduler.end()
  return {
    seed,
    hash: scheduler.traceHash(),
    trace: scheduler.trace,
    steps: scheduler.steps,
    operations: load.count,
    faults: all.map(({ text, at, lastsMs }) => `${Math.round(at)} ms, for ${Math.round(lastsMs)}: ${text}`),
    without,
    problems,
  }
}

async function play(world: ReplicaWorld, load: QuotaLoad, faults: ReturnType<typeof drawFaults>): Promise<string[]> {
  const { scheduler } = world
  const until = <T>(work: Promise<T>, what: string, withinMs: number): Promise<T> =>
    scheduler.until(work, { what, withinMs })
  await until(world.startAll(), 'the start', startMs)
  scheduleFaults(scheduler, world, faults)
  const asking = Array.from({ length: clients }, (_, i) => load.client(`c${i}`, thinkMs))
  scheduler.after(loadMs, () => load.stop())
  await until(Promise.all(asking), 'the load', loadMs + quietMs)
  scheduler.tell('the load is over')
  // What outlasts the load ends now or soon: an end of a fault does no harm to what is whole.
  const lastMs = Math.max(0, ...faults.map(({ at, lastsMs }) => at + lastsMs))
  await until(world.pause(lastMs - scheduler.now), 'the last fault', quietMs)
  await until(world.heal(), 'the last start', quietMs)
  const unsettled = await until(settled(world), 'coming to rest', quietMs)
  await until(world.stopAll(), 'the stop', quietMs)
  return [...load.problems, ...unsettled, ...accountProblems(world.cluster.store.commits)]
}

/** At rest every quota counts by its spec as it is. */
async function settled(world: ReplicaWorld): Promise<string[]> {
  const end = world.scheduler.now + quietMs / 2
  for (;;) {
    const problems: string[] = []
    for (const replica of world.replicas) {
      const client = replica.client()
      const { items } = (await client?.list(clusterQuotaResource)) ?? { items: [] }
      for (const { metadata, status } of items as ClusterResourceQuota[]) {
        if (status?.observedGeneration === metadata.generation) continue
        problems.push(`${replica.name}: ${metadata.name} does not count by its spec`)
      }
    }
    if (problems.length === 0 || world.scheduler.now > end) return problems
    await world.pause(lookMs)
  }
}

/** Of the first commit at which something is wrong. */
function accountProblems(commits: readonly Commit[]): string[] {
  const accounts = new ClusterQuotaAccounts()
  for (const { revision, events } of commits) {
    for (const { type, kv } of events) {
      const key = kv.key.toString()
      if (!key.startsWith('/registry/')) continue
      const text = type === 'put' ? Buffer.from(toEntry(key, kv).value).toString('utf8') : undefined
      accounts.store(key, text === undefined ? undefined : (JSON.parse(text) as KubeObject))
    }
    const problems = accounts.problems()
    if (problems.length > 0) return problems.map((problem) => `at commit ${revision}: ${problem}`)
  }
  return []
}
