/** Rows, and how they are printed. Every figure is the median of its rounds, with the least and the most. */

export interface Spread {
  readonly median: number
  readonly least: number
  readonly most: number
}

export interface Row {
  readonly what: string
  readonly unit: string
  readonly ours: Spread
  /** What bounds us: measured in the same rounds, turn by turn. */
  readonly limit?: { readonly what: string; readonly value: Spread }
  /** Ours to the limit's (of rates), or to the goal's figure where there is no limit. */
  readonly ratio?: Spread
  /** CPU time of the server per request: ours to the bare server's. Less disturbed by a busy machine than rates are. */
  readonly cpuRatio?: number
  readonly p50Ms?: number
  readonly p99Ms?: number
  readonly peer?: Spread
  /** Requests of the victim of an attack. */
  readonly failures?: string
  /** Of the main thread, in one piece, without collections. */
  readonly heldMs?: number
  /** Of the event loop: how long it lasted, and what of it was work of the main thread, or collections (wall clock). */
  readonly longestTurn?: { readonly allMs: number; readonly workedMs: number; readonly collectedMs: number }
  /** Resident, at most. */
  readonly topMiB?: number
  /** What an attacker sent, and what came of it. */
  readonly attacker?: string
  readonly goal: string
  readonly met?: boolean
}

export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length / 2
  const median =
    sorted.length % 2 === 1
      ? (sorted[Math.floor(middle)] ?? 0)
      : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2
  return { median, least: sorted[0] ?? 0, most: sorted.at(-1) ?? 0 }
}

/** Of rounds that were run side by side. */
export function ratios(ours: readonly number[], limit: readonly number[]): Spread {
  return spread(ours.map((value, i) => value / (limit[i] ?? Number.NaN)))
}

const digits = (value: number): string =>
  Math.abs(value) >= 100 ? Math.round(value).toLocaleString('en-US') : value.toPrecision(value < 1 ? 2 : 3)

const shown = ({ median, least, most }: Spread): string =>
  least === most ? digits(median) : `${digits(median)} (${digits(least)}-${digits(most)})`

const columns: readonly { readonly title: string; readonly of: (row: Row) => string }[] = [
  { title: 'what', of: (r) => r.what },
  { title: 'Borough', of: (r) => `${shown(r.ours)} ${r.unit}` },
  { title: 'limit', of: (r) => (r.limit ? `${shown(r.limit.value)}, ${r.limit.what}` : '') },
  { title: 'ratio', of: (r) => (r.ratio ? shown(r.ratio) : '') },
  { title: 'CPU ratio', of: (r) => (r.cpuRatio === undefined ? '' : `1 : ${digits(r.cpuRatio)}`) },
  { title: 'p50 / p99 ms', of: (r) => (r.p99Ms === undefined ? '' : `${digits(r.p50Ms ?? 0)} / ${digits(r.p99Ms)}`) },
  { title: 'peer', of: (r) => (r.peer ? shown(r.peer) : '') },
  { title: 'failures', of: (r) => r.failures ?? '' },
  { title: 'loop held ms', of: (r) => (r.heldMs === undefined ? '' : digits(r.heldMs)) },
  {
    title: 'longest turn ms (worked, collected)',
    of: ({ longestTurn: turn }) =>
      turn === undefined ? '' : `${digits(turn.allMs)} (${digits(turn.workedMs)}, ${digits(turn.collectedMs)})`,
  },
  { title: 'top MiB', of: (r) => (r.topMiB === undefined ? '' : digits(r.topMiB)) },
  { title: 'attacker', of: (r) => r.attacker ?? '' },
  { title: 'goal', of: (r) => r.goal },
  { title: '', of: (r) => (r.met === undefined ? '' : r.met ? 'ok' : 'missed') },
]

/** A table in Markdown, which is also readable as it stands. */
export function table(rows: readonly Row[]): string {
  const used = columns.filter(({ of }) => rows.some((row) => of(row) !== ''))
  const lines = [used.map((c) => c.title), ...rows.map((row) => used.map((c) => c.of(row)))]
  const widths = used.map((_, i) => Math.max(3, ...lines.map((line) => line[i]?.length ?? 0)))
  const print = (cells: readonly string[]): string => `| ${cells.map((c, i) => c.padEnd(widths[i] ?? 0)).join(' | ')} |`
  const [head = [], ...rest] = lines
  return [print(head), print(widths.map((w) => '-'.repeat(w))), ...rest.map(print)].join('\n')
}
