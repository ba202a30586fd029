/** The tool behind `node tools/mutate.ts`: what it changes, how a change is switched on, what it believes. */
import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseSync } from 'rolldown/utils'
import { afterEach, describe, expect, test } from 'vitest'
import { changedLines, folderOf, linesOfDiff, sampleOf } from '../../tools/mutation/choose.ts'
import type { Coverage } from '../../tools/mutation/coverage.ts'
import { faultsOf, readExcuses } from '../../tools/mutation/excuses.ts'
import { findMutants, type Mutant } from '../../tools/mutation/find-mutants.ts'
import { allOff, instrument, switches } from '../../tools/mutation/instrument.ts'
import { MutantTable } from '../../tools/mutation/mutant-table.ts'
import { reportOf } from '../../tools/mutation/report.ts'
import { type Result, Results } from '../../tools/mutation/results.ts'
import type { Bench, RunOptions, TestRun } from '../../tools/mutation/test-bench.ts'
import { Killers, tryMutant } from '../../tools/mutation/try-mutant.ts'

afterEach(() => {
  switches().active = allOff
  switches().asked = undefined
})

const changesOf = (code: string): string[] =>
  findMutants('src/a.ts', code).map(({ name }) => name.split('\t').slice(2).join('\t'))

describe('what is changed', () => {
  test.each<{ name: string; code: string; changes: string[] }>([
    {
      name: 'a condition, each operand, and a statement that hangs on it',
      code: 'if (a && b) c()',
      changes: ['a && b → true', 'a && b → false', 'a && b → (a)', 'a && b → (b)', 'c() → (nothing)'],
    },
    {
      name: 'the boundary of a comparison',
      code: 'const x = a < b',
      changes: ['a < b → (a) <= (b)', 'a < b → (a) >= (b)'],
    },
    { name: 'equality', code: 'const x = a === b', changes: ['a === b → (a) !== (b)'] },
    { name: 'a default', code: 'const x = a ?? b', changes: ['a ?? b → (a)', 'a ?? b → (b)'] },
    {
      name: 'a negation and a boolean',
      code: 'const x = [!a, true]',
      changes: ['[!a, true] → []', '!a → (a)', 'true → false'],
    },
    {
      name: 'texts, with something and without',
      code: "f('a', '', `b${c}`)",
      changes: ["f('a', '', `b${c}`) → (nothing)", "'a' → ''", "'' → 'mutant'", "`b${c}` → ''"],
    },
    {
      name: 'arithmetic, but no texts put together',
      code: "const x = a + b; const y = 'a' + b",
      changes: ['a + b → (a) - (b)', "'a' → ''"],
    },
    {
      name: 'each question mark of a chain',
      code: 'const x = a?.b?.[c]',
      changes: ['a?.b?.[c] → a?.b[c]', 'a?.b?.[c] → a.b?.[c]'],
    },
    {
      name: 'some and every, and a filter',
      code: 'const x = a.filter(b).some(c)',
      changes: ['a.filter(b).some(c) → a.filter(b).every(c)', 'a.filter(b) → a'],
    },
    {
      name: 'returns, throws and jumps',
      code: 'function f() { for (;;) { if (a) break; throw b } }',
      changes: ['a → true', 'a → false', 'break; → (nothing)', 'throw b → (nothing)'],
    },
    { name: 'a loop is left out, not made endless', code: 'while (a) b()', changes: ['a → false', 'b() → (nothing)'] },
  ])('$name', ({ code, changes }) => expect(changesOf(code)).toEqual(changes))

  test.each<{ name: string; code: string }>([
    { name: 'types', code: "type A = 'a' | 'b'; interface B { c: 'd' }; let x: 'e'" },
    { name: 'imports and exports', code: "import { a } from 'b'; export { c } from 'd'; export * from 'e'" },
    { name: 'names of properties', code: "const x = { 'a': b, c: d }; const y = x.length" },
    { name: 'what is only logged', code: "log.info({ a: 'b' }, 'c'); this.#log?.warn('d')" },
    {
      name: 'what happens at the end anyway',
      code: 'for (;;) { continue } function f() { return } function g() { return undefined }',
    },
    { name: 'methods that every object has', code: 'const x = a.toString()' },
  ])('$name stay as they are', ({ code }) => expect(changesOf(code)).toEqual([]))

  test('a mutant is named by its function and text, so that it keeps its name when it moves', () => {
    const code = 'class A { b() { return c === d } }\nconst e = () => c === d && c === d'
    const names = findMutants('src/a.ts', code).map(({ name }) => name)
    expect(names).toContain('src/a.ts\tb\tc === d → (c) !== (d)')
    expect(names).toContain('src/a.ts\te\tc === d → (c) !== (d)')
    expect(names).toContain('src/a.ts\te\tc === d → (c) !== (d) (2)')
    expect(new Set(names).size).toBe(names.length)
    expect(findMutants('src/a.ts', `\n\n${code}`).map(({ name }) => name)).toEqual(names)
  })

  test('what runs when a module is loaded is told from what runs when it is called', () => {
    const loaded = findMutants('src/a.ts', 'const a = ["b"]; class C { static d = ["e"]; f = ["g"] }').map((mutant) => [
      mutant.name.split('\t').at(-1),
      mutant.loaded,
    ])
    expect(loaded).toEqual([
      ['["b"] → []', true],
      ['"b" → \'\'', true],
      ['["e"] → []', true],
      ['"e" → \'\'', true],
      ['["g"] → []', false],
      ['"g" → \'\'', false],
    ])
  })
})

