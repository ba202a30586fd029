/** All mutants of the files under test, and the number of each: its switch. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findMutants, type Mutant } from './find-mutants.ts'
import { root } from './root.ts'

/** What decides rights and limits. */
export const targets: readonly string[] = [
  'src/authz/**/*.ts',
  'src/authn/**/*.ts',
  'src/admission/**/*.ts',
  'src/http/dispatch.ts',
  'src/http/request-info.ts',
  'src/http/resolution.ts',
  'src/http/resolve-target.ts',
  'src/http/stages/**/*.ts',
  'src/apis/**/admission.ts',
  'src/apis/quotas/**/*.ts',
  'src/apis/clusterquotas/**/*.ts',
  'src/apis/templates/**/*.ts',
]

export class MutantTable {
  readonly all: readonly Mutant[]
  readonly #byFile = new Map<string, Mutant[]>()
  readonly #numbers = new Map<Mutant, number>()
  readonly #byName = new Map<string, Mutant>()

  constructor(all: readonly Mutant[]) {
    this.all = all
    for (const [number, mutant] of all.entries()) {
      const same = this.#byFile.get(mutant.file)
      if (same) same.push(mutant)
      else this.#byFile.set(mutant.file, [mutant])
      this.#numbers.set(mutant, number)
      this.#byName.set(mutant.name, mutant)
    }
  }

  /** Of the targets, and of other files that are named. */
  static read(others: readonly string[] = []): MutantTable {
    const found = globSync([...targets], { cwd: root, exclude: ['**/*.test.ts'] })
    const files = [...new Set([...found, ...others])].sort()
    return new MutantTable(files.flatMap((file) => findMutants(file, readFileSync(join(root, file), 'utf8'))))
  }

  of(file: string): readonly Mutant[] {
    return this.#byFile.get(file) ?? []
  }

  numberOf(mutant: Mutant): number {
    const number = this.#numbers.get(mutant)
    if (number === undefined) throw new Error(`not in the table: ${mutant.name}`)
    return number
  }

  find(name: string): Mutant | undefined {
    return this.#byName.get(name)
  }
}
