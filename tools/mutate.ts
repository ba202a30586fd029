/**
 * Mutation testing: changes the code in thousands of small ways, one at a time, and says which of them no test notices.
 * `--help` tells how to use it, CONTRIBUTING.md what is expected, ADR 0045 how it works and why it is our own.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { refuseWrongFlag } from '../test/support/runner-flags.ts'
import { changedLines, isBelow, sampleOf } from './mutation/choose.ts'
import { Coverage } from './mutation/coverage.ts'
import { excusesFile, faultsOf, readExcuses } from './mutation/excuses.ts'
import type { Mutant } from './mutation/find-mutants.ts'
import { MutantTable } from './mutation/mutant-table.ts'
import { reportOf } from './mutation/report.ts'
import { type Result, Results } from './mutation/results.ts'
import { root } from './mutation/root.ts'
import { TestBench } from './mutation/test-bench.ts'
import { Killers, tryMutant } from './mutation/try-mutant.ts'

const help = `Usage: node tools/mutate.ts [options] [folder or file ...]

Changes what decides rights and limits in thousands of small ways, one at a time, and runs the tests that come there.
What no test notices is listed. Goes on where it was stopped: results are kept in .cache/mutation/.

Options:
  --sample N       so many of all mutants, each folder its share
  --seed N         which ones: the same seed, the same sample (default 1)
  --except PATH    leave out what is below (may be given several times)
  --with PATH      only these test files, or those below (likewise): what they do not notice is tried again without it
  --changed BASE   only lines that are not as in this commit, in any file of src/
  --minutes N      stop after so long; the next run goes on
  --workers N      processes that run tests (default 2)
  --budget N       seconds of tests for one mutant before it counts as survived (default 10)
  --patient        tests may wait as long as in a run of their own: on a busy machine
  --again          try those again for which the time was too short, and test files that told nothing
  --report         run nothing: print what is known
  --help

Examples:
  node tools/mutate.ts src/authz src/http/request-info.ts
  node tools/mutate.ts src/authn/oidc.ts --with src/authn            while tests of one module are written
  node tools/mutate.ts --sample 1500 --seed 1 --except src/authz     a stratified sample of the rest
  node tools/mutate.ts --changed main                                what a branch changes
  node tools/mutate.ts --minutes 120                                 nightly: all of it, in several nights

Fails if less than 90 % of those tried were killed, or if more than 3 % are excused (${excusesFile}).
`

interface Options {
  readonly paths: readonly string[]
  readonly sample: number | undefined
  readonly seed: number
  readonly except: readonly string[]
  readonly with: readonly string[]
  readonly changed: string | undefined
  readonly minutes: number | undefined
  readonly workers: number
  readonly budgetMs: number
  readonly patient: boolean
  readonly again: boolean
  readonly report: boolean
}

function readOptions(args: string[]): Options | undefined {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      sample: { type: 'string' },
      seed: { type: 'string', default: '1' },
      except: { type: 'string', multiple: true, default: [] },
      with: { type: 'string', multiple: true, default: [] },
      changed: { type: 'string' },
      minutes: { type: 'string' },
      workers: { type: 'string', default: '2' },
      budget: { type: 'string', default: '10' },
      patient: { type: 'boolean', default: false },
      again: { type: 'boolean', default: false },
      report: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  return {
    paths: positionals,
    sample: values.sample === undefined ? undefined : numberOf('--sample', values.sample),
    seed: numberOf('--seed', values.seed),
    except: values.except,
    with: values.with,
    changed: values.changed,
    minutes: values.minutes === undefined ? undefined : numberOf('--minutes', values.minutes),
    workers: numberOf('--workers', values.workers),
    budgetMs: numberOf('--budget', values.budget) * 1000,
    patient: values.patient,
    again: values.again,
    report: values.report,
  }
}

function numberOf(flag: string, text: string): number {
  const number = Number(text)
  if (text === '' || !Number.isFinite(number) || number < 0) throw new Error(`${flag} is not a number: ${text}`)
  return number
}

function choose({ paths, except, changed, sample, seed }: Options): { table: MutantTable; chosen: Mutant[] } {
  const lines = changed === undefined ? undefined : changedLines(changed)
  const table = MutantTable.read([...(lines?.keys() ?? []), ...paths.filter((path) => path.endsWith('.ts'))])
  const wanted = table.all.filter(
    ({ file, line }) =>
      isBelow(file, paths) &&
      (except.length === 0 || !isBelow(file, except)) &&
      (lines === undefined || lines.get(file)?.has(line) === true),
  )
  if (wanted.length === 0 && paths.length > 0) throw new Error(`there is nothing to change in ${paths.join(', ')}`)
  return { table, chosen: sample === undefined ? wanted : sampleOf(wanted, sample, seed) }
}

async function main(options: Options): Promise<boolean> {
  const { table, chosen } = choose(options)
  const excuses = readExcuses()
  const stale = faultsOf(excuses, table)
  if (stale.length > 0) throw new Error(`${excusesFile}:\n${stale.join('\n')}`)
  const session = new Session(table, chosen, options)
  if (!options.report) await session.run()
  const { table: text, survivors, faults } = reportOf(chosen, session.known(), excuses)
  for (const line of survivors) console.log(line)
  console.log(`\n${text}`)
  for (const fault of faults) console.log(fault)
  return faults.length === 0
}

/** What several workers take from: first test files to be recorded, then mutants to be tried. */
class Session {
  readonly #table: MutantTable
  readonly #chosen: readonly Mutant[]
  readonly #options: Options
  readonly #coverage: Coverage
  readonly #results = new Results(join(root, '.cache', 'mutation', 'results.jsonl'))
  readonly #killers = new Killers()
  readonly #end: number
  readonly #stale: readonly string[]