describe('one build with all mutants', () => {
  test('it can be parsed, of every file that is tried', () => {
    const table = MutantTable.read()
    expect(table.all.length).toBeGreaterThan(5000)
    for (const [file, mutants] of Map.groupBy(table.all, ({ file }) => file)) {
      const text = readFileSync(file, 'utf8')
      const { errors } = parseSync(
        file,
        instrument(text, mutants, (mutant) => table.numberOf(mutant)),
      )
      expect([file, errors]).toEqual([file, []])
    }
  })

  const code = `
    interface Item { cost: number; free?: boolean }
    export function price(items: readonly Item[], limit?: { most: number }): number | string {
      let total = 0
      for (const { cost, free } of items) {
        if (cost < 0) throw new Error('negative')
        if (free === true) continue
        total += cost
      }
      if (limit !== undefined && total > limit?.most) return 'too much'
      return total
    }`
  const mutants = findMutants('src/price.ts', code)
  const load = async (): Promise<(items: object[], limit?: object) => unknown> => {
    const built = stripTypeScriptTypes(instrument(code, mutants, (mutant) => mutants.indexOf(mutant)))
    const { price } = (await import(`data:text/javascript,${encodeURIComponent(built)}`)) as { price: never }
    return price
  }
  const given = [{ cost: 1 }, { cost: 2, free: true }, { cost: 0 }]

  test('with all switches off it does what the source says', async () => {
    const price = await load()
    expect(price(given)).toBe(1)
    expect(price(given, { most: 0 })).toBe('too much')
    expect(() => price([{ cost: -1 }])).toThrow('negative')
  })

  test.each<{ change: string; result: unknown }>([
    { change: 'cost < 0 → true', result: 'threw negative' },
    { change: 'cost < 0 → (cost) <= (0)', result: 'threw negative' },
    { change: 'free === true → false', result: 3 },
    { change: 'true → false', result: 3 },
    { change: 'continue → (nothing)', result: 3 },
    { change: 'total += cost → (nothing)', result: 0 },
    { change: 'total += cost → total -= (cost)', result: -1 },
    { change: 'limit !== undefined && total > limit?.most → (total > limit?.most)', result: 1 },
    { change: 'limit !== undefined && total > limit?.most → true', result: 'too much' },
    { change: 'return total → (nothing)', result: undefined },
  ])('$change', async ({ change, result }) => {
    const price = await load()
    switches().active = mutants.findIndex(({ name }) => name === `src/price.ts\tprice\t${change}`)
    expect(switches().active).not.toBe(-1)
    expect(outcome(() => price(given))).toEqual(result)
    switches().active = allOff
    expect(price(given)).toBe(1)
  })

  test('it notes which switches a call came past', async () => {
    const price = await load()
    const asked = new Set<number>()
    switches().asked = asked
    price([])
    const names = [...asked].map((number) => mutants[number]?.name.split('\t').at(-1))
    expect(names).toContain('return total → (nothing)')
    expect(names).not.toContain('total += cost → (nothing)')
  })

  const condition = 'limit !== undefined && total > limit?.most'
  test.each<{ name: string; limit: object | undefined; differ: string[] }>([
    {
      name: 'nothing on the left',
      limit: undefined,
      differ: [`${condition} → true`, `${condition} → (total > limit?.most)`],
    },
    {
      name: 'something on the left',
      limit: { most: 3 },
      differ: [`${condition} → true`, `${condition} → (limit !== undefined)`],
    },
    {
      name: 'both sides',
      limit: { most: 0 },
      differ: [`${condition} → false`, `${condition} → (limit !== undefined)`],
    },
  ])('of changes that depend on a value it notes those that make a difference: $name', async ({ limit, differ }) => {
    const price = await load()
    const asked = new Set<number>()
    switches().asked = asked
    price(given, limit)
    const noted = mutants.filter((mutant, number) => mutant.name.includes(`\t${condition} →`) && asked.has(number))
    expect(noted.map(({ name }) => name.split('\t').at(-1))).toEqual(differ)
  })

  test('a chain differs from one without its question mark where there is nothing', async () => {
    const chain = findMutants('src/a.ts', 'export const f = (a) => a?.b?.c')
    const built = instrument('export const f = (a) => a?.b?.c', chain, (mutant) => chain.indexOf(mutant))
    const { f } = (await import(`data:text/javascript,${encodeURIComponent(built)}`)) as { f: (a?: object) => unknown }
    const noted = (a?: object): (string | undefined)[] => {
      const asked = new Set<number>()
      switches().asked = asked
      f(a)
      return chain.filter((_, number) => asked.has(number)).map(({ name }) => name.split(' → ').at(-1))
    }
    expect(noted({ b: { c: 1 } })).toEqual([])
    expect(noted({})).toEqual(['a?.b.c'])
    expect(noted()).toEqual(['a?.b.c', 'a.b?.c'])
  })
})

