/** One seed of the world of replicas: what happens, and what is wrong with it. */
import { Random } from '../fuzz/random.ts'
import { convergenceProblems } from './checks/convergence.ts'
import { historyProblems } from './checks/verdict.ts'
import { EtcdMvcc } from './etcd/mvcc.ts'
import { aimedKinds, drawFaults, type Kinds, usualKinds } from './faults.ts'
import { Follower, followed } from './follower.ts'
import { changesOf } from './history.ts'
import { furnish, Load } from './load.ts'
import { simulated } from './runtime/simulated-process.ts'
import { scheduleFaults } from './scheduled-fault.ts'
import { Scheduler } from './scheduler.ts'
import type { Outcome, SeedOptions } from './seed.ts'
import { keyKinds, storeKinds } from './store-faults.ts'
import { ReplicaWorld } from './worlds/replicas.ts'

const replicas = 3
/** Faults are counted from the moment when all servers had started. */
const restartMs = 1_000
const clients = 4
const startMs = 120_000
/** After the last fault: leases end, watches are taken up, controllers come to rest. */
const quietMs = 120_000

/** `worn`: the store itself is befallen; `encrypted`: so are the keys of what is in it. */
export type ReplicaKind = 'replicas' | 'aimed' | 'worn' | 'encrypted'

interface Course {
  readonly kinds: Kinds
  readonly thinkMs: number
  readonly loadMs: number
}

const courses: Readonly<Record<ReplicaKind, Course>> = {
  replicas: { kinds: usualKinds, thinkMs: 200, loadMs: 12_000 },
  aimed: { kinds: aimedKinds, thinkMs: 200, loadMs: 12_000 },
  worn: { kinds: storeKinds, thinkMs: 200, loadMs: 12_000 },
  // A plugin is asked once a minute.
  encrypted: { kinds: keyKinds, thinkMs: 4_000, loadMs: 300_000 },
}

/** A store that a server has been started on, and that was furnished: where most seeds begin. */
export async function furnishedStore(encrypts: boolean): Promise<EtcdMvcc> {
  const scheduler = new Scheduler()
  simulated.begin(scheduler, 0)
  const options = { replicas: 1, historyMs: 300_000, checksums: false, encrypts }
  const world = new ReplicaWorld(scheduler, 0, new EtcdMvcc(), options)
  await scheduler.until(world.startAll(), { what: 'the first start', withinMs: startMs })
  const client = world.replicas[0]?.client()
  if (client === undefined) throw new Error('no server')
  await scheduler.until(furnish(client), { what: 'furnishing', withinMs: startMs })
  await scheduler.until(world.stopAll(), { what: 'the first stop', withinMs: startMs })
  scheduler.end()
  return world.cluster.store
}

export async function runReplicaSeed(
  { seed, without = [], keepsTrace = false }: SeedOptions,
  base: EtcdMvcc,
  kind: ReplicaKind,
): Promise<Outcome> {
  const scheduler = new Scheduler({ keepsTrace })
  simulated.begin(scheduler, seed)
  const random = new Random(seed, 4)
  const world = new ReplicaWorld(scheduler, seed, base.copy(), {
    replicas,
    historyMs: random.pick([300_000, 5_000]),
    checksums: random.chance(0.5),
    encrypts: kind === 'encrypted',
  })
  const all = drawFaults(new Random(seed, 5), courses[kind].loadMs, replicas, courses[kind].kinds)
  const faults = all.filter((_, i) => !without.includes(i))
  const run = new ReplicaRun(world, scheduler, seed, kind)
  const problems = await run.play(faults).catch((error: unknown) => [`the run broke off: ${String(error)}`])
  scheduler.end()
  return {
    seed,
    hash: scheduler.traceHash(),
    trace: scheduler.trace,
    steps: scheduler.steps,
    operations: run.load.count,
    faults: all.map(({ text, at, lastsMs }) => `${Math.round(at)} ms, for ${Math.round(lastsMs)}: ${text}`),
    without,
    problems,
  }
}

class ReplicaRun {
  readonly load: Load
  readonly #world: ReplicaWorld
  readonly #scheduler: Scheduler
  readonly #followers: Follower[]
  readonly #course: Course

  constructor(world: ReplicaWorld, scheduler: Scheduler, seed: number, kind: ReplicaKind) {
    const isAimed = kind === 'aimed'
    const isBroad = kind === 'worn' || kind === 'encrypted'
    this.#course = courses[kind]
    this.#world = world
    this.#scheduler = scheduler
    const targets = world.replicas
    const excuses = (code: number, message: string): boolean => isExcused(world, code, message)
    this.load = new Load({ scheduler, random: new Random(seed, 6), targets, isAimed, isBroad, excuses })
    const common = { scheduler, random: new Random(seed, 7), targets }
    this.#followers = followed.map((each) => new Follower({ ...common, ...each }))
    if (!isAimed) return
    const hopping = { ...(followed[0] as (typeof followed)[0]), name: 'w-hopping', hops: 0.5 }
    this.#followers.push(new Follower({ scheduler, random: new Random(seed, 8), targets, ...hopping }))
  }

  async play(faults: ReturnType<typeof drawFaults>): Promise<string[]> {
    const scheduler = this.#scheduler
    const world = this.#world
    const { thinkMs, loadMs } = this.#course
    await scheduler.until(world.startAll(), { what: 'the start', withinMs: startMs })
    scheduleFaults(scheduler, world, faults)
    const following = this.#followers.map((follower) => follower.run())
    const asking = Array.from({ length: clients }, (_, i) => this.load.client(`c${i}`, thinkMs))
    scheduler.after(loadMs, () => this.load.stop())
    await scheduler.until(Promise.all(asking), { what: 'the load', withinMs: loadMs + quietMs })
    scheduler.tell('the load is over')
    // What outlasts the load ends now or soon: an end of a fault does no harm to what is whole.
    const lastMs = Math.max(0, ...faults.map(({ at, lastsMs }) => at + lastsMs))
    // Damage ends with a restart, and what is asked of a server that is ended has no answer.
    const behindMs = world.damaged.size > 0 || world.kms.hasForgotten ? restartMs : 0
    await scheduler.until(world.pause(lastMs + behindMs - scheduler.now), {
      what: 'the last fault',
      withinMs: Math.max(quietMs, lastMs),
    })
    await scheduler.until(world.heal(), { what: 'the last start', withinMs: quietMs })
    const unsettled = await scheduler.until(convergenceProblems(world), {
      what: 'coming to rest',
      withinMs: quietMs * 2,
    })
    const through = world.cluster.store.revision * 1024
    await scheduler.until(world.pause(3_000), { what: 'the last events', withinMs: quietMs })
    for (const follower of this.#followers) follower.stop()
    await scheduler.until(Promise.all(following), { what: 'the followers', withinMs: quietMs })
    await scheduler.until(world.stopAll(), { what: 'the stop', withinMs: quietMs })
    const changes = changesOf(world.cluster.store.commits)
    return [...unsettled, ...historyProblems(this.load, this.#followers, { changes, through })]
  }
}

/** Damage is told by its name; what decides rights and can't be read gives none. */
function isExcused({ damaged, kms }: ReplicaWorld, code: number, message: string): boolean {
  if (code === 403) return kms.hasForgotten || [...damaged].some((key) => key.includes('rbac.authorization.k8s.io'))
  const key = /the stored value of (\S+) at revision \d+ (?:is damaged|can't be decrypted): /.exec(message)?.[1]
  return key !== undefined && (damaged.has(key) || kms.hasForgotten)
}
