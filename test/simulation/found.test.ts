/** The seeds that find the planted faults of `tools/plants/simulation.ts` find nothing in what is not planted. */
import { expect, it } from 'vitest'
import { simulationPlants } from '../../tools/plants/simulation.ts'
import { describeFailure, runWorker, type Told } from './simulation.ts'

it('the seeds of planted faults find nothing without them', { timeout: 600_000 }, async () => {
  const seeds = [...new Set(simulationPlants.map(({ seed }) => seed))].sort((a, b) => a - b)
  const outcomes: Told[] = []
  await runWorker(['--seeds', seeds.join()], (outcome) => outcomes.push(outcome))
  expect(outcomes.map(({ seed }) => seed)).toEqual(seeds)
  expect(outcomes.filter(({ problems }) => problems.length > 0).map(describeFailure)).toEqual([])
})