function outcome(call: () => unknown): unknown {
  try {
    return call()
  } catch (error) {
    return `threw ${error instanceof Error ? error.message : ''}`
  }
}

const [first, second] = findMutants('src/authz/authz.ts', 'export const f = (a, b) => a < b') as [Mutant, Mutant]
const result = (status: Result['status'], more: Partial<Result> = {}): Result => ({
  name: 'a',
  status,
  source: 's1',
  tests: { 'a.test.ts': 't1' },
  ms: 1,
  ...more,
})

const survivor = result('survived', { reaching: 3, tried: 2 })

describe('what is remembered', () => {
  const path = (): string => join(mkdtempSync(join(tmpdir(), 'mutation-')), 'results.jsonl')
  const sameTests = (file: string): string => (file === 'a.test.ts' ? 't1' : 't2')

  test('a run goes on where another was stopped, in the middle of a line', () => {
    const file = path()
    const before = new Results(file)
    before.add(survivor)
    before.add(result('killed'))
    appendFileSync(file, '{"name":"b","stat')
    expect(new Results(file).find('a', 's1', 3, sameTests)).toEqual(result('killed'))
    expect(new Results(file).find('b', 's1', 3, sameTests)).toBeUndefined()
  })

  test.each<{ name: string; known: Result; source?: string; reaching?: number; digest?: string; holds: boolean }>([
    { name: 'a kill holds', known: result('killed'), holds: true },
    { name: 'a kill ends with its source', known: result('killed'), source: 's2', holds: false },
    { name: 'a kill ends with the test that killed', known: result('killed'), digest: 't2', holds: false },
    { name: 'a kill is not undone by more tests', known: result('killed'), reaching: 7, holds: true },
    { name: 'a survivor stays one, also if its time was up', known: survivor, holds: true },
    { name: 'a survivor is tried when another test reaches it', known: survivor, reaching: 4, holds: false },
    { name: 'a survivor is tried when a test has changed', known: survivor, digest: 't2', holds: false },
    { name: 'what no test reached is tried when one does', known: result('not reached', { tests: {} }), holds: false },
  ])('$name', ({ known, source = 's1', reaching = 3, digest = 't1', holds }) => {
    const results = new Results(path())
    results.add(known)
    expect(results.find('a', source, reaching, () => digest)).toEqual(holds ? known : undefined)
  })
})

