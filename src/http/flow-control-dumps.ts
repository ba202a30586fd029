/** What priority and fairness shows to operators: tables as upstream's. */
import type { DumpRow, FlowControl } from '../flowcontrol/flowcontrol.ts'
import type { DocumentsDeps } from './documents.ts'

const folder = '/debug/api_priority_and_fairness'

type Dumps = Pick<FlowControl, 'dumpPriorityLevels' | 'dumpQueues' | 'dumpRequests'>

/** Of this process. */
export function flowControlDumps(control: Dumps): DocumentsDeps['plain'] {
  const document = (rows: (query: URLSearchParams) => readonly DumpRow[]): DocumentsDeps['plain'][string] => ({
    contentType: 'text/plain; charset=utf-8',
    body: (query) => tabulated(rows(query)),
  })
  return {
    [`${folder}/dump_priority_levels`]: document(() => control.dumpPriorityLevels()),
    [`${folder}/dump_queues`]: document(() => control.dumpQueues()),
    [`${folder}/dump_requests`]: document((query) => control.dumpRequests(query.get('includeRequestDetails') === '1')),
  }
}

const leastWidth = 8

/** Cells end with a comma, and are as wide as the longest of their column; the last stands as it is. */
function tabulated(rows: readonly DumpRow[]): string {
  const lines = [...rows.slice(0, 1).map((row) => Object.keys(row)), ...rows.map((row) => Object.values(row))]
  const widths = (lines[0] ?? []).map((_, i) => Math.max(leastWidth, longest(lines, i) + ', '.length))
  const cell = (text: string, i: number): string => (i < widths.length - 1 ? `${text},`.padEnd(widths[i] ?? 0) : text)
  return lines.map((cells) => `${cells.map(cell).join('')}\n`).join('')
}

const longest = (lines: readonly (readonly string[])[], i: number): number => {
  let most = 0
  for (const cells of lines) most = Math.max(most, cells[i]?.length ?? 0)
  return most
}
