/**
 * The simulation, for as many seeds as the budget of the whole check allows; `npm run simulate` goes on for longer.
 * `BOROUGH_SIMULATION=<seeds>` sets the budget, of 6 at least.
 */
import { beforeAll, expect, it } from 'vitest'
import { describeFailure, runSeeds, runWorker, type Told } from './simulation.ts'

const seeds = Math.max(6, Number(process.env['BOROUGH_SIMULATION'] ?? 300))
const processes = 2

const outcomes: Told[] = []
beforeAll(async () => {
  await runSeeds({
    first: 0,
    count: seeds,
    processes,
    perProcess: Math.ceil(seeds / processes),
    onOutcome: (outcome) => outcomes.push(outcome),
  })
  outcomes.sort((a, b) => a.seed - b.seed)
}, 900_000)

it(`finds nothing wrong in ${seeds} seeds`, () => {
  expect(outcomes.filter(({ problems }) => problems.length > 0).map(describeFailure)).toEqual([])
  expect(outcomes.map(({ seed }) => seed)).toEqual(Array.from({ length: seeds }, (_, seed) => seed))
})

it('gives the same trace, line for line, for the same seed, whatever ran before it', async () => {
  const alone: Told[] = []
  await runWorker(['4', '2'], (outcome) => alone.push(outcome))
  expect(alone).toHaveLength(2)
  expect(outcomes.slice(4, 6)).toEqual(alone)
  expect(new Set(outcomes.slice(0, 6).map(({ hash }) => hash)).size).toBe(6)
})