describe('what is believed', () => {
  const coverage = {
    of: () => ({ selections: [{ file: 'a.test.ts', testIds: ['1', '2'], ms: 10 }], loaded: false }),
    countOf: () => 3,
    digestOf: (file: string) => file,
  } as unknown as Coverage
  const failed: TestRun['tests'] = [{ id: '2', name: 'says no', state: 'failed', ms: 5, reached: [] }]

  /** `verdicts` of the runs with the mutant on and with it off. */
  async function tried(on: TestRun['verdict'][], off: TestRun['verdict'][]): Promise<[Result, string[]]> {
    const runs: string[] = []
    const bench: Bench = {
      async run(_, { mutant, testIds }: RunOptions) {
        const verdict = (mutant === undefined ? off : on).shift() ?? 'passed'
        runs.push(`${mutant === undefined ? 'off' : 'on'} ${testIds?.join()}: ${verdict}`)
        return { verdict, tests: verdict === 'failed' ? failed : [], reached: [], loaded: [], ms: 1 }
      },
      async restart() {
        runs.push('restart')
      },
    }
    return [await tryMutant(first, bench, coverage, new Killers(), { number: 7, budgetMs: 1000 }), runs]
  }

  test('a test kills that fails with the mutant on and passes with it off', async () => {
    const [{ status, by }, runs] = await tried(['failed'], ['passed'])
    expect([status, by]).toEqual(['killed', 'a.test.ts > says no'])
    expect(runs).toEqual(['on 1,2: failed', 'off 2: passed'])
  })

  test('one that fails either way kills nothing, also in a new process', async () => {
    const [{ status }, runs] = await tried(['failed', 'failed'], ['failed', 'failed'])
    expect(status).toBe('survived')
    const [on, off] = ['on 1,2: failed', 'off 2: failed']
    expect(runs).toEqual([on, off, 'restart', on, 'restart', off, 'restart'])
  })

  test('what an earlier mutant broke is told from what this one breaks', async () => {
    const [{ status }] = await tried(['failed', 'passed'], ['failed'])
    expect(status).toBe('survived')
  })

  test('what the mutant itself breaks for tests to come is a kill', async () => {
    const [{ status }, runs] = await tried(['failed', 'failed'], ['failed', 'passed'])
    expect(status).toBe('killed')
    expect(runs.slice(-3)).toEqual(['on 1,2: failed', 'restart', 'off 2: passed'])
  })

  test('a run without an end kills, if there is one with the mutant off', async () => {
    const [{ status }] = await tried(['timeout', 'timeout'], ['passed', 'passed'])
    expect(status).toBe('timeout')
  })

  test('one that took too long once, on a busy machine, does not', async () => {
    const [{ status, reaching, tried: run }] = await tried(['timeout', 'passed'], ['passed'])
    expect([status, reaching, run]).toEqual(['survived', 3, 2])
  })
})

