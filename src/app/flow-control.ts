/** What priority and fairness is told of the server, and what it shows to operators. */
import {
  type CollectionStats,
  createFlowControl,
  type DumpRow,
  type FlowControl,
  type RequestAttributes,
  waitLimitMsOf,
  workEstimator,
} from '../flowcontrol/flowcontrol.ts'
import type { DocumentsDeps } from '../http/documents.ts'
import type { Config } from './config.ts'
import type { Core } from './wire.ts'

type Sizes = Pick<Core, 'cache' | 'catalog'>

/** `core` is there before the first request is. */
export function flowControlOf({ clock, ids, load }: Config, core: () => Core): FlowControl {
  return createFlowControl({
    clock,
    salt: ids.uid(),
    serverSeats: load.serverSeats,
    waitLimitMs: waitLimitMsOf(load.deadlines.handlerMs),
    estimateWork: workEstimator({
      statsOf: (request) => collectionStatsOf(core(), request),
      watchersOf: (request) => watchersOf(core(), request),
    }),
    endOfTurn: setImmediate,
  })
}

/** Of the collection that a request names; undefined if it is not stored here. */
function collectionStatsOf({ cache, catalog }: Sizes, request: RequestAttributes): CollectionStats | undefined {
  const type = catalog.types.find(request)
  if (type === undefined || !type.stored) return undefined
  // A cluster-scoped object has its name there.
  return cache.type(type.storageName).sizeOf(type.namespaced ? request.namespace : '')
}

/** How many watches would be sent a change that the request makes. */
function watchersOf({ cache, catalog }: Sizes, request: RequestAttributes): number {
  const type = catalog.types.find(request)
  if (type === undefined || !type.stored) return 0
  return cache.type(type.storageName).watchers.watching(type.namespaced ? request.namespace : '', request.name)
}

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
