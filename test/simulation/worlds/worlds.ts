/** Which world a seed is played in. */
import { runDiskSeed } from '../disk-seed.ts'
import { furnishedStore, runReplicaSeed } from '../replica-seed.ts'
import type { Outcome, SeedOptions } from '../seed.ts'

/** A third of them on a disk. */
export const worldOf = (seed: number): 'disk' | 'replicas' => (seed % 3 === 2 ? 'disk' : 'replicas')

/** Loads and furnishes what seeds have in common. */
export async function openWorlds(): Promise<(options: SeedOptions) => Promise<Outcome>> {
  const store = await furnishedStore()
  return (options) => (worldOf(options.seed) === 'disk' ? runDiskSeed(options) : runReplicaSeed(options, store))
}
