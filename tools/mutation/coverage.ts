/**
 * Which tests reach which mutants: recorded once for each test file, and again when it or a source that it reaches has
 * changed. Kept in the cache by names, since numbers are of one build.
 */
import { createHash } from 'node:crypto'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isBelow } from './choose.ts'
import type { Mutant } from './find-mutants.ts'
import type { MutantTable } from './mutant-table.ts'
import { root } from './root.ts'
import type { Bench, TestRun } from './test-bench.ts'

const folder = join(root, '.cache', 'mutation', 'coverage')
const recordTimeoutMs = 600_000

/**
 * Folders below all that is tried, which reach none of it; suites whose servers are other processes, which run the
 * sources as they are; and suites that take minutes.
 */
const withoutSuites: readonly string[] = [
  'src/{base,catalog,cel,flowcontrol,kube,storage,watch}/**',
  'test/contract/**',
  'test/crash/**',
  'test/fuzz/**',
  'test/generated/**',
  'test/interop/**',
  'test/matrix/**',
  'test/model/**',
  'test/population/enforcement-model/**',
  'test/population/enforcement.property.test.ts',
  'test/replicas/**',
  'test/simulation/**',
  'test/toolchain/**',
  '**/*.browser.test.ts',
  '**/*.etcd.test.ts',
]

interface RecordedTest {
  readonly id: string
  readonly ms: number
  /** Places in `names`. */
  readonly reached: readonly number[]
}

interface Recorded {
  readonly digest: string
  readonly sources: Readonly<Record<string, string>>
  /** It fails or takes too long without any mutant: it can't tell anything. */
  readonly useless?: string
  readonly names: readonly string[]
  readonly tests: readonly RecordedTest[]
  readonly reached: readonly number[]
  readonly loaded: readonly number[]
}

/** What of one test file is to be run for a mutant. */
export interface Selection {
  readonly file: string
  readonly testIds: readonly string[]
  readonly ms: number
}

/** A test of one file, as one that may notice a mutant. */
interface Candidate {
  readonly file: string
  readonly id: string
  readonly ms: number
  /** How many mutants it reaches, in all and by source file. */
  readonly reaches: number
  readonly bySource: ReadonlyMap<string, number>
}

/** What a test file costs beside its tests: it is loaded again. */
const loadMs = 150

export class Coverage {
  readonly #table: MutantTable
  readonly #paths: readonly string[]
  readonly #digests = new Map<string, string>()
  readonly #byFile = new Map<string, Recorded>()
  readonly #candidates = new Map<number, Candidate[]>()
  /** Tests that run some function of the sources in a folder. */
  readonly #byFolder = new Map<string, Set<Candidate>>()

  /** @param paths the test files that are run, by file or folder; none = all */
  constructor(table: MutantTable, paths: readonly string[] = []) {
    this.#table = table
    this.#paths = paths
  }

