import { authorizationPlants } from './authorization.ts'
import { blindPlants } from './blind.ts'
import type { Plant } from './plants.ts'

export const allPlants: readonly Plant[] = [...authorizationPlants, ...blindPlants]