  constructor(table: MutantTable, chosen: readonly Mutant[], options: Options) {
    this.#table = table
    this.#chosen = chosen
    this.#options = options
    this.#coverage = new Coverage(table, options.with)
    this.#end = options.minutes === undefined ? Number.POSITIVE_INFINITY : Date.now() + options.minutes * 60_000
    this.#stale = this.#coverage.stale(new Set(chosen.map(({ file }) => file)), options.again)
    this.#coverage.index()
  }

  async run(): Promise<void> {
    if (this.#stale.length > 0) await this.#withBenches(true, (benches) => this.#record(benches))
    await this.#withBenches(this.#options.patient, (benches) => this.#try(benches))
  }

  async #withBenches(patient: boolean, use: (benches: readonly TestBench[]) => Promise<void>): Promise<void> {
    await using opened = new AsyncDisposableStack()
    const benches: TestBench[] = []
    for (let n = 0; n < this.#options.workers; n++) {
      benches.push(opened.use(await TestBench.start(this.#table, { patient })))
    }
    await use(benches)
  }

  async #record(benches: readonly TestBench[]): Promise<void> {
    const { length } = this.#stale
    console.log(`records which mutants ${length} test files reach`)
    await this.#share('test files', this.#stale, benches, async (file, bench) => {
      const { useless } = await this.#coverage.record(file, bench)
      if (useless !== undefined) console.log(`tells nothing: ${file}: ${useless}`)
    })
    this.#coverage.index()
  }

  async #try(benches: readonly TestBench[]): Promise<void> {
    const open = this.#chosen.filter((mutant) => {
      const result = this.#find(mutant)
      return result === undefined || (this.#options.again && (result.tried ?? 0) < (result.reaching ?? 0))
    })
    console.log(`${this.#chosen.length} mutants, of which ${open.length} are to be tried`)
    await this.#share('mutants', open, benches, async (mutant, bench) => {
      const number = this.#table.numberOf(mutant)
      const { budgetMs } = this.#options
      this.#results.add(await tryMutant(mutant, bench, this.#coverage, this.#killers, { number, budgetMs }))
    })
  }

  async #share<T>(
    what: string,
    all: readonly T[],
    benches: readonly TestBench[],
    work: (one: T, bench: TestBench) => Promise<void>,
  ): Promise<void> {
    const rest = all[Symbol.iterator]()
    let done = 0
    await Promise.all(
      benches.map(async (bench) => {
        for (const one of { [Symbol.iterator]: () => rest }) {
          if (Date.now() > this.#end) break
          await work(one, bench)
          if (++done % 50 === 0) console.log(`${new Date().toISOString()} ${done} of ${all.length} ${what}`)
        }
      }),
    )
  }

  #find(mutant: Mutant): Result | undefined {
    const source = this.#coverage.digestOf(mutant.file)
    const reaching = this.#coverage.countOf(mutant)
    return this.#results.find(mutant.name, source, reaching, (file) => this.#coverage.digestOf(file))
  }

  known(): Map<string, Result> {
    return new Map(
      this.#chosen.flatMap((mutant) => {
        const result = this.#find(mutant)
        return result === undefined ? [] : [[mutant.name, result] as const]
      }),
    )
  }
}

try {
  const options = readOptions(process.argv.slice(2))
  if (options === undefined) console.log(help)
  else process.exitCode = (await main(options)) ? 0 : 1
} catch (error) {
  refuseWrongFlag(error)
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
