/**
 * The fuzzer for so many requests, or so many minutes:
 *
 *   node test/fuzz/run.ts --requests 1000000 --minutes 60 --seed 7
 *   node test/fuzz/run.ts --replay .cache/fuzz/7-1234.json
 *
 * Prints what it tried and what it found, each as the fewest requests that show it, which `--replay` sends again. Where
 * it stopped is kept in `.cache/fuzz/`; the next run of the same seed goes on from there.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readRunnerFlags, refuseFlags } from '../support/runner-flags.ts'
import { type Finding, fuzz, replay, type Step } from './fuzzer.ts'

const help = `Usage: node test/fuzz/run.ts [options]

Sends random requests, most of which no client sends, to a server in this process, and prints what it tried and found.
Where it stopped is kept in .cache/fuzz/: the next run of the same seed goes on from there.

Options:
  --requests N   so many (default 1000000)
  --minutes N    for so long (default 60)
  --seed N       which requests (default 1)
  --replay FILE  sends one finding again
  --help

Examples:
  node test/fuzz/run.ts --requests 20000 --minutes 5 --seed 7
  node test/fuzz/run.ts --replay .cache/fuzz/7-1234.json
`

const values = readRunnerFlags(
  help,
  {
    requests: { type: 'string', default: '1000000' },
    minutes: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    replay: { type: 'string' },
  },
  ['requests', 'minutes', 'seed'],
)

const pathOf = (name: string): string => fileURLToPath(new URL(`../../.cache/fuzz/${name}.json`, import.meta.url))

async function write(name: string, value: object): Promise<string> {
  const path = pathOf(name)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, JSON.stringify(value, undefined, 2))
  return path
}

async function main(): Promise<boolean> {
  if (values.replay !== undefined) return sendAgain(values.replay)
  const seed = Number(values.seed)
  const from = await progressOf(seed)
  const endMs = performance.now() + Number(values.minutes) * 60_000
  const writing: Promise<unknown>[] = []
  const { tried, findings } = await fuzz({
    seed,
    from,
    requests: Number(values.requests),
    isOver: () => performance.now() > endMs,
    onFinding(finding) {
      print(finding)
      writing.push(write(`${seed}-${finding.number}`, finding.steps))
    },
  })
  await Promise.all(writing)
  if (tried > 0) await write(`progress-${seed}`, { next: from + tried })
  console.log(`seed ${seed}: ${tried} requests from number ${from}, ${findings.length} findings`)
  return findings.length === 0
}

async function progressOf(seed: number): Promise<number> {
  const text = await readFile(pathOf(`progress-${seed}`), 'utf8').catch(() => '{}')
  return (JSON.parse(text) as { readonly next?: number }).next ?? 0
}

function print({ problem, seed, number, steps }: Finding): void {
  console.log(
    `\n${problem}\n  request ${number} of seed ${seed}; ${steps.length} to show it: ${pathOf(`${seed}-${number}`)}`,
  )
  for (const step of steps.slice(-3)) console.log(`  ${lineOf(step)}`)
}

function lineOf(step: Step): string {
  if ('bytes' in step) return `${step.protocol} ${JSON.stringify(textOf(step.bytes))}`
  const { user, method, path, query, headers, body } = step
  const said = headers.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(', ')
  return `${user} ${method} ${path}${query === '' ? '' : `?${query}`} {${said}} ${JSON.stringify(textOf(body))}`
}

const textOf = (base64: string): string => Buffer.from(base64, 'base64').toString('utf8').slice(0, 2000)

async function sendAgain(path: string): Promise<boolean> {
  const text = await readFile(path, 'utf8').catch(() => refuseFlags(`--replay: there is no file ${path}`))
  const steps = JSON.parse(text) as readonly Step[]
  const problem = await replay(steps)
  console.log(problem ?? 'answered as it should be')
  return problem === undefined
}

process.exitCode = (await main()) ? 0 : 1
