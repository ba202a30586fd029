/**
 * Which tests reach which mutants: recorded once for each test file, and again when it or a source that it reaches has
 * changed. Kept in the cache by names, since numbers are of one build.
 */
import { createHash } from 'node:crypto'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Mutant } from './find-mutants.ts'
import type { MutantTable } from './mutant-table.ts'
import { root } from './root.ts'
import type { Bench, TestRun } from './test-bench.ts'

const folder = join(root, '.cache', 'mutation', 'coverage')
const recordTimeoutMs = 240_000

/**
 * Folders below all that is tried, which reach none of it; suites whose servers are other processes, which run the
 * sources as they are; and suites that take minutes.
 */
const withoutSuites: readonly string[] = [
  'src/{base,catalog,cel,flowcontrol,kube,storage,watch}/**',
  'test/contract/**',
  'test/crash/**',
  'test/generated/**',
  'test/interop/**',
  'test/matrix/**',
  'test/model/**',
  'test/population/enforcement.property.test.ts',
  'test/replicas/**',
  'test/toolchain/**',
  'test/upstream/**',
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
  /** Undefined = all of its tests. */
  readonly testIds: readonly string[] | undefined
  readonly ms: number
}

export class Coverage {
  readonly #table: MutantTable
  readonly #digests = new Map<string, string>()
  readonly #byFile = new Map<string, Recorded>()
  readonly #selections = new Map<number, Selection[]>()
  /** Test files that run some function of a source file, with all that they have. */
  readonly #bySource = new Map<string, Selection[]>()

  constructor(table: MutantTable) {
    this.#table = table
  }

  static testFiles(): string[] {
    return globSync(['src/**/*.test.ts', 'test/**/*.test.ts'], { cwd: root, exclude: [...withoutSuites] }).sort()
  }

  /** The test files whose record is missing or older than they, or than one of these sources. */
  stale(sources: ReadonlySet<string>): string[] {
    return Coverage.testFiles().filter((file) => {
      const recorded = this.#read(file)
      if (recorded === undefined || recorded.digest !== this.digestOf(file)) return true
      this.#byFile.set(file, recorded)
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
    this.#selections.clear()
    this.#bySource.clear()
    for (const [file, recorded] of this.#byFile) {
      if (recorded.useless === undefined) this.#add(file, recorded)
    }
  }

  #add(file: string, { names, tests, reached }: Recorded): void {
    const whole: Selection = { file, testIds: undefined, ms: sum(tests) }
    const byPlace = new Map<number, RecordedTest[]>()
    for (const test of tests) {
      for (const place of test.reached) {
        const same = byPlace.get(place)
        if (same) same.push(test)
        else byPlace.set(place, [test])
      }
    }
    const around = new Set(reached)
    const sources = new Set<string>()
    for (const [place, name] of names.entries()) {
      const mutant = this.#table.find(name)
      const reaching = byPlace.get(place)
      if (mutant === undefined || (reaching === undefined && !around.has(place))) continue
      sources.add(mutant.file)
      const number = this.#table.numberOf(mutant)
      const selection =
        reaching === undefined || around.has(place)
          ? whole
          : { file, testIds: reaching.map(({ id }) => id), ms: sum(reaching) }
      addTo(this.#selections, number, selection)
    }
    for (const source of sources) addTo(this.#bySource, source, whole)
  }

  /** What may notice the mutant, least cost first; of a module that is only loaded, all that uses the module. */
  of(mutant: Mutant): { readonly selections: readonly Selection[]; readonly loaded: boolean } {
    const reached = this.#selections.get(this.#table.numberOf(mutant))
    if (reached !== undefined && !mutant.loaded) return { selections: leastCostFirst(mutant, reached), loaded: false }
    const loaded = mutant.loaded || this.#isLoaded(mutant)
    return { selections: loaded ? leastCostFirst(mutant, this.#bySource.get(mutant.file) ?? []) : [], loaded }
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

const sum = (tests: readonly RecordedTest[]): number => tests.reduce((total, { ms }) => total + ms, 0)

function addTo<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const same = map.get(key)
  if (same) same.push(value)
  else map.set(key, [value])
}

/** The tests beside the source before all others: that is where a person looks. */
function leastCostFirst({ file }: Mutant, selections: readonly Selection[]): Selection[] {
  const cost = (selection: Selection): number =>
    dirname(selection.file) === dirname(file) ? selection.ms / 10 : selection.ms
  return selections.toSorted((a, b) => cost(a) - cost(b))
}
