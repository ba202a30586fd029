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

/** What a test file costs beside its tests: it is loaded again. */
const loadMs = 150

/** Tests that killed a mutant of a file lately: likely to kill the next one, too. */
export class Killers {
  readonly #bySource = new Map<string, Selection[]>()

  add(source: string, killer: Selection): void {
    const others = (this.#bySource.get(source) ?? []).filter(({ testIds }) => testIds?.[0] !== killer.testIds?.[0])
    this.#bySource.set(source, [killer, ...others].slice(0, 4))
  }

  /** Those that reach the mutant. */
  of({ file }: Mutant, selections: readonly Selection[]): Selection[] {
    return (this.#bySource.get(file) ?? []).filter((killer) =>
      selections.some(
        (selection) =>
          selection.file === killer.file && (selection.testIds?.includes(killer.testIds?.[0] ?? '') ?? true),
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
  const { selections, loaded } = coverage.of(mutant)
  const tried: string[] = []
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
    let left = budgetMs
    for (const selection of [...killers.of(mutant, selections), ...selections]) {
      if (selections.includes(selection)) {
        if (left <= 0) break
        left -= selection.ms + loadMs
        tried.push(selection.file)
      }
      const kill = await killOf(selection, bench, number, loaded)
      if (kill === undefined) continue
      if (kill.testId !== undefined) {
        killers.add(mutant.file, { file: selection.file, testIds: [kill.testId], ms: kill.ms })
      }
      const by = `${selection.file} > ${kill.name}`
      return result(kill.verdict === 'timeout' ? 'timeout' : 'killed', { by }, [selection.file])
    }
    const untried = selections.length - tried.length
    return result('survived', untried > 0 ? { untried } : {}, tried)
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
  const narrowed = testIds === undefined ? {} : { testIds }
  for (let attempt = 1; attempt <= 2; attempt++) {
    const run = await bench.run(file, { mutant, timeoutMs, ...narrowed })
    if (run.verdict === 'passed') return undefined
    const failed = run.tests.find(({ state }) => state === 'failed')
    if (loaded) await bench.restart()
    const again = failed === undefined ? narrowed : { testIds: [failed.id] }
    const check = await bench.run(file, { timeoutMs, ...again })
    if (loaded) await bench.restart()
    if (check.verdict === 'passed') {
      const found = failed === undefined ? {} : { testId: failed.id }
      return { verdict: run.verdict, name: failed?.name ?? run.verdict, ms: failed?.ms ?? ms, ...found }
    }
    await bench.restart()
  }
  return undefined
}
