/** Runs seeds in processes of their own (`worker.ts`), several at a time. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Outcome } from './seed.ts'

export type Told = Omit<Outcome, 'trace'>

/** Most of what a simulated server makes is soon forgotten: a larger young generation spares a tenth of the time. */
const worker = ['--max-semi-space-size=64', fileURLToPath(new URL('worker.ts', import.meta.url))]

/** @throws Error when the process ends otherwise than it should */
export function runWorker(args: readonly string[], onOutcome: (outcome: Told) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...worker, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    let errors = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors = (errors + text).slice(-4000)
    })
    const lines = createInterface(child.stdout)
    lines.on('line', (line) => onOutcome(JSON.parse(line) as Told))
    child.on('error', reject)
    child.on('close', (code) => {
      if (code === 0) resolve()
      else reject(new Error(`a simulation of ${args.join(' ')} ended with ${code}:\n${errors}`))
    })
  })
}

export interface SeedsOptions {
  readonly first: number
  readonly count: number
  readonly processes: number
  /** Seeds that one process runs before another takes its place. */
  readonly perProcess: number
  readonly isOver?: () => boolean
  readonly onOutcome: (outcome: Told) => void
  /** Called after each process: all seeds before this one are done. */
  readonly onDone?: (next: number) => Promise<void>
}

/** Answers the seed that would be the next. */
export async function runSeeds(options: SeedsOptions): Promise<number> {
  const { first, count, processes, perProcess, isOver = () => false, onOutcome, onDone } = options
  let next = first
  const end = first + count
  const running = new Set<number>()
  const work = async (): Promise<void> => {
    while (next < end && !isOver()) {
      const from = next
      next = Math.min(end, from + perProcess)
      running.add(from)
      await runWorker([String(from), String(next - from)], onOutcome)
      running.delete(from)
      await onDone?.(Math.min(next, ...running))
    }
  }
  await Promise.all(Array.from({ length: processes }, work))
  return next
}

/** What failed, and the command that shows it again. */
export function describeFailure({ seed, problems, faults, without }: Told): string {
  const left = faults.filter((_, i) => !without.includes(i))
  const dropped = without.length === 0 ? '' : ` --without ${without.join()}`
  return [
    `seed ${seed}: ${problems.slice(0, 5).join('\n  ')}`,
    `  again: npm run simulate -- --seed ${seed}${dropped} --trace /tmp/trace`,
    ...left.map((fault) => `  fault: ${fault}`),
  ].join('\n')
}
