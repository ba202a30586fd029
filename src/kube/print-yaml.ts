/** Answers in YAML, of the same values that are answered in JSON. */
import { loadLater } from '../base/load-later.ts'
import { isExactNumber, nestsDeeperThan } from './json-value.ts'

const yaml = loadLater<typeof import('yaml')>('yaml')

/** The library recurses, with several frames a level, and runs out of stack at some 600. */
const maxPrintedDepth = 250

/** Aliases would make a reader's document depend on how ours was built. */
const options = { aliasDuplicateObjects: false, lineWidth: 0 } as const

/** The library knows BigInt, and takes a number that is kept as its text for a map. */
const exact = (_key: unknown, value: unknown): unknown => (isExactNumber(value) ? BigInt(value.rawJSON) : value)

/** What nests deeper than any object that a person wrote is printed as JSON, which is YAML too. */
export const printYaml = (value: object): string =>
  nestsDeeperThan(value, maxPrintedDepth)
    ? `${JSON.stringify(value, undefined, 2)}\n`
    : yaml().stringify(value, exact, options)
