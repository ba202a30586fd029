/**
 * What became of each mutant, one line of JSON each, appended as it is known: a run that is stopped goes on where it
 * was.
 *
 * A result holds while the source is what it was, and: for one that was killed, the test file that killed it; for one
 * that was not, the test files that were tried, and the number of tests that reach it.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'

export type Status = 'killed' | 'timeout' | 'survived' | 'not reached'

export interface Result {
  readonly name: string
  readonly status: Status
  /** The source, and the test files that the result depends on, as they were. */
  readonly source: string
  readonly tests: Readonly<Record<string, string>>
  /** The test that failed. */
  readonly by?: string
  /** Of a survivor: how many tests reach it, and how many of them were run before the time was up. */
  readonly reaching?: number
  readonly tried?: number
  readonly ms: number
}

/** Noticed: a test failed, or nothing ended. */
export const isKilled = ({ status }: Result): boolean => status === 'killed' || status === 'timeout'

export class Results {
  readonly #path: string
  readonly #byName = new Map<string, Result>()

  constructor(path: string) {
    this.#path = path
    if (!existsSync(path)) return
    for (const line of readFileSync(path, 'utf8').split('\n')) {
      const result = parsed(line)
      if (result !== undefined) this.#byName.set(result.name, result)
    }
  }

  add(result: Result): void {
    mkdirSync(dirname(this.#path), { recursive: true })
    appendFileSync(this.#path, `${JSON.stringify(result)}\n`)
    this.#byName.set(result.name, result)
  }

  /** If it still holds. `reaching` is how many tests reach the mutant now. */
  find(name: string, source: string, reaching: number, digestOf: (file: string) => string): Result | undefined {
    const result = this.#byName.get(name)
    if (result === undefined || result.source !== source) return undefined
    const { tests } = result
    if (!isKilled(result) && (result.reaching ?? 0) !== reaching) return undefined
    return Object.keys(tests).every((file) => isSame(file, tests, digestOf)) ? result : undefined
  }
}

function isSame(file: string, tests: Result['tests'], digestOf: (file: string) => string): boolean {
  try {
    return tests[file] === digestOf(file)
  } catch {
    // It is not there any more.
    return false
  }
}

/** Undefined for the line that was cut off when a run was stopped. */
function parsed(line: string): Result | undefined {
  try {
    return JSON.parse(line) as Result
  } catch {
    return undefined
  }
}
