/** What can be called: overloads by name, and how libraries declare them. */
import type { Budget } from './budget.ts'
import { type CelType, parseType } from './types.ts'
import type { CelValue } from './values.ts'

export interface Overload {
  /** Upstream's: costs are kept by it. */
  readonly id: string
  readonly name: string
  /** True = called on its first parameter. */
  readonly member: boolean
  readonly params: readonly CelType[]
  readonly result: CelType
  /** Arguments are of the parameters' types, or the parameter is a type parameter. @throws CelError */
  call(args: readonly CelValue[], budget: Budget): CelValue
}

/**
 * Arguments come with the types that the declaration names, which the compiler of this language can't see: an
 * implementation states them in its own parameters.
 */
type Implementation = (...args: readonly never[]) => CelValue

export type Library = readonly Overload[]

const declared = (
  member: boolean,
  id: string,
  name: string,
  signature: readonly [params: string, result: string],
  run: Implementation,
): Overload => {
  const [params, result] = signature
  const call = run as unknown as (...args: readonly unknown[]) => CelValue
  return {
    id,
    name,
    member,
    params: parseType(`tuple(${params})`).params,
    result: parseType(result),
    call: (args, budget) => call(...args, budget),
  }
}

/** `fn('id', 'name', ['int, string', 'bool'], (i: bigint, s: string) => …)`; the budget is the last argument. */
export const fn = (
  id: string,
  name: string,
  signature: readonly [params: string, result: string],
  run: Implementation,
): Overload => declared(false, id, name, signature, run)

/** Called on its first parameter. */
export const method = (
  id: string,
  name: string,
  signature: readonly [params: string, result: string],
  run: Implementation,
): Overload => declared(true, id, name, signature, run)

export class FunctionTable {
  readonly #byName = new Map<string, Overload[]>()

  constructor(libraries: readonly Library[]) {
    for (const overload of libraries.flat()) {
      const list = this.#byName.get(overload.name)
      if (list) list.push(overload)
      else this.#byName.set(overload.name, [overload])
    }
  }

  overloads(name: string): readonly Overload[] {
    return this.#byName.get(name) ?? []
  }
}
