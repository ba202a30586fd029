/** What befalls the machine of a plane and its disk: drawn from the seed before anything begins. */
import type { Random } from '../fuzz/random.ts'
import { simulated } from './runtime/simulated-process.ts'
import type { ScheduledFault } from './scheduled-fault.ts'
import type { PlaneWorld } from './worlds/plane.ts'

export type PlaneFault = ScheduledFault<PlaneWorld>

type Drawn = Pick<PlaneFault, 'text' | 'begin' | 'end'>

const hourMs = 3_600_000
const start = (world: PlaneWorld): void => void world.start()

/** In order of time; the n-th of a seed is the same whichever are left out. Flushes that are lies come last. */
export function drawPlaneFaults(random: Random, withinMs: number): PlaneFault[] {
  const faults = Array.from({ length: 2 + random.below(6) }, () => {
    const at = withinMs * random.next()
    const lastsMs = random.pick([20, 300, 1_500]) * (0.5 + random.next())
    return { at, lastsMs, ...random.weighted(kinds)(random) }
  }).sort((a, b) => a.at - b.at)
  if (!random.chance(0.2)) return faults
  return [...faults, { at: withinMs, lastsMs: 1_500 * random.next(), ...lie }]
}

const kinds: readonly (readonly [weight: number, make: () => (random: Random) => Drawn])[] = [
  [5, () => failPower],
  [3, () => kill],
  [2, () => stop],
  [2, () => failCall],
  [1, () => fill],
  [1, () => jumpClock],
]

/** If the disk is told too little for that, at the end of the time. */
function failPower(random: Random): Drawn {
  const operations = 1 + random.below(60)
  return {
    text: `no power after ${operations} writes and flushes`,
    begin: (world) => world.failPowerAfter(operations),
    end(world) {
      world.failPower()
      world.scheduler.after(100, () => start(world))
    },
  }
}

const kill = (): Drawn => ({ text: 'kill the plane', begin: (world) => world.kill(), end: start })
const stop = (): Drawn => ({ text: 'stop the plane', begin: (world) => void world.stop(), end: start })

/** The next of its kind; commits of that time may be refused, and a server that starts may fail to. */
function failCall(random: Random): Drawn {
  const what = random.pick(['write', 'flush'] as const)
  return {
    text: `the next ${what} fails`,
    begin(world) {
      world.mayFail = true
      simulated.disk.failing = what
    },
  }
}

function fill(random: Random): Drawn {
  const left = random.pick([0, 8_000, 100_000])
  return {
    text: `the disk has ${left} bytes left`,
    begin(world) {
      world.mayFail = true
      simulated.disk.capacity = simulated.disk.usedBytes + left
    },
    end() {
      simulated.disk.capacity = Number.POSITIVE_INFINITY
    },
  }
}

function jumpClock(random: Random): Drawn {
  const ms = random.pick([-2 * hourMs, -5_000, 700, 20_000, 3 * hourMs])
  return { text: `set the clock by ${ms} ms`, begin: (world) => world.jumpClock(ms) }
}

/** Then the power fails. */
const lie: Drawn = {
  text: 'flushes are answered and not done, then no power',
  begin(world) {
    world.hasLied = true
    simulated.disk.lies = true
  },
  end: (world) => world.failPower(),
}
