/**
 * All generated objects, for so many minutes, in an order that spreads over all ways and kinds:
 *
 *   node test/generated/run.ts --minutes 10 [--seed 7]
 *
 * Prints what it tried and what it found. Where it stopped is kept in `.cache/generated/`; the next run of the same
 * seed goes on from there.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onlyOf, readRunnerFlags, refuseFlags } from '../support/runner-flags.ts'
import { type Subject, subjects } from './subjects.ts'
import { Trials } from './trial.ts'
import { variationsOf } from './variations.ts'
import { type Way, ways } from './ways.ts'

const help = `Usage: node test/generated/run.ts [options]

Sends all generated objects, in an order that spreads over all ways and kinds, and prints what it tried and found.
Where it stopped is kept in .cache/generated/: the next run of the same seed goes on from there.

Options:
  --minutes N    for so long (default 10)
  --seed N       which objects (default 1)
  --only REGEX   only kinds whose title it finds
  --help

Examples:
  node test/generated/run.ts --minutes 30 --seed 7
  node test/generated/run.ts --only 'batch/v1 |autoscaling/'
`

const values = readRunnerFlags(
  help,
  {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
  },
  ['minutes', 'seed'],
)
const seed = Number(values.seed)

/** Each run over all ways and kinds takes another part of their variations. */
const parts = 20

interface Progress {
  /** Parts of a way and kind, one after the other. */
  readonly next: number
  readonly variations: number
  readonly findings: number
}

interface Cell {
  readonly way: Way
  readonly subject: Subject
  readonly part: number
}

function cells(): readonly Cell[] {
  const only = onlyOf(values.only)
  const all = subjects().filter(({ title }) => only.test(title))
  if (all.length === 0) refuseFlags(`--only ${JSON.stringify(values.only)} finds no kind, such as "batch/v1 CronJob"`)
  return Array.from({ length: parts }, (_, part) => part).flatMap((part) =>
    ways.flatMap((way) => all.filter((subject) => way.isFor(subject)).map((subject) => ({ way, subject, part }))),
  )
}

async function main(): Promise<boolean> {
  const folder = fileURLToPath(new URL('../../.cache/generated/', import.meta.url))
  const file = join(folder, `${seed}${encodeURIComponent(values.only)}.json`)
  const plan = cells()
  const before = await progressIn(file, plan.length)
  let { next, variations, findings } = before
  await using trials = await Trials.start()
  const endMs = performance.now() + Number(values.minutes) * 60_000
  for (; next < plan.length && performance.now() < endMs; next++) {
    const { tried, found } = await tryCell(trials, plan[next] as Cell)
    variations += tried
    findings += found
  }
  if (next > before.next) {
    await mkdir(folder, { recursive: true })
    await writeFile(file, JSON.stringify({ next, variations, findings } satisfies Progress))
  }
  const now = `${variations - before.variations} objects, ${trials.requests} requests, ${findings - before.findings}`
  console.log(`seed ${seed}: ${now} findings in this run`)
  const share = ((next / plan.length) * 100).toFixed(1)
  console.log(`${variations} objects (${share} % of all), ${findings} findings since the first run`)
  return findings === before.findings
}

async function tryCell(trials: Trials, { way, subject, part }: Cell): Promise<{ tried: number; found: number }> {
  await trials.prepare(way, subject)
  let tried = 0
  let found = 0
  for (const variation of partOf(variationsOf(subject.schema, subject.object), part)) {
    tried++
    const problem = await trials.problemOf(way, subject, variation)
    if (problem === undefined) continue
    found++
    console.log(`${way.name}: ${subject.title}: ${variation.title}\n    ${problem.slice(0, 1000)}`)
  }
  await trials.cleanUp(subject)
  return { tried, found }
}

/** Disjoint for different parts; the seed says which comes first. */
function* partOf<T>(items: Iterable<T>, part: number): Generator<T> {
  let i = seed
  for (const item of items) if (i++ % parts === part) yield item
}

async function progressIn(file: string, size: number): Promise<Progress> {
  const text = await readFile(file, 'utf8').catch(() => '{}')
  const { next, variations = 0, findings = 0 } = JSON.parse(text) as Partial<Progress>
  return next === undefined || next >= size ? { next: 0, variations: 0, findings: 0 } : { next, variations, findings }
}

process.exitCode = (await main()) ? 0 : 1
