/**
 * Mutants that change nothing a client can see, each with its reason: `tools/mutants-excused.tsv`, sorted, one a line.
 * They are named by file, function and text, as everywhere here.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MutantTable } from './mutant-table.ts'
import { root } from './root.ts'

export const excusesFile = 'tools/mutants-excused.tsv'

/** Name of the mutant → reason. */
export function readExcuses(text: string = readFileSync(join(root, excusesFile), 'utf8')): Map<string, string> {
  const excuses = new Map<string, string>()
  for (const line of text.split('\n')) {
    if (line === '') continue
    const [file, within, change, reason, ...more] = line.split('\t')
    if (!reason || more.length > 0) throw new Error(`${excusesFile}: not file, function, change and reason: ${line}`)
    excuses.set(`${file}\t${within}\t${change}`, reason)
  }
  return excuses
}

/** What is wrong with them as long as nothing has run. */
export function faultsOf(excuses: ReadonlyMap<string, string>, table: MutantTable): string[] {
  return [...excuses.keys()].filter((name) => table.find(name) === undefined).map((name) => `no such mutant\t${name}`)
}
