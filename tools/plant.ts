/**
 * Plants faults in a copy of the sources, one at a time, and runs the suites that must find them. `--help` tells how to
 * use it. A suite is run without a fault first: one that fails then finds nothing.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { refuseWrongFlag } from '../test/support/runner-flags.ts'
import { allPlants } from './plants/all.ts'
import type { Edit, Plant } from './plants/plants.ts'

const help = `Usage: node tools/plant.ts [options] [word ...]

Plants the faults of tools/plants/ one at a time in a copy of the sources and runs the suites that must find each.
With words, only faults whose description, advisory or choice (blind) holds one of them. Prints a table, and fails
if one was not found.

Options:
  --list       run nothing: print what would be planted
  --trusting   don't run the suites without a fault first
  --help

Examples:
  node tools/plant.ts                        all of them
  node tools/plant.ts impersonat table       those about impersonation or tables
  node tools/plant.ts --trusting blind       those chosen before the tests were read
`

const root = fileURLToPath(new URL('..', import.meta.url))
/** Not in git, and needed to run. */
const generated = 'src/catalog/generated'

/** What the words of the command line are looked for in. */
const textOf = ({ why, isBlind, advisory = '' }: Plant): string => `${why} ${advisory}${isBlind ? ' blind' : ''}`

interface Outcome {
  readonly plant: Plant
  readonly found: boolean
  readonly seconds: number
  /** The first line that says what failed. */
  readonly said: string
}

interface Options {
  readonly words: readonly string[]
  readonly list: boolean
  readonly trusting: boolean
}

function readOptions(args: string[]): Options | undefined {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      list: { type: 'boolean', default: false },
      trusting: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  return values.help ? undefined : { words: positionals, list: values.list, trusting: values.trusting }
}

function main({ words, list, trusting }: Options): boolean {
  const plants = allPlants.filter((plant) => words.length === 0 || words.some((word) => textOf(plant).includes(word)))
  if (plants.length === 0) throw new Error(`no plant is about ${words.join(' or ')}`)
  if (list) {
    for (const { why, file, suites } of plants) console.log(`${why}\n          ${file}, ${suites.join(', ')}`)
    return true
  }
  const copy = copySources()
  try {
    for (const plant of plants) tryEdits(copy, plant, () => undefined)
    const suitesAlone = trusting ? [] : new Set(plants.map((plant) => plant.suites.join(' ')))
    for (const suites of suitesAlone) {
      const { passed, output } = runSuites(copy, suites.split(' '))
      if (!passed) throw new Error(`${suites} fails without a fault:\n${output.slice(-4000)}`)
    }
    const outcomes = plants.map((plant) => tryPlant(copy, plant))
    const found = outcomes.filter((outcome) => outcome.found).length
    console.log(`\n${tableOf(outcomes)}\n\n${found} of ${outcomes.length} found`)
    return found === outcomes.length
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

function copySources(): string {
  const copy = mkdtempSync(join(tmpdir(), 'borough-plants-'))
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root })
  for (const file of listed.toString().trim().split('\n')) {
    if (!existsSync(join(root, file))) continue
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    cpSync(join(root, file), join(copy, file))
  }
  if (existsSync(join(root, generated))) cpSync(join(root, generated), join(copy, generated), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

function tryPlant(copy: string, plant: Plant): Outcome {
  return tryEdits(copy, plant, () => {
    const start = performance.now()
    const { passed, output } = runSuites(copy, plant.suites)
    // Such a fault can't be loaded: that a suite fails then says nothing of its tests.
    if (output.includes('Transform failed')) throw new Error(`${plant.file} is no source with it: ${plant.why}`)
    const seconds = Math.round((performance.now() - start) / 1000)
    const outcome = { plant, found: !passed, seconds, said: passed ? '' : firstFinding(output) }
    console.log(`${outcome.found ? 'found    ' : 'NOT FOUND'} ${seconds} s  ${plant.why}\n          ${outcome.said}`)
    return outcome
  })
}

/** @throws Error if the sources are no longer what the fault was written for */
function tryEdits<T>(copy: string, plant: Plant, run: () => T): T {
  const edits: readonly Edit[] = [plant, ...(plant.also ?? [])]
  const before = new Map(edits.map(({ file }) => [file, readFileSync(join(copy, file), 'utf8')]))
  try {
    for (const edit of edits) applyEdit(copy, edit)
    return run()
  } finally {
    for (const [file, text] of before) writeFileSync(join(copy, file), text)
  }
}

function applyEdit(copy: string, { file, find, replace }: Edit): void {
  const path = join(copy, file)
  const text = readFileSync(path, 'utf8')
  const times = text.split(find).length - 1
  if (times !== 1) throw new Error(`${file} has ${times} times what is to be replaced, not once: ${find}`)
  writeFileSync(
    path,
    text.replace(find, () => replace),
  )
}

function runSuites(copy: string, suites: readonly string[]): { readonly passed: boolean; readonly output: string } {
  const args = ['run', ...suites, '--bail=1', '--maxWorkers=1', '--reporter=default']
  const env = { ...process.env, CI: '1', NO_COLOR: '1' }
  const vitest = join(root, 'node_modules/.bin/vitest')
  const { status, stdout, stderr } = spawnSync(vitest, args, { cwd: copy, env, encoding: 'utf8', maxBuffer: 2 ** 28 })
  return { passed: status === 0, output: stdout + stderr }
}

/** As `docs/security.md` has it. */
function tableOf(outcomes: readonly Outcome[]): string {
  const rows = outcomes.map(({ plant: { why, advisory = '', isBlind }, found }) =>
    [why, advisory, isBlind ? 'blind' : '', found ? 'found' : '**not found**'].join(' | '),
  )
  return ['fault | advisory | chosen | outcome', '---|---|---|---', ...rows].map((row) => `| ${row} |`).join('\n')
}

/** The first line of a difference, else of an error. */
function firstFinding(output: string): string {
  const lines = output.split('\n')
  const line =
    lines.find((text) => /^\+ \S/.test(text) && !text.includes('Received')) ?? lines.find((text) => /Error/.test(text))
  return line?.trim() ?? 'nothing was said'
}

try {
  const options = readOptions(process.argv.slice(2))
  if (options === undefined) console.log(help)
  else process.exitCode = main(options) ? 0 : 1
} catch (error) {
  refuseWrongFlag(error)
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
