/** Which world a seed is played in. */
import { runDiskSeed } from '../disk-seed.ts'
import { furnishedDisk, runPlaneSeed } from '../plane-seed.ts'
import { runQuotaSeed } from '../quota-seed.ts'
import { furnishedStore, runReplicaSeed } from '../replica-seed.ts'
import type { Outcome, SeedOptions } from '../seed.ts'

export type World = 'disk' | 'replicas' | 'aimed' | 'worn' | 'encrypted' | 'plane' | 'quotas'

/**
 * Of twelve seeds four are of a disk (one of them aimed at what is rare), one of a plane on a disk, three of replicas,
 * one of replicas on a store that is worn, one with values that are encrypted, one under a load and faults that are
 * aimed at what is rare, and one of replicas that contest quotas.
 */
export function worldOf(seed: number): World {
  if (seed % 3 === 2) return 'disk'
  if (seed % 12 === 4) return 'plane'
  if (seed % 12 === 9) return 'quotas'
  if (seed % 12 === 6) return 'worn'
  if (seed % 12 === 0) return 'encrypted'
  return seed % 12 === 10 ? 'aimed' : 'replicas'
}

/** Loads and furnishes what seeds have in common, when the first of them comes. */
export function openWorlds(): (options: SeedOptions) => Promise<Outcome> {
  let store: ReturnType<typeof furnishedStore> | undefined
  let encrypted: ReturnType<typeof furnishedStore> | undefined
  let disk: ReturnType<typeof furnishedDisk> | undefined
  return async (options) => {
    const kind = worldOf(options.seed)
    switch (kind) {
      case 'disk':
        return runDiskSeed(options, options.seed % 12 === 11)
      case 'plane':
        disk ??= furnishedDisk()
        return runPlaneSeed(options, await disk)
      case 'quotas':
        store ??= furnishedStore(false)
        return runQuotaSeed(options, await store)
      case 'encrypted':
        encrypted ??= furnishedStore(true)
        return runReplicaSeed(options, await encrypted, kind)
      case 'aimed':
      case 'worn':
      case 'replicas':
        store ??= furnishedStore(false)
        return runReplicaSeed(options, await store, kind)
    }
  }
}
