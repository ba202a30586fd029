/**
 * The simulation for so many seeds, or so many minutes; what it has done is kept in `.cache/simulation/`, and the next
 * run goes on from there, also where this one is interrupted:
 *
 *   npm run simulate -- --seeds 100000 --minutes 600
 *   npm run simulate -- --seed 42 --without 0,3 --trace /tmp/trace     one seed, line for line
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readRunnerFlags } from '../support/runner-flags.ts'
import { describeFailure, runSeeds, runWorker, type Told } from './simulation.ts'

const help = `Usage: node test/simulation/run.ts [options]

Plays replicas on a simulated etcd, SQLite, and planes on a simulated disk, one seed after the other. What was done is
kept in .cache/simulation/: the next run goes on from there.

Options:
  --seeds N      so many (default 100000)
  --minutes N    for so long (default 600)
  --processes N  at once (default one for each processor)
  --afresh       from the first seed on, whatever was done before
  --seed N       one seed
  --without N,N  without these of its faults
  --trace FILE   writes down what happens in it
  --help

Examples:
  npm run simulate -- --seeds 100000 --minutes 600
  node test/simulation/run.ts --seed 42 --without 0,3 --trace trace.txt
`

const values = readRunnerFlags(
  help,
  {
    seeds: { type: 'string', default: '100000' },
    minutes: { type: 'string', default: '600' },
    processes: { type: 'string', default: String(availableParallelism()) },
    /** From the first seed on, whatever was done before. */
    afresh: { type: 'boolean', default: false },
    seed: { type: 'string' },
    without: { type: 'string' },
    trace: { type: 'string' },
  },
  ['seeds', 'minutes', 'processes', 'seed'],
)

const progressFile = fileURLToPath(new URL('../../.cache/simulation/progress.json', import.meta.url))
const perProcess = 50

/** Of all runs since the first seed. */
interface Progress {
  readonly next: number
  readonly operations: number
  /** Seeds. */
  readonly failed: readonly number[]
}

async function main(): Promise<boolean> {
  return values.seed === undefined ? many() : one(values.seed)
}

async function one(seed: string): Promise<boolean> {
  const options = { seed, without: values.without, trace: values.trace }
  const args = Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value]))
  let failed = false
  await runWorker(args, (outcome) => {
    failed = outcome.problems.length > 0
    console.log(failed ? describeFailure(outcome) : `seed ${seed}: all is as it should be`)
    console.log(`${outcome.steps} steps, ${outcome.operations} operations, trace ${outcome.hash}`)
  })
  return !failed
}

async function many(): Promise<boolean> {
  const total = Number(values.seeds)
  const before = values.afresh ? none : await progress()
  const began = performance.now()
  const outcomes: Told[] = []
  const next = await runSeeds({
    first: before.next,
    count: Math.max(0, total - before.next),
    processes: Number(values.processes),
    perProcess,
    isOver: () => performance.now() - began > Number(values.minutes) * 60_000,
    onOutcome(outcome) {
      outcomes.push(outcome)
      if (outcome.problems.length > 0) console.log(describeFailure(outcome))
    },
    onDone: (done) => keep(before, outcomes, done),
  })
  if (next > before.next) await keep(before, outcomes, next)
  const seconds = Math.round((performance.now() - began) / 1000)
  const failures = outcomes.filter(isFailure).length
  console.log(`${outcomes.length} seeds from ${before.next} on in ${seconds} s, ${failures} failures`)
  const { operations, failed } = await progress()
  console.log(`in all ${next} seeds, ${operations} operations, failures: ${failed.join() || 'none'}`)
  return failures === 0
}

const none: Progress = { next: 0, operations: 0, failed: [] }
const isFailure = ({ problems }: Told): boolean => problems.length > 0

async function keep(before: Progress, outcomes: readonly Told[], next: number): Promise<void> {
  // What comes after it is done again.
  const counted = outcomes.filter(({ seed }) => seed < next)
  const operations = counted.reduce((sum, outcome) => sum + outcome.operations, before.operations)
  const failed = [...before.failed, ...counted.filter(isFailure).map(({ seed }) => seed)]
  await mkdir(dirname(progressFile), { recursive: true })
  await writeFile(progressFile, JSON.stringify({ next, operations, failed } satisfies Progress))
}

async function progress(): Promise<Progress> {
  const text = await readFile(progressFile, 'utf8').catch(() => '{}')
  return { ...none, ...(JSON.parse(text) as Partial<Progress>) }
}

process.exitCode = (await main()) ? 0 : 1
