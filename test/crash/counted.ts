/** Seeds tried one after the other, and counted in a folder: a command that was interrupted goes on where it was. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface CountedOptions {
  /** Keeps the count, and what is tried; absent: there is an error that says so. */
  readonly folder: string | undefined
  readonly seeds: number
  readonly first: number
  /** What seeds have in common lies in the folder that it is given. Throws for what passed unnoticed. */
  readonly prepare: (scratch: string) => Promise<(seed: number) => Promise<string>>
}

interface Count {
  next: number
  readonly outcomes: Record<string, number>
  readonly problems: string[]
}

/** Answers the exit code. */
export async function countSeeds({ folder, seeds, first, prepare }: CountedOptions): Promise<number> {
  if (folder === undefined) throw new Error('a folder is needed, for the stores and the count')
  const scratch = join(folder, 'stores')
  await rm(scratch, { recursive: true, force: true })
  await mkdir(scratch, { recursive: true })
  const countFile = join(folder, 'count.json')
  const none: Count = { next: first, outcomes: {}, problems: [] }
  const count = JSON.parse(await readFile(countFile, 'utf8').catch(() => JSON.stringify(none))) as Count
  const attempt = await prepare(scratch)
  for (; count.next < first + seeds; count.next++) {
    try {
      const outcome = await attempt(count.next)
      count.outcomes[outcome] = (count.outcomes[outcome] ?? 0) + 1
    } catch (error) {
      count.problems.push((error as Error).message)
    }
    await writeFile(countFile, JSON.stringify({ ...count, next: count.next + 1 }))
  }
  const told = Object.entries(count.outcomes).map(([outcome, times]) => `${times} ${outcome}`)
  console.log(`${count.next - first} seeds from ${first} on: ${told.join(', ')}; ${count.problems.length} unnoticed`)
  for (const problem of count.problems) console.error(problem)
  return count.problems.length === 0 ? 0 : 1
}
