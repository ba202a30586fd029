/** What befalls the disk of one store, life after life: drawn from the seed before anything begins. */
import type { Random } from '../../fuzz/random.ts'

/** How the disk goes wrong in one life of the server, beside losing its power at the end. */
export type Trouble = 'none' | 'lies' | 'decays' | 'failing write' | 'failing flush' | 'full'

export interface Life {
  readonly trouble: Trouble
  readonly text: string
  /** Writes and flushes until the power fails; undefined: a clean stop. */
  readonly operations: number | undefined
}

export function drawLives(random: Random): Life[] {
  const troubles = random.pick<readonly Trouble[]>([
    ['none'],
    ['none', 'lies'],
    ['none', 'decays', 'decays'],
    ['none', 'failing write', 'failing flush'],
    ['none', 'full'],
  ])
  return Array.from({ length: 3 + random.below(5) }, () => {
    const trouble = random.pick(troubles)
    // What a full disk needs to be emptied is time.
    const operations = random.chance(trouble === 'full' ? 0.4 : 0.8) ? 1 + random.below(150) : undefined
    const ends = operations === undefined ? 'a clean stop' : `no power after ${operations} writes and flushes`
    return { trouble, operations, text: `disk: ${trouble}, then ${ends}` }
  })
}