describe('what is chosen', () => {
  const { all } = MutantTable.read()

  test('the same seed chooses the same sample, another one another', () => {
    const names = (seed: number): string[] => sampleOf(all, 300, seed).map(({ name }) => name)
    expect(names(1)).toEqual(names(1))
    expect(names(1)).not.toEqual(names(2))
    expect(new Set(names(1)).size).toBe(300)
  })

  test('each folder has its share', () => {
    const sample = Map.groupBy(sampleOf(all, 300, 1), folderOf)
    for (const [folder, mutants] of Map.groupBy(all, folderOf)) {
      const share = (mutants.length * 300) / all.length
      expect(Math.abs((sample.get(folder)?.length ?? 0) - share), folder).toBeLessThan(1)
    }
  })

  test('code that goes elsewhere changes no other choice', () => {
    const authz = (mutants: readonly Mutant[]): string[] =>
      sampleOf(
        mutants.filter(({ file }) => file.startsWith('src/authz')),
        50,
        1,
      ).map(({ name }) => name)
    expect(authz(all.filter(({ file }) => !file.startsWith('src/authn')))).toEqual(authz(all))
  })

  test('what others did on main meanwhile is no change of a branch', () => {
    const folder = mkdtempSync(join(tmpdir(), 'changed-lines-'))
    const git = (...args: string[]): unknown =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: folder })
    const commit = (file: string, code: string): void => {
      writeFileSync(join(folder, 'src', file), code)
      git('add', '.')
      git('commit', '-q', '-m', file)
    }
    mkdirSync(join(folder, 'src'))
    git('init', '-q', '-b', 'main')
    commit('theirs.ts', 'one\ntwo\n')
    git('checkout', '-q', '-b', 'mine')
    commit('mine.ts', 'one\n')
    git('checkout', '-q', 'main')
    commit('theirs.ts', 'one\n')
    git('checkout', '-q', 'mine')

    expect(changedLines('main', folder)).toEqual(new Map([['src/mine.ts', new Set([1])]]))
  })

  test('the lines that a commit changes are read from a diff', () => {
    const diff = [
      'diff --git a/src/a.ts b/src/a.ts',
      '--- a/src/a.ts',
      '+++ b/src/a.ts',
      '@@ -3 +3 @@ function a()',
      '@@ -9,2 +10,3 @@',
      '@@ -20,2 +21,0 @@',
      '+++ b/src/a.test.ts',
      '@@ -1 +1 @@',
    ].join('\n')
    expect(linesOfDiff(diff)).toEqual(new Map([['src/a.ts', new Set([3, 10, 11, 12])]]))
  })
})

describe('what is said', () => {
  test('too few killed, too many excused, and an excuse for one that was killed are faults', () => {
    const results = new Map([
      [first.name, result('survived')],
      [second.name, result('killed', { by: 'a test' })],
    ])
    const excuses = new Map([[second.name, 'no reason']])
    const { survivors, faults, table } = reportOf([first, second], results, excuses)
    expect(survivors).toEqual(['survived\tsrc/authz/authz.ts:1\tf\ta < b → (a) <= (b)'])
    expect(faults).toEqual([`excused, but killed by a test\t${second.name}`, 'less than 90 % were killed'])
    expect(table).toMatch(/^all +2 +2 +1 +0 +1 +0 +0 +50\.0$/m)
  })

  test('every excuse is about a mutant that is there, has a reason, and stands where it would be looked for', () => {
    const text = readFileSync('tools/mutants-excused.tsv', 'utf8')
    const lines = text.split('\n').filter((line) => line !== '')
    expect(lines).toEqual(lines.toSorted())
    expect(faultsOf(readExcuses(text), MutantTable.read())).toEqual([])
  })

  test('an excuse without a reason is refused', () => {
    expect(() => readExcuses('a\tb\tc\t\n')).toThrow('not file, function, change and reason')
  })
})
