/**
 * One process of a simulation: runs the seeds that its arguments name, and prints one line of JSON for each. What the
 * simulation replaces is replaced for the whole process, so nothing else runs in it.
 *
 *   node test/simulation/worker.ts <first> <count>
 *   node test/simulation/worker.ts --seed 42 --without 0,3 --trace /tmp/trace
 */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { install } from './runtime/simulated-process.ts'
import type { Outcome, SeedOptions } from './seed.ts'

install()
const { openWorlds } = await import('./worlds/worlds.ts')

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: 'string' }, without: { type: 'string' }, trace: { type: 'string' } },
})

const run = await openWorlds()

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

if (values.seed === undefined) {
  const [first = 0, count = 1] = positionals.map(Number)
  for (let seed = first; seed < first + count; seed++) {
    const outcome = await run({ seed })
    print(outcome.problems.length > 0 ? await shrink(outcome) : outcome)
  }
} else {
  const without = (values.without ?? '')
    .split(',')
    .filter((text) => text !== '')
    .map(Number)
  const options: SeedOptions = { seed: Number(values.seed), without, keepsTrace: values.trace !== undefined }
  print(await run(options))
}
