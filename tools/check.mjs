/**
 * What CI runs, in one command: `npm run check`. Layers, format, lint, types, build, tests, and whether these assert
 * every refusal; stops at the first failure and says which it was. With arguments, which go to vitest, it runs those
 * tests and nothing else. The last lines are the failed tests, each with the beginning of its error (for a property:
 * seed and path), and `N passed, N failed, N skipped`. A test that fails in the whole check is looked at again before
 * that is believed (`tools/unsteady.mjs`).
 */
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bringUpToDate, generateCatalog, root } from './build.mjs'
import { countSources } from './layers.mjs'
import { doubtful, looks, passAlone } from './unsteady.mjs'

/** A guard against what hangs: on two quiet cores the whole check takes less than 20 minutes, on busy ones longer. */
const testMinutes = 45
const shownFailures = 20
const summaryFile = join(root, '.cache', 'test-summary.json')
/** Of a test that is run again. */
const secondSummary = join(root, '.cache', 'test-summary-again.json')
/** Of some tests nothing can be said about all refusals. */
const vitestArguments = process.argv.slice(2)
const refusals = vitestArguments.length > 0 ? {} : { BOROUGH_REFUSALS: join(root, '.cache', 'refusals') }

/** The many processes that tests start are what is shipped, which takes half as long to start as the source. */
const shipped = vitestArguments.length > 0 ? {} : { BOROUGH_MAIN: join(root, 'bin', 'borough.mjs') }

const generated = { name: 'catalogue', run: generateCatalog }
const tested = { name: 'tests', run: tests }
const whole = [
  { name: 'layers', run: () => command('node', ['tools/layers.mjs']), help: 'see tools/layers.mjs' },
  generated,
  {
    name: 'format',
    run: () => command('biome', ['check', '--error-on-warnings', '.']),
    help: "'npm run format' repairs it",
  },
  { name: 'lint', run: lint, help: 'the rules are in tools/layers.mjs' },
  { name: 'types', run: types },
  { name: 'build', run: bringUpToDate },
  tested,
  { name: 'refusals', run: assertedRefusals, help: 'see tools/refusals.ts' },
]
/** Tests that were named start processes from the source: they need the catalogue and nothing else. */
export const stagesOf = (args) => (args.length > 0 ? [generated, tested] : whole)

async function main() {
  rmSync(summaryFile, { force: true })
  mkdirSync(join(root, '.cache'), { recursive: true })
  let failure
  for (const { name, run, help } of stagesOf(vitestArguments)) {
    const start = performance.now()
    const ok = await run()
    process.stderr.write(`${ok ? 'ok    ' : 'FAILED'} ${name} (${((performance.now() - start) / 1000).toFixed(1)} s)\n`)
    if (!ok) {
      failure = `check failed at '${name}'${help ? `: ${help}` : ''}`
      break
    }
  }
  if (failure) process.stderr.write(`${failure}\n`)
  const { passed, failed, skipped, failures, running, unsteady = [] } = readSummary()
  for (const { file, name, text } of unsteady) {
    const what = `UNSTEADY ${file} > ${name}\nfailed, then passed ${looks} of ${looks} times by itself: to be explained`
    process.stdout.write(`\n${what}\n${text.replaceAll(/^/gm, '  ')}\n`)
  }
  // Last of all, for readers who see only the end of a long output.
  for (const { file, name, text } of failures.slice(0, shownFailures)) {
    process.stdout.write(`\nFAILED ${file} > ${name}\n${text.replaceAll(/^/gm, '  ')}\n`)
  }
  if (failures.length > shownFailures) process.stdout.write(`\nand ${failures.length - shownFailures} more failures\n`)
  if (running.length > 0) process.stdout.write(`\nstopped while these ran: ${running.join(', ')}\n`)
  // A stage before the tests, or a run that died without a word, is a failure too.
  if (unsteady.length > 0) process.stdout.write(`\n${unsteady.length} unsteady\n`)
  process.stdout.write(`${passed} passed, ${failure ? Math.max(failed, 1) : failed} failed, ${skipped} skipped\n`)
  return failure ? 1 : 0
}

async function tests() {
  if (await vitest(vitestArguments, summaryFile)) return true
  const summary = readSummary()
  const failures = vitestArguments.length > 0 ? undefined : doubtful(summary)
  if (!failures) return false
  process.stderr.write(`${failures.length} failed: run again, ${looks} times each\n`)
  let runs = 0
  const again = async (file, pattern) => {
    rmSync(secondSummary, { force: true })
    // The folder of records is emptied by each run.
    const records = { BOROUGH_REFUSALS: join(refusals.BOROUGH_REFUSALS, `again-${++runs}`) }
    await vitest([file, '-t', pattern], secondSummary, records)
    return readSummary(secondSummary)
  }
  if (!(await passAlone(failures, again))) return false
  const passed = summary.passed + failures.length
  writeFileSync(summaryFile, JSON.stringify({ ...summary, passed, failed: 0, failures: [], unsteady: failures }))
  return true
}

function vitest(args, summary, records = refusals) {
  const reporters = ['--reporter=default', '--reporter=./tools/summary-reporter.mjs']
  const env = { ...records, ...shipped, BOROUGH_TEST_SUMMARY: summary }
  return command('vitest', ['run', ...reporters, ...args], { timeoutMs: testMinutes * 60_000, env })
}

/** The page of the console is for browsers, so it has types of its own. */
async function types() {
  return (await command('tsc', ['--noEmit'])) && command('tsc', ['--noEmit', '-p', 'src/console/page/tsconfig.json'])
}

function assertedRefusals() {
  return command('node', ['tools/refusals.ts'], { env: refusals })
}

function readSummary(file = summaryFile) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return { passed: 0, failed: 0, skipped: 0, failures: [], running: [] }
  }
}

/** The linter must have seen every file: green for none would be no check at all. */
async function lint() {
  const output = []
  const ok = await command('oxlint', ['--type-aware', '--deny-warnings', '--report-unused-disable-directives'], {
    output,
  })
  if (!ok) return false
  const seen = Number(/ on (\d+) files? /.exec(output.join(''))?.[1] ?? 0)
  let sources = 0
  for (const count of countSources().values()) sources += count
  if (seen >= sources) return true
  process.stderr.write(`oxlint saw ${seen} files, there are ${sources}\n`)
  return false
}

/** Shows the output of a program; true if it ended with 0. */
function command(program, args, { output, timeoutMs, env = {} } = {}) {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: root,
      stdio: ['ignore', output ? 'pipe' : 'inherit', 'inherit'],
      env: { ...process.env, ...env },
      ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
    })
    child.stdout?.setEncoding('utf8').on('data', (text) => {
      output.push(text)
      process.stdout.write(text)
    })
    const stop = () => child.kill('SIGTERM')
    process.on('SIGINT', stop).on('SIGTERM', stop)
    const end = (ok) => {
      process.off('SIGINT', stop).off('SIGTERM', stop)
      resolve(ok)
    }
    child.on('error', (error) => {
      process.stderr.write(`${program}: ${error.message}\n`)
      end(false)
    })
    child.on('close', (code, signal) => {
      // vitest hears the signal, ends its workers, and says so by its code.
      if (signal || child.killed)
        process.stderr.write(
          `${program} was stopped by ` +
            `${signal ?? 'SIGTERM'}${timeoutMs ? ` (it has ${timeoutMs / 60_000} minutes)` : ''}\n`,
        )
      end(code === 0)
    })
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = await main()
