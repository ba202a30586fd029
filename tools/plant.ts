/**
 * Plants faults in a copy of the sources, one at a time, and runs the suites that must find them:
 *
 *   node tools/plant.ts                    all of `tools/plants/`
 *   node tools/plant.ts impersonat table   those whose description holds one of these words (`CVE`, `blind`)
 *   node tools/plant.ts --trusting blind   without running the suites first
 *
 * Prints a table, and fails if one was not found. A suite is run without a fault first: one that fails finds nothing.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { allPlants } from './plants/all.ts'
import type { Edit, Plant } from './plants/plants.ts'

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

function main(args: readonly string[]): boolean {
  const words = args.filter((arg) => arg !== '--trusting')
  const plants = allPlants.filter((plant) => words.length === 0 || words.some((word) => textOf(plant).includes(word)))
  if (plants.length === 0) throw new Error(`no plant is about ${words.join(' or ')}`)
  const copy = copySources()
  try {
    for (const plant of plants) tryEdits(copy, plant, () => undefined)
    const suitesAlone = args.includes('--trusting') ? [] : new Set(plants.map((plant) => plant.suites.join(' ')))
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

process.exitCode = main(process.argv.slice(2)) ? 0 : 1
