/**
 * Progress on standard error: on a terminal one line that changes, elsewhere a line now and then. Work that ends within
 * a second shows nothing.
 */
import type { Command } from 'commander'
import type { Progress, ReportProgress } from '../base/progress.ts'
import { printDuration, secondMs } from './duration.ts'

export interface ProgressOutput {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

const quietMs = secondMs
const everyMs = { onTerminal: 100, elsewhere: 10 * secondMs } as const
/** Before that a forecast says little. */
const leastShare = 0.02

export const withQuietFlag = (command: Command): Command =>
  command.option('-q, --quiet', 'tell nothing of how far it is', false)

export class ProgressLine implements Disposable {
  readonly #output: ProgressOutput
  readonly #monotonic: () => number
  readonly #began: number
  #stepBegan: number
  #doing = ''
  #told = 0
  #isShown = false

  constructor(output: ProgressOutput, monotonic: () => number) {
    this.#output = output
    this.#monotonic = monotonic
    this.#began = monotonic()
    this.#stepBegan = this.#began
  }

  readonly report: ReportProgress = (progress) => {
    const now = this.#monotonic()
    if (progress.doing !== this.#doing) {
      this.#doing = progress.doing
      this.#stepBegan = now
    }
    const onTerminal = this.#output.isTTY === true
    if (now - this.#began < quietMs) return
    if (this.#told !== 0 && now - this.#told < (onTerminal ? everyMs.onTerminal : everyMs.elsewhere)) return
    this.#told = now
    const text = lineOf(progress, now - this.#stepBegan)
    // A terminal that does not know its width (`script`, a container's) says 0.
    const columns = this.#output.columns || 80
    this.#output.write(onTerminal ? `\r\x1b[K${text.slice(0, columns - 1)}` : `${text}\n`)
    this.#isShown = onTerminal
  };

  /** Takes the line off the terminal. */
  [Symbol.dispose](): void {
    if (this.#isShown) this.#output.write('\r\x1b[K')
    this.#isShown = false
  }
}

/** As the flags of the command say. */
export function progressOf(command: Command): Disposable & { readonly report: ReportProgress } {
  if (command.getOptionValue('quiet') === true) return { report: () => undefined, [Symbol.dispose]: () => undefined }
  return new ProgressLine(process.stderr, () => performance.now())
}

/** `copying: 1,200 of 5,000 entries (24 %), 3.1 MiB, 12s left` */
function lineOf({ doing, done, total, unit, note }: Progress, elapsedMs: number): string {
  const share = total === undefined || total === 0 ? undefined : Math.min(1, done / total)
  const figures = total === undefined ? grouped(done) : `${grouped(done)} of ${grouped(Math.max(done, total))}`
  const parts = [
    `${doing}: ${figures} ${unit}${share === undefined ? '' : ` (${Math.floor(share * 100)} %)`}`,
    ...(note === undefined ? [] : [note]),
  ]
  if (share !== undefined && share >= leastShare && share < 1) {
    const leftSeconds = Math.ceil((elapsedMs * (1 - share)) / share / secondMs)
    parts.push(`${printDuration(leftSeconds * secondMs)} left`)
  }
  return parts.join(', ')
}

const grouped = (n: number): string => n.toLocaleString('en-US')
