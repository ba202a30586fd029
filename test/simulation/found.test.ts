/** The seeds that find the planted faults of `tools/plants/simulation.ts` find nothing in what is not planted. */
import { expect, it } from 'vitest'
import { simulationPlants } from '../../tools/plants/simulation.ts'
import { describeFailure, runWorker, type Told } from './simulation.ts'

/**
 * Faults of the simulation: a process that had lost its power in a checkpoint deleted the log all the same; values that
 * a disk had lied about were named as damaged, and no prefix; a server was ended under a check of what had settled; of
 * what a disk had lied about a part was missing that a later life came by, or a loss that was accepted, and named.
 */
const ofTheSimulation = [40_024, 700_202, 186, 7_000_031, 7_000_184]
/** The compactor looked for ever at one moment. */
const ofTheServer = [700_120]

it('the seeds of planted faults find nothing without them', { timeout: 600_000 }, async () => {
  const planted = simulationPlants.map(({ seed }) => seed)
  const seeds = [...new Set([...planted, ...ofTheSimulation, ...ofTheServer])].sort((a, b) => a - b)
  const outcomes: Told[] = []
  await runWorker(['--seeds', seeds.join()], (outcome) => outcomes.push(outcome))
  expect(outcomes.map(({ seed }) => seed)).toEqual(seeds)
  expect(outcomes.filter(({ problems }) => problems.length > 0).map(describeFailure)).toEqual([])
})
