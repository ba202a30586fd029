/**
 * Expressions of users: compiled once, evaluated often. The seam of this folder: other folders need not know its other
 * files, but `declared-type.ts` and `budget.ts`.
 *
 * An expression can't hang the server: its length and depth are bounded, each evaluation has a cost limit and a time
 * limit (`budget.ts`), and patterns run in an engine without backtracking.
 * @see k8s.io/apiserver/pkg/cel/environment/base.go v0.36 for what an expression may call
 */

import type { Budget } from './budget.ts'
import { type Checked, check } from './checker.ts'
import type { DeclaredType } from './declared-type.ts'
import { type Bindings, compileChecked, type Evaluate } from './evaluate.ts'
import { FunctionTable, type Library } from './functions.ts'
import type { Fault } from './lexer.ts'
import { authorizerLibrary } from './library/authorizer.ts'
import { formatLibrary } from './library/format.ts'
import { listsLibrary } from './library/lists.ts'
import { networkLibrary } from './library/network.ts'
import { optionalLibrary } from './library/optional.ts'
import { quantityLibrary } from './library/quantity.ts'
import { regexLibrary } from './library/regex.ts'
import { semverLibrary } from './library/semver.ts'
import { standardLibrary } from './library/standard.ts'
import { stringsLibrary } from './library/strings.ts'
import { timeLibrary } from './library/time.ts'
import { urlLibrary } from './library/url.ts'
import { literalFaults } from './literal-rules.ts'
import { parse } from './parser.ts'
import type { CelType, TypeNames } from './types.ts'
import type { CelValue } from './values.ts'

/** Expressions that are compiled between two pauses. */
export const compiledAtOnce = 50

const libraries: readonly Library[] = [
  standardLibrary,
  timeLibrary,
  stringsLibrary,
  listsLibrary,
  optionalLibrary,
  regexLibrary,
  urlLibrary,
  quantityLibrary,
  networkLibrary,
  semverLibrary,
  formatLibrary,
  authorizerLibrary,
]

/** What some expressions know beyond what all know. */
export interface Extension {
  /** Can be named, and made if they are objects: `Object{…}`. */
  readonly types: TypeNames
  readonly functions: Library
}

const noExtension: Extension = { types: new Map(), functions: [] }
const tables = new WeakMap<Extension, FunctionTable>()
/** Made at first use: a server without expressions does not pay for it. */
function functionsOf(extension: Extension): FunctionTable {
  let table = tables.get(extension)
  if (table === undefined) {
    table = new FunctionTable([...libraries, extension.functions])
    tables.set(extension, table)
  }
  return table
}

/** Variables by name. Names may be dotted (`authorizer.requestResource`). */
export type Variables = Readonly<Record<string, DeclaredType>>

export interface Program {
  readonly source: string
  /** What it answers, as far as is known before it runs. */
  readonly type: CelType
  readonly checked: Checked
  uses(variable: string): boolean
  /**
   * Charges the budget; begin each call with `budget.beginCall()`.
   * @throws CelError for what the expression does wrong; BudgetError (also a CelError) when it may run no longer
   */
  readonly evaluate: (bindings: Bindings, budget: Budget) => CelValue
}

export type Compilation =
  | { readonly program: Program; readonly problem?: undefined }
  /** All faults as upstream's compiler prints them: `ERROR: <input>:1:6: undefined field 'x'\n | self.x\n | .....^`. */
  | { readonly program?: undefined; readonly problem: string }

export function compile(source: string, variables: Variables, extension: Extension = noExtension): Compilation {
  const parsed = parse(source)
  if (parsed.faults.length > 0) return { problem: printFaults(parsed.faults, source) }
  const checked = check(parsed.expr, {
    functions: functionsOf(extension),
    variables: new Map(Object.entries(variables).map(([name, declared]) => [name, declared.type])),
    types: extension.types,
  })
  const faults = checked.faults.length > 0 ? checked.faults : literalFaults(parsed.expr)
  if (faults.length > 0) return { problem: printFaults(faults, source) }
  let evaluate: Evaluate | undefined
  return {
    program: {
      source,
      type: checked.type,
      checked,
      uses: (variable) => checked.used.has(variable),
      evaluate(bindings, budget) {
        evaluate ??= compileChecked(checked)
        return evaluate(bindings, budget)
      },
    },
  }
}

/** A long line is printed with each fault: neither many nor long ones may make a message without end. */
const maxFaults = 100
const maxFaultCharacters = 64 * 1024

/** In the order of their places; the same one at the same place once. */
function printFaults(faults: readonly Fault[], source: string): string {
  const texts = new Set<string>()
  let size = 0
  let left = faults.length
  for (const fault of faults.toSorted((a, b) => a.offset - b.offset)) {
    const text = printFault(fault, source)
    if (texts.size > 0 && (texts.size >= maxFaults || size + text.length > maxFaultCharacters)) break
    if (!texts.has(text)) size += text.length
    texts.add(text)
    left--
  }
  return [...texts, ...(left > 0 ? [`${left} more errors were truncated`] : [])].join('\n')
}

function printFault({ message, offset }: Fault, source: string): string {
  const before = source.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  const line = before.split('\n').length
  const column = [...before.slice(lineStart)].length
  const lineEnd = source.indexOf('\n', lineStart)
  const text = source.slice(lineStart, lineEnd < 0 ? source.length : lineEnd).replaceAll('\t', ' ')
  const dots = [...before.slice(lineStart)].map((c) => ((c.codePointAt(0) ?? 0) > 0x7f ? '．' : '.')).join('')
  return `ERROR: <input>:${line}:${column + 1}: ${message}\n | ${text}\n | ${dots}^`
}
