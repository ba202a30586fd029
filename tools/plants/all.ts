import { advisoryPlants } from './advisories.ts'
import { authorizationPlants } from './authorization.ts'
import { blindPlants } from './blind.ts'
import { holePlants } from './holes.ts'
import type { Plant } from './plants.ts'
import { simulationPlants } from './simulation.ts'

export const allPlants: readonly Plant[] = [
  ...authorizationPlants,
  ...advisoryPlants,
  ...holePlants,
  ...blindPlants,
  ...simulationPlants,
]
