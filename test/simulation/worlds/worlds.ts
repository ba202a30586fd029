/** Which world a seed is played in. */
import { furnishedStore, runReplicaSeed } from '../replica-seed.ts'
import type { Outcome, SeedOptions } from '../seed.ts'

/** Loads and furnishes what seeds have in common. */
export async function openWorlds(): Promise<(options: SeedOptions) => Promise<Outcome>> {
  const store = await furnishedStore()
  return (options) => runReplicaSeed(options, store)
}
