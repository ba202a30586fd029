/**
 * One process of a simulation: runs the seeds that its arguments name, and prints one line of JSON for each. What the
 * simulation replaces is replaced for the whole process, so nothing else runs in it.
 *
 *   node test/simulation/worker.ts <first> <count>
 *   node test/simulation/worker.ts 0 30 --only disk --first-failure
 *   node test/simulation/worker.ts --seeds 2,65
 *   node test/simulation/worker.ts --seed 42 --without 0,3 --trace /tmp/trace
 */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { install } from './runtime/simulated-process.ts'
import type { Outcome, SeedOptions } from './seed.ts'

install()
const { openWorlds, worldOf } = await import('./worlds/worlds.ts')
const { loadModules } = await import('./runtime/modules.ts')
await loadModules()

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    without: { type: 'string' },
    trace: { type: 'string' },
    /** A world. */
    only: { type: 'string' },
    'first-failure': { type: 'boolean', default: false },
  },
})

const play = openWorlds()

/** What no code of the server looks after would end its process. */
async function run(options: SeedOptions): Promise<Outcome> {
  const unhandled: string[] = []
  const listen = (error: unknown): void => void unhandled.push(`unhandled: ${String(error)}`)
  for (const event of ['unhandledRejection', 'uncaughtException']) process.on(event, listen)
  try {
    const outcome = await play(options)
    return { ...outcome, problems: [...unhandled, ...outcome.problems] }
  } finally {
    // What ends the run ends the process, and is not listened to.
    for (const event of ['unhandledRejection', 'uncaughtException']) process.off(event, listen)
  }
}

function print({ trace, ...outcome }: Outcome): void {
  process.stdout.write(`${JSON.stringify(outcome)}\n`)
  if (values.trace !== undefined) writeFileSync(values.trace, `${trace.join('\n')}\n`)
}

/** Leaves out one fault after the other, as long as something is still wrong. */
async function shrink(failed: Outcome): Promise<Outcome> {
  let fewest = failed
  let without: readonly number[] = failed.without
  for (let i = 0; i < failed.faults.length; i++) {
    if (without.includes(i)) continue
    const tried = await run({ seed: failed.seed, without: [...without, i] })
    if (tried.problems.length === 0) continue
    fewest = tried
    without = tried.without
  }
  return fewest
}

if (values.seeds !== undefined) {
  for (const seed of values.seeds.split(',').map(Number)) print(await run({ seed }))
} else if (values.seed === undefined) {
  const [first = 0, count = 1] = positionals.map(Number)
  for (let seed = first; seed < first + count; seed++) {
    if (values.only !== undefined && worldOf(seed) !== values.only) continue
    const outcome = await run({ seed })
    const failed = outcome.problems.length > 0
    print(failed && !values['first-failure'] ? await shrink(outcome) : outcome)
    if (failed && values['first-failure']) break
  }
} else {
  const without = (values.without ?? '')
    .split(',')
    .filter((text) => text !== '')
    .map(Number)
  const options: SeedOptions = { seed: Number(values.seed), without, keepsTrace: values.trace !== undefined }
  print(await run(options))
}
