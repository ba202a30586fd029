/** Which mutants a run is about. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import type { Mutant } from './find-mutants.ts'
import { root } from './root.ts'

/** Where a mutant is counted: two folders deep, three in `src/apis`. */
export function folderOf({ file }: Pick<Mutant, 'file'>): string {
  const parts = file.split('/')
  return parts.slice(0, Math.min(parts.length - 1, parts[1] === 'apis' ? 3 : 2)).join('/')
}

export const isBelow = (file: string, paths: readonly string[]): boolean =>
  paths.length === 0 || paths.some((path) => file === path || file.startsWith(`${path.replace(/\/$/, '')}/`))

/**
 * So many of all, from each folder its share. Which ones is decided by the seed and their names alone: code that
 * comes or goes elsewhere changes nothing.
 */
export function sampleOf(mutants: readonly Mutant[], size: number, seed: number): Mutant[] {
  const folders = Map.groupBy(mutants, folderOf)
  const shares = [...folders].map(([folder, all]) => ({ folder, exact: (all.length * size) / mutants.length }))
  const counts = new Map(shares.map(({ folder, exact }) => [folder, Math.floor(exact)]))
  let rest = Math.min(size, mutants.length) - [...counts.values()].reduce((total, count) => total + count, 0)
  for (const { folder } of shares.toSorted((a, b) => (b.exact % 1) - (a.exact % 1))) {
    if (rest-- > 0) counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  const lots = new Map(
    mutants.map((mutant) => [mutant, createHash('sha256').update(`${seed}\n${mutant.name}`).digest('hex')]),
  )
  const byLot = (a: Mutant, b: Mutant): number => ((lots.get(a) ?? '') < (lots.get(b) ?? '') ? -1 : 1)
  // In an order of its own, so that a run that is stopped has tried a sample too.
  return [...folders].flatMap(([folder, all]) => all.toSorted(byLot).slice(0, counts.get(folder))).sort(byLot)
}

/** The lines that this branch changed since it left `base`, by file of src/ (no tests). */
export function changedLines(base: string, cwd: string | URL = root): Map<string, Set<number>> {
  const args = ['diff', '--merge-base', '--unified=0', '--no-color', '--no-ext-diff', base, '--', 'src']
  return linesOfDiff(execFileSync('git', args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 28 }))
}

export function linesOfDiff(diff: string): Map<string, Set<number>> {
  const changed = new Map<string, Set<number>>()
  let file = ''
  for (const line of diff.split('\n')) {
    const [, name] = /^\+\+\+ b\/(.*)$/.exec(line) ?? []
    if (name !== undefined) file = name
    const [, from, count = '1'] = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line) ?? []
    if (from === undefined || !file.endsWith('.ts') || file.endsWith('.test.ts')) continue
    const lines = changed.get(file) ?? new Set()
    for (let n = 0; n < Number(count); n++) lines.add(Number(from) + n)
    changed.set(file, lines)
  }
  return changed
}
