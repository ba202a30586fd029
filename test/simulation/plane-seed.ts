/** One seed of a whole plane on the SQLite engine: what befalls its machine and its disk, and what is wrong with it. */
import { Random } from '../fuzz/random.ts'
import { convergenceProblems } from './checks/convergence.ts'
import { historyProblems } from './checks/verdict.ts'
import type { DiskFile } from './disk/disk.ts'
import { Follower, followed } from './follower.ts'
import { furnish, Load } from './load.ts'
import { drawPlaneFaults, type PlaneFault } from './plane-faults.ts'
import { simulated } from './runtime/simulated-process.ts'
import { scheduleFaults } from './scheduled-fault.ts'
import { Scheduler } from './scheduler.ts'
import type { Outcome, SeedOptions } from './seed.ts'
import { PlaneWorld } from './worlds/plane.ts'

const clients = 4
const thinkMs = 120
const loadMs = 8_000
const startMs = 60_000
const quietMs = 120_000

/** The disk of a plane that was started, furnished and stopped: where every seed begins. */
export async function furnishedDisk(): Promise<ReadonlyMap<string, DiskFile>> {
  const scheduler = new Scheduler()
  simulated.begin(scheduler, 0)
  const world = new PlaneWorld(scheduler, 0, { historyMs: 300_000, hasWorkers: false })
  await scheduler.until(world.start(), { what: 'the first start', withinMs: startMs })
  const client = world.targets[0]?.client()
  if (client === undefined) throw new Error(`no server: ${world.problems.join()}`)
  await scheduler.until(furnish(client), { what: 'furnishing', withinMs: startMs })
  await scheduler.until(world.stop(), { what: 'the first stop', withinMs: startMs })
  scheduler.end()
  return simulated.disk.image()
}

export async function runPlaneSeed(
  { seed, without = [], keepsTrace = false }: SeedOptions,
  base: ReadonlyMap<string, DiskFile>,
): Promise<Outcome> {
  const scheduler = new Scheduler({ keepsTrace })
  simulated.begin(scheduler, seed)
  simulated.disk.restore(base)
  const random = new Random(seed, 4)
  const historyMs = random.pick([300_000, 2_000])
  const world = new PlaneWorld(scheduler, seed, { historyMs, hasWorkers: random.chance(0.4) })
  const all = drawPlaneFaults(new Random(seed, 5), loadMs)
  const run = new PlaneRun(world, scheduler, seed)
  const faults = all.filter((_, i) => !without.includes(i))
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
    problems: [...world.problems, ...problems],
  }
}

class PlaneRun {
  readonly load: Load
  readonly #world: PlaneWorld
  readonly #scheduler: Scheduler
  readonly #followers: readonly Follower[]

  constructor(world: PlaneWorld, scheduler: Scheduler, seed: number) {
    this.#world = world
    this.#scheduler = scheduler
    const { targets } = world
    this.load = new Load({ scheduler, random: new Random(seed, 6), targets, mayFail: () => world.mayFail })
    const common = { scheduler, random: new Random(seed, 7), targets }
    this.#followers = followed.map((each) => new Follower({ ...common, ...each }))
  }

  async play(faults: readonly PlaneFault[]): Promise<string[]> {
    const scheduler = this.#scheduler
    const world = this.#world
    await scheduler.until(world.start(), { what: 'the start', withinMs: startMs })
    scheduleFaults(scheduler, world, faults)
    const following = this.#followers.map((follower) => follower.run())
    const asking = Array.from({ length: clients }, (_, i) => this.load.client(`c${i}`, thinkMs))
    const isLast = faults.some(({ at }) => at === loadMs)
    // Where flushes become lies, there is something to be flushed.
    scheduler.after(loadMs + (isLast ? 1_000 : 0), () => this.load.stop())
    await scheduler.until(Promise.all(asking), { what: 'the load', withinMs: loadMs + quietMs })
    scheduler.tell('the load is over')
    const lastEnd = Math.max(0, ...faults.map(({ at, lastsMs }) => at + lastsMs)) + 1_000
    await scheduler.until(world.pause(lastEnd - scheduler.now), { what: 'the last fault', withinMs: quietMs })
    const problems = await this.#end()
    for (const follower of this.#followers) follower.stop()
    await scheduler.until(Promise.all(following), { what: 'the followers', withinMs: quietMs })
    const { history } = world
    if (world.lostFrom === undefined) {
      const stopping = world.stop()
      const through = history.newest
      await scheduler.until(stopping, { what: 'the stop', withinMs: quietMs })
      return [...problems, ...historyProblems(this.load, this.#followers, { changes: history.changes(), through })]
    }
    // All of it had happened when it was told; only what is left of it is less.
    return [...problems, ...historyProblems(this.load, this.#followers, { changes: history.changes(), through: 0 })]
  }

  /** All is whole again; what must come about by itself does. */
  async #end(): Promise<string[]> {
    const scheduler = this.#scheduler
    const world = this.#world
    const { disk } = simulated
    disk.lies = false
    disk.failing = 'no'
    disk.capacity = Number.POSITIVE_INFINITY
    // A store of which a flush has failed is begun anew.
    if (world.mayFail && world.isServing) await scheduler.until(world.stop(), { what: 'a stop', withinMs: quietMs })
    world.mayFail = false
    await scheduler.until(world.start(), { what: 'the last start', withinMs: quietMs })
    if (world.lostFrom !== undefined) return []
    const settling = convergenceProblems(world)
    const problems = await scheduler.until(settling, { what: 'coming to rest', withinMs: quietMs * 2 })
    await scheduler.until(world.pause(3_000), { what: 'the last events', withinMs: quietMs })
    return problems
  }
}
