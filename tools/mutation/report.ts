/** The table by folders, and what is wrong: too few killed, too many excused, an excuse for one that was killed. */
import { folderOf } from './choose.ts'
import type { Mutant } from './find-mutants.ts'
import { isKilled, type Result } from './results.ts'

const leastKilled = 0.9
const mostExcused = 0.03

export interface Report {
  readonly table: string
  /** What the tests did not notice. */
  readonly survivors: readonly string[]
  readonly faults: readonly string[]
}

const columns = ['mutants', 'tried', 'killed', 'timeouts', 'survived', 'not reached', 'excused'] as const
type Row = Record<(typeof columns)[number], number>

export function reportOf(
  chosen: readonly Mutant[],
  results: ReadonlyMap<string, Result>,
  excuses: ReadonlyMap<string, string>,
): Report {
  const rows = new Map<string, Row>()
  const total = emptyRow()
  const survivors: string[] = []
  const faults: string[] = []
  for (const mutant of chosen) {
    const folder = folderOf(mutant)
    const row = rows.get(folder) ?? emptyRow()
    rows.set(folder, row)
    const result = results.get(mutant.name)
    const excused = excuses.has(mutant.name)
    count(row, result, excused)
    count(total, result, excused)
    if (result === undefined) continue
    if (isKilled(result)) {
      if (excused) faults.push(`excused, but killed by ${result.by}\t${mutant.name}`)
    } else if (!excused) survivors.push(lineOf(mutant, result))
  }
  const named = [...rows].sort(([a], [b]) => (a < b ? -1 : 1))
  const table = [...named, ['all', total] as const].map(([name, row]) => textOf(name, row))
  if (total.tried > 0 && killedOf(total) < leastKilled) faults.push(`less than ${leastKilled * 100} % were killed`)
  if (total.excused > mostExcused * total.tried) faults.push(`more than ${mostExcused * 100} % are excused`)
  return { table: [header, ...table].join('\n'), survivors, faults }
}

const emptyRow = (): Row => Object.fromEntries(columns.map((name) => [name, 0])) as Row

function count(row: Row, result: Result | undefined, excused: boolean): void {
  row.mutants++
  if (result === undefined) return
  row.tried++
  if (result.status === 'timeout') row.timeouts++
  if (isKilled(result)) row.killed++
  else if (excused) row.excused++
  else if (result.status === 'survived') row.survived++
  else row['not reached']++
}

/** Of those that were tried; an excused one is not killed. */
const killedOf = ({ killed, tried }: Row): number => (tried === 0 ? 0 : killed / tried)

const widths = { name: 30, column: 12 }
const header = [
  'folder'.padEnd(widths.name),
  ...columns.map((name) => name.padStart(widths.column)),
  '  killed %',
].join('')

const textOf = (name: string, row: Row): string =>
  [
    name.padEnd(widths.name),
    ...columns.map((column) => String(row[column]).padStart(widths.column)),
    (killedOf(row) * 100).toFixed(1).padStart('  killed %'.length),
  ].join('')

function lineOf({ name, line, file }: Mutant, { status, reaching = 0, tried = 0 }: Result): string {
  const rest = tried < reaching ? ` (${reaching - tried} of ${reaching} tests were not tried)` : ''
  return `${status}${rest}\t${file}:${line}\t${name.split('\t').slice(1).join('\t')}`
}
