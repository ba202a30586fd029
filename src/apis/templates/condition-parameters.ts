/**
 * What a condition says of parameters that can't be meant: one that its template does not declare, which would fail in
 * every namespace, and a comparison with a value that is none of the choices, which comes out alike in all of them.
 */
import type { Expr } from '../../cel/ast.ts'
import type { Checked } from '../../cel/checker.ts'
import { walk } from '../../cel/literal-rules.ts'
import type { TemplateParameter } from './types.ts'

export interface ConditionFindings {
  /** Why it is refused. */
  readonly problems: readonly string[]
  /** What its author is told of. */
  readonly doubts: readonly string[]
}

export function examineParameters(checked: Checked, parameters: readonly TemplateParameter[]): ConditionFindings {
  const declared = new Map(parameters.map((p) => [p.name, p]))
  const problems = new Set<string>()
  const doubts = new Set<string>()
  const nameOf = (e: Expr): string | undefined => parameterIn(e, checked)
  walk(checked.expr, (e) => {
    const name = nameOf(e)
    if (name !== undefined && !declared.has(name)) problems.add(unknownParameter(name, parameters))
    for (const [side, value] of comparedIn(e)) {
      const choices = declared.get(nameOf(side) ?? '')
      if (choices !== undefined && !canBe(choices, value)) doubts.add(neverIs(choices, value))
    }
  })
  return { problems: [...problems], doubts: [...doubts] }
}

/** The name in `params.name`, `has(params.name)`, `params['name']` and `'name' in params`. */
function parameterIn(e: Expr, checked: Checked): string | undefined {
  const isParams = (of: Expr | undefined): boolean => of !== undefined && checked.variableOf(of) === 'params'
  if (e.kind === 'select') return isParams(e.operand) ? e.field : undefined
  if (e.kind !== 'call') return undefined
  if (e.name === '_[_]' || e.name === '_[?_]') return isParams(e.args[0]) ? textOf(e.args[1]) : undefined
  return e.name === '@in' && isParams(e.args[1]) ? textOf(e.args[0]) : undefined
}

/** Each pair of an expression and a text that it is compared with. */
function comparedIn(e: Expr): [side: Expr, value: string][] {
  if (e.kind !== 'call') return []
  const [left, right] = e.args
  if (left === undefined || right === undefined) return []
  const pair = (side: Expr, other: Expr): [Expr, string][] => {
    const value = textOf(other)
    return value === undefined ? [] : [[side, value]]
  }
  if (e.name === '_==_' || e.name === '_!=_') return [...pair(left, right), ...pair(right, left)]
  return e.name === '@in' && right.kind === 'list' ? right.items.flatMap((item) => pair(left, item)) : []
}

const textOf = (e: Expr | undefined): string | undefined =>
  e?.kind === 'literal' && typeof e.value === 'string' ? e.value : undefined

/** The empty text is what a parameter without a default is where nothing is given. */
const canBe = ({ enum: choices, default: preset = '', required }: TemplateParameter, value: string): boolean =>
  choices === undefined || choices.includes(value) || (value === '' && preset === '' && required !== true)

function unknownParameter(name: string, parameters: readonly TemplateParameter[]): string {
  const known = parameters.map((p) => `params.${p.name}`)
  const there = known.length === 0 ? 'the template has none' : `there are ${known.join(', ')}`
  return `params.${name} is no parameter: ${there}`
}

const neverIs = ({ name, enum: choices = [] }: TemplateParameter, value: string): string =>
  `parameter ${JSON.stringify(name)} is never ${JSON.stringify(value)}: it is one of ` +
  choices.map((choice) => JSON.stringify(choice)).join(', ')