  #testFiles(): string[] {
    const found = globSync(['src/**/*.test.ts', 'test/**/*.test.ts'], { cwd: root, exclude: [...withoutSuites] })
    return found.filter((file) => isBelow(file, this.#paths)).sort()
  }

  /**
   * The test files whose record is missing or older than they, or than one of these sources.
   * @param again those that told nothing, too: that may have been the machine's doing
   */
  stale(sources: ReadonlySet<string>, again = false): string[] {
    return this.#testFiles().filter((file) => {
      const recorded = this.#read(file)
      if (recorded === undefined || recorded.digest !== this.digestOf(file)) return true
      this.#byFile.set(file, recorded)
      if (again && recorded.useless !== undefined) return true
      return Object.entries(recorded.sources).some(([source, digest]) => {
        return sources.has(source) && digest !== this.digestOf(source)
      })
    })
  }

  async record(file: string, bench: Bench): Promise<Recorded> {
    const run = await bench.run(file, { timeoutMs: recordTimeoutMs, record: true })
    const recorded = this.#recordOf(file, run)
    const path = this.#pathOf(file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, JSON.stringify(recorded))
    this.#byFile.set(file, recorded)
    return recorded
  }

  #recordOf(file: string, { verdict, tests, reached, loaded }: TestRun): Recorded {
    const places = new Map<string, number>()
    const placeOf = (number: number): number => {
      const { name } = this.#table.all[number] as Mutant
      const place = places.get(name) ?? places.size
      places.set(name, place)
      return place
    }
    const rows = tests.map(({ id, ms, reached }) => ({ id, ms: Math.round(ms), reached: reached.map(placeOf) }))
    const failed = tests.find(({ state }) => state === 'failed')
    const recorded = { tests: rows, reached: reached.map(placeOf), loaded: loaded.map(placeOf) }
    const sources = new Set([...places.keys()].map((name) => this.#table.find(name)?.file ?? ''))
    return {
      digest: this.digestOf(file),
      sources: Object.fromEntries([...sources].map((source) => [source, this.digestOf(source)])),
      ...(verdict === 'passed' ? {} : { useless: `${verdict}: ${failed?.name ?? ''} ${failed?.error ?? ''}` }),
      names: [...places.keys()],
      ...recorded,
    }
  }

  /** Makes the answers of `of` from what was recorded. */
  index(): void {
    this.#candidates.clear()
    this.#byFolder.clear()
    for (const [file, recorded] of this.#byFile) {
      if (recorded.useless === undefined) this.#add(file, recorded)
    }
  }

  #add(file: string, { names, tests, reached: around }: Recorded): void {
    for (const { id, ms, reached } of tests) {
      const mutants = [...new Set([...reached, ...around])].flatMap((place) => {
        return this.#table.find(names[place] ?? '') ?? []
      })
      const bySource = new Map<string, number>()
      for (const { file: source } of mutants) bySource.set(source, (bySource.get(source) ?? 0) + 1)
      const candidate: Candidate = { file, id, ms, reaches: mutants.length, bySource }
      for (const mutant of mutants) {
        const number = this.#table.numberOf(mutant)
        const same = this.#candidates.get(number)
        if (same) same.push(candidate)
        else this.#candidates.set(number, [candidate])
      }
      // A test beside the sources may read what one of them holds and call no function of it.
      for (const folder of new Set([dirname(file), ...[...bySource.keys()].map((source) => dirname(source))])) {
        this.#byFolder.set(folder, (this.#byFolder.get(folder) ?? new Set()).add(candidate))
      }
    }
  }

  /** How many tests reach the mutant. */
  countOf(mutant: Mutant): number {
    return this.#reaching(mutant).tests.length
  }

  /**
   * The tests that are likely to notice the mutant, by file, within so much time: those of the source, those beside it,
   * and those that do little else than what it does. What happens when a module is loaded all tests of its folder may
   * notice.
   */
  of(mutant: Mutant, budgetMs: number): { readonly selections: readonly Selection[]; readonly loaded: boolean } {
    const { tests, loaded } = this.#reaching(mutant)
    const { file: source } = mutant
    const own = source.replace(/ts$/, '')
    const promise = ({ file, ms, reaches, bySource }: Candidate): number => {
      const share = (bySource.get(source) ?? 0.5) / Math.max(reaches, 1)
      const near = file.startsWith(own) ? 100 : dirname(file) === dirname(source) ? 10 : 1
      return (share * near) / (ms + loadMs)
    }
    const ranked = tests.map((test) => ({ test, rank: promise(test) })).sort((a, b) => b.rank - a.rank)
    const chosen = new Map<string, Candidate[]>()
    let left = budgetMs
    for (const { test } of ranked) {
      if (left <= 0) break
      const same = chosen.get(test.file)
      if (same) same.push(test)
      else chosen.set(test.file, [test])
      left -= test.ms + (same ? 0 : loadMs)
    }
    const selections = [...chosen].map(([file, some]) => ({ file, testIds: some.map(({ id }) => id), ms: sum(some) }))
    return { selections, loaded }
  }

  #reaching(mutant: Mutant): { readonly tests: readonly Candidate[]; readonly loaded: boolean } {
    const reached = this.#candidates.get(this.#table.numberOf(mutant))
    if (reached !== undefined && !mutant.loaded) return { tests: reached, loaded: false }
    const loaded = mutant.loaded || this.#isLoaded(mutant)
    return { tests: loaded ? [...(this.#byFolder.get(dirname(mutant.file)) ?? [])] : [], loaded }
  }

  #isLoaded({ name }: Mutant): boolean {
    for (const { names, loaded } of this.#byFile.values()) {
      const place = names.indexOf(name)
      if (place >= 0 && loaded.includes(place)) return true
    }
    return false
  }

  /** Files that can tell nothing, with the reason. */
  useless(): [file: string, reason: string][] {
    return [...this.#byFile].flatMap(([file, { useless }]) => (useless === undefined ? [] : [[file, useless]]))
  }

  digestOf(file: string): string {
    const known = this.#digests.get(file)
    if (known !== undefined) return known
    const digest = createHash('sha256')
      .update(readFileSync(join(root, file)))
      .digest('base64url')
      .slice(0, 12)
    this.#digests.set(file, digest)
    return digest
  }

  #pathOf(file: string): string {
    return join(folder, `${file}.json`)
  }

  #read(file: string): Recorded | undefined {
    try {
      return JSON.parse(readFileSync(this.#pathOf(file), 'utf8')) as Recorded
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
      throw error
    }
  }
}

const sum = (tests: readonly { readonly ms: number }[]): number => tests.reduce((total, { ms }) => total + ms, 0)
