/**
 * Runs test files of this repository with one mutant on, again and again in the same process, so that a run costs what
 * its tests cost. A run that doesn't end in time, or takes the process down with it, costs a new process.
 */
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vitest/config'
import type { TestCase, TestModule, Vitest } from 'vitest/node'
import { createVitest } from 'vitest/node'
import { allOff, instrument } from './instrument.ts'
import { LongLivedWorker } from './long-lived-worker.ts'
import type { MutantTable } from './mutant-table.ts'
import { root } from './root.ts'

/** Tests leave listeners and caches behind; a process is not used for longer than this. */
const runsPerProcess = 120
/** How often it is looked at whether a run takes too long. */
const lookMs = 250
/** Of a test that is told again. */
const firstLine = (text: string): string => text.split('\n', 1)[0]?.slice(0, 200) ?? ''

export type Verdict = 'passed' | 'failed' | 'timeout' | 'died'

export interface TestRun {
  readonly verdict: Verdict
  readonly tests: readonly TestOutcome[]
  /** Reached by the file outside of tests; only where coverage was recorded. */
  readonly reached: readonly number[]
  readonly loaded: readonly number[]
  readonly ms: number
}

export interface TestOutcome {
  readonly id: string
  readonly name: string
  readonly state: 'passed' | 'failed' | 'skipped' | 'pending'
  readonly ms: number
  readonly reached: readonly number[]
  readonly error?: string
}

export interface RunOptions {
  readonly mutant?: number
  readonly testIds?: readonly string[]
  readonly timeoutMs: number
  readonly record?: boolean
}

export interface Bench {
  run(file: string, options: RunOptions): Promise<TestRun>
  /** The next run begins with modules that were never loaded. */
  restart(): Promise<void>
}

export class TestBench implements Bench, AsyncDisposable {
  readonly #vitest: Vitest
  readonly #worker: LongLivedWorker
  #runs = 0

  private constructor(vitest: Vitest, worker: LongLivedWorker) {
    this.#vitest = vitest
    this.#worker = worker
  }

  /** @param patient with recordings, which say what is there: a test may take as long as in a run of its own */
  static async start(table: MutantTable, { patient = false }: { readonly patient?: boolean } = {}): Promise<TestBench> {
    const timeoutMs = patient ? 120_000 : 20_000
    const worker = new LongLivedWorker()
    const vitest = await createVitest(
      {
        root,
        watch: false,
        pool: { name: worker.name, createPoolWorker: (options) => worker.for(options) },
        runner: fileURLToPath(new URL('runner.ts', import.meta.url)),
        reporters: [{}],
        maxWorkers: 1,
        provide: { mutation: { active: allOff, record: false } },
        // The same cases of every property in each run, so that it is the mutant that makes the difference.
        env: { CI: '1' },
        passWithNoTests: true,
        // A test that waits for what a mutant keeps from happening shall not wait for long. Where a machine is too slow
        // for that, the same test fails without the mutant too, and kills nothing.
        testTimeout: timeoutMs,
        hookTimeout: timeoutMs,
        expect: { poll: { timeout: patient ? 30_000 : 5000, interval: 20 } },
        // What is built depends on the table; a build kept for later would have the numbers of another.
        fsModuleCache: false,
      },
      { plugins: [instrumentation(table)], clearScreen: false, logLevel: 'silent' },
    )
    return new TestBench(vitest, worker)
  }

  async run(file: string, { mutant = allOff, testIds, timeoutMs, record = false }: RunOptions): Promise<TestRun> {
    if (++this.#runs % runsPerProcess === 0) await this.restart()
    const project = this.#vitest.getRootProject()
    project.provide('mutation', { active: mutant, record })
    const path = join(root, file)
    const specification = project.createSpecification(
      path,
      testIds === undefined ? undefined : { testIds: [...testIds] },
    )
    const start = performance.now()
    let late = false
    const stalled = this.#worker.countStalls()
    const timer = setInterval(() => {
      // While it does not get a processor it is not late: other work may have the machine.
      if (late || performance.now() - start - stalled() <= timeoutMs) return
      late = true
      void this.#worker.end()
    }, lookMs)
    const { testModules, unhandledErrors } = await this.#vitest
      .runTestSpecifications([specification])
      .finally(() => clearInterval(timer))
    const ms = performance.now() - start
    // It still knows those of earlier runs.
    const module = testModules.find(({ moduleId }) => moduleId === path)
    const tests = module === undefined ? [] : [...module.children.allTests()].map(outcomeOf)
    const verdict = late ? 'timeout' : verdictOf(module, tests, unhandledErrors)
    if (verdict === 'timeout' || verdict === 'died') await this.#worker.end()
    const meta = module?.meta()
    return { verdict, tests, reached: meta?.reached ?? [], loaded: meta?.loaded ?? [], ms }
  }

  async restart(): Promise<void> {
    await this.#worker.end()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.end()
    await this.#vitest.close()
  }
}

function verdictOf(module: TestModule | undefined, tests: readonly TestOutcome[], errors: readonly unknown[]): Verdict {
  if (module === undefined || module.state() === 'pending' || module.state() === 'queued') return 'died'
  if (tests.some(({ state }) => state === 'failed') || module.errors().length > 0) return 'failed'
  return errors.length > 0 ? 'failed' : 'passed'
}

function outcomeOf(test: TestCase): TestOutcome {
  const { state, errors } = test.result()
  return {
    id: test.id,
    name: test.fullName,
    state,
    ms: test.diagnostic()?.duration ?? 0,
    reached: test.meta().reached ?? [],
    ...(errors?.[0] === undefined ? {} : { error: firstLine(errors[0].message) }),
  }
}

/** For vite: each file that has mutants in the table is loaded with all of them in it. */
function instrumentation(table: MutantTable): Plugin {
  return {
    name: 'mutation',
    enforce: 'pre',
    transform(code, id) {
      const file = relative(root, id)
      const mutants = table.of(file)
      if (mutants.length === 0) return undefined
      if (code !== readFileSync(id, 'utf8')) throw new Error(`${id} is not what its file says`)
      return instrument(code, mutants, (mutant) => table.numberOf(mutant))
    },
  }
}
