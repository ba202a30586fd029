/**
 * The simulation, for as many seeds as the budget of the whole check allows; `npm run simulate` goes on for longer.
 * `BOROUGH_SIMULATION=<seeds>` sets the budget.
 */
import { expect, it } from 'vitest'
import { describeFailure, runSeeds, runWorker, type Told } from './simulation.ts'

const seeds = Number(process.env['BOROUGH_SIMULATION'] ?? 300)
const processes = 2

async function outcomesOf(args: readonly string[]): Promise<Told[]> {
  const outcomes: Told[] = []
  await runWorker(args, (outcome) => outcomes.push(outcome))
  return outcomes
}

it('gives the same trace, line for line, for the same seed', async () => {
  const [first, alone] = await Promise.all([outcomesOf(['0', '6']), outcomesOf(['4', '2'])])
  expect(first).toHaveLength(6)
  expect(first.slice(4)).toEqual(alone)
  expect(new Set(first.map(({ hash }) => hash)).size).toBe(6)
})

it(`finds nothing wrong in ${seeds} seeds`, { timeout: 600_000 }, async () => {
  const failures: string[] = []
  let done = 0
  await runSeeds({
    first: 0,
    count: seeds,
    processes,
    perProcess: Math.ceil(seeds / processes),
    onOutcome(outcome) {
      done++
      if (outcome.problems.length > 0) failures.push(describeFailure(outcome))
    },
  })
  expect(failures).toEqual([])
  expect(done).toBe(seeds)
})
