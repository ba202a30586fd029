/**
 * The simulation for so many seeds, or so many minutes; what it has done is kept in `.cache/simulation/`, and the next
 * run goes on from there:
 *
 *   npm run simulate -- --seeds 100000 --minutes 600
 *   npm run simulate -- --seed 42 --without 0,3 --trace /tmp/trace     one seed, line for line
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { describeFailure, runSeeds, runWorker, type Told } from './simulation.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100000' },
    minutes: { type: 'string', default: '600' },
    processes: { type: 'string', default: String(availableParallelism()) },
    /** From the first seed on, whatever was done before. */
    afresh: { type: 'boolean', default: false },
    seed: { type: 'string' },
    without: { type: 'string' },
    trace: { type: 'string' },
  },
})

const progressFile = fileURLToPath(new URL('../../.cache/simulation/progress.json', import.meta.url))
const perProcess = 100

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
  const first = values.afresh ? 0 : await progress()
  const began = performance.now()
  const failures: Told[] = []
  let done = 0
  let operations = 0
  const next = await runSeeds({
    first,
    count: Math.max(0, total - first),
    processes: Number(values.processes),
    perProcess,
    isOver: () => performance.now() - began > Number(values.minutes) * 60_000,
    onOutcome(outcome) {
      done++
      operations += outcome.operations
      if (outcome.problems.length === 0) return
      failures.push(outcome)
      console.log(describeFailure(outcome))
    },
  })
  await mkdir(dirname(progressFile), { recursive: true })
  await writeFile(progressFile, JSON.stringify({ next }))
  const seconds = Math.round((performance.now() - began) / 1000)
  console.log(`${done} seeds from ${first} on in ${seconds} s, ${operations} operations, ${failures.length} failures`)
  return failures.length === 0
}

async function progress(): Promise<number> {
  const text = await readFile(progressFile, 'utf8').catch(() => '{}')
  return (JSON.parse(text) as { readonly next?: number }).next ?? 0
}

process.exitCode = (await main()) ? 0 : 1
