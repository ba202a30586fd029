/**
 * One mutant against the tests that reach it, until one fails. A failure counts when the same test passes right after
 * with the mutant off: what an earlier mutant broke in the process, or a test that fails now and then, kills nothing.
 */
import type { Coverage, Selection } from './coverage.ts'
import type { Mutant } from './find-mutants.ts'
import type { Result, Status } from './results.ts'
import type { Bench, TestRun } from './test-bench.ts'

export interface TryOptions {
  readonly number: number
  /** How long tests may run for one mutant, as they were recorded, before it counts as survived. */
  readonly budgetMs: number
}

/** Tests that killed a mutant of a file lately: likely to kill the next one, too. */
export class Killers {
  readonly #bySource = new Map<string, Selection[]>()

  add(source: string, killer: Selection): void {
    const others = (this.#bySource.get(source) ?? []).filter(({ testIds }) => testIds[0] !== killer.testIds[0])
    this.#bySource.set(source, [killer, ...others].slice(0, 4))
  }

  /** Those that reach the mutant. */
  of({ file }: Mutant, selections: readonly Selection[]): Selection[] {
    return (this.#bySource.get(file) ?? []).filter((killer) =>
      selections.some(
        (selection) => selection.file === killer.file && selection.testIds.includes(killer.testIds[0] ?? ''),
      ),
    )
  }
}

export async function tryMutant(
  mutant: Mutant,
  bench: Bench,
  coverage: Coverage,
  killers: Killers,
  { number, budgetMs }: TryOptions,
): Promise<Result> {
  const start = performance.now()
  const { selections, loaded } = coverage.of(mutant, budgetMs)
  const result = (status: Status, more: Partial<Result>, files: readonly string[]): Result => ({
    name: mutant.name,
    status,
    source: coverage.digestOf(mutant.file),
    tests: Object.fromEntries(files.map((file) => [file, coverage.digestOf(file)])),
    ...more,
    ms: Math.round(performance.now() - start),
  })
  if (selections.length === 0) return result('not reached', {}, [])
  // What a module does when it is loaded happens once in a process.
  if (loaded) await bench.restart()
  try {
    for (const selection of [...killers.of(mutant, selections), ...selections]) {
      const kill = await killOf(selection, bench, number, loaded)
      if (kill === undefined) continue
      const { file } = selection
      if (kill.testId !== undefined) killers.add(mutant.file, { file, testIds: [kill.testId], ms: kill.ms })
      return result(kill.verdict === 'timeout' ? 'timeout' : 'killed', { by: `${file} > ${kill.name}` }, [file])
    }
    const tried = selections.reduce((sum, { testIds }) => sum + testIds.length, 0)
    const files = selections.map(({ file }) => file)
    return result('survived', { reaching: coverage.countOf(mutant), tried }, files)
  } finally {
    if (loaded) await bench.restart()
  }
}

interface Kill {
  readonly verdict: TestRun['verdict']
  readonly name: string
  readonly testId?: string
  readonly ms: number
}

async function killOf(
  { file, testIds, ms }: Selection,
  bench: Bench,
  mutant: number,
  loaded: boolean,
): Promise<Kill | undefined> {
  const timeoutMs = 15_000 + 4 * ms
  for (let attempt = 1; attempt <= 2; attempt++) {
    const run = await bench.run(file, { mutant, timeoutMs, testIds })
    if (run.verdict === 'passed') return undefined
    const failed = run.tests.find(({ state }) => state === 'failed')
    // The mutant may have broken what the check needs, too.
    if (loaded || attempt === 2) await bench.restart()
    const check = await bench.run(file, { timeoutMs, testIds: failed === undefined ? testIds : [failed.id] })
    if (loaded) await bench.restart()
    // That a run took too long once may be the machine's doing.
    if (check.verdict === 'passed' && (run.verdict === 'failed' || attempt === 2)) {
      const found = failed === undefined ? {} : { testId: failed.id }
      return { verdict: run.verdict, name: failed?.name ?? run.verdict, ms: failed?.ms ?? ms, ...found }
    }
    await bench.restart()
  }
  return undefined
}
