/**
 * Expressions of an AuthenticationConfiguration: what the claims of a verified token say (`claims`), and what must hold
 * for the user that comes of them (`user`).
 * @see k8s.io/apiserver/pkg/authentication/cel/{compile,mapper}.go v0.36
 */
import type { JsonObject } from '../kube/types.ts'
import { type CompiledExpression, evaluateExpression } from './admission-expressions.ts'
import type { Expr, MapEntry } from './ast.ts'
import { Budget } from './budget.ts'
import {
  type DeclaredType,
  declaredDyn,
  declaredList,
  declaredMap,
  declaredObject,
  declaredString,
} from './declared-type.ts'
import { compile, type Variables } from './environment.ts'
import { fromJson } from './json-values.ts'
import { boolType, sameType } from './types.ts'
import { CelList, type CelValue } from './values.ts'

const texts = declaredList(declaredString)
/** `claims`: of a verified token. `user`: whom they name. */
export type IdentityVariable = 'claims' | 'user'

const variables: Readonly<Record<IdentityVariable, DeclaredType>> = {
  claims: declaredMap(declaredDyn),
  user: declaredObject('kubernetes.UserInfo', {
    username: declaredString,
    uid: declaredString,
    groups: texts,
    extra: declaredMap(texts),
  }),
}

/** `other`: neither text, nor a list of texts, nor a truth value, nor null. */
export type IdentityValue =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'texts'; readonly texts: readonly string[] }
  | { readonly kind: 'boolean'; readonly holds: boolean }
  | { readonly kind: 'null' }
  | { readonly kind: 'other' }

export type IdentityOutcome = IdentityValue | { readonly kind: 'error'; readonly error: string }

/** Evaluates the expressions of one user within one budget. */
export type IdentityEvaluation = (expression: IdentityExpression, of: JsonObject) => IdentityOutcome

export interface IdentityExpression {
  readonly source: string
  readonly variable: IdentityVariable
  readonly compiled: CompiledExpression
  /** True where it reads this field of its variable, whether as `claims.email` or as `claims.?email`. */
  reads(field: string): boolean
}

export type IdentityCompilation =
  | { readonly expression: IdentityExpression; readonly problem?: undefined }
  | { readonly expression?: undefined; readonly problem: string }

/** `returns: 'any'`: what the value is can only be told when there are claims. */
export function compileIdentity(
  source: string,
  variable: IdentityVariable,
  returns: 'any' | 'bool',
): IdentityCompilation {
  const known: Variables = { [variable]: variables[variable] }
  const { program, problem } = compile(source, known)
  if (!program) return { problem: `compilation failed: ${problem}` }
  if (returns === 'bool' && !sameType(program.type, boolType)) return { problem: 'must evaluate to bool' }
  const reads = (field: string): boolean => selects(program.checked.expr, variable, field)
  return { expression: { source, variable, compiled: { program }, reads } }
}

export function evaluateIdentity(): IdentityEvaluation {
  const budget = new Budget()
  return ({ compiled, variable }, of) => {
    const outcome = evaluateExpression(compiled, { [variable]: fromJson(of, variables[variable]) }, budget)
    return outcome.error === undefined ? identityValueOf(outcome.value) : { kind: 'error', error: outcome.error }
  }
}

function identityValueOf(value: CelValue): IdentityValue {
  if (typeof value === 'string') return { kind: 'text', text: value }
  if (typeof value === 'boolean') return { kind: 'boolean', holds: value }
  if (value === null) return { kind: 'null' }
  if (!(value instanceof CelList)) return { kind: 'other' }
  const items = [...value]
  return items.every((item) => typeof item === 'string') ? { kind: 'texts', texts: items } : { kind: 'other' }
}

function selects(e: Expr, variable: string, field: string): boolean {
  const within = (parts: readonly (Expr | undefined)[]): boolean =>
    parts.some((part) => part !== undefined && selects(part, variable, field))
  const isVariable = (part: Expr | undefined): boolean => part?.kind === 'ident' && part.name === variable
  switch (e.kind) {
    case 'literal':
    case 'ident':
      return false
    case 'select':
      return (isVariable(e.operand) && e.field === field) || within([e.operand])
    case 'call': {
      const [operand, name] = e.args
      const isOptional = e.name === '_?._' && isVariable(operand) && name?.kind === 'literal' && name.value === field
      return isOptional || within([e.target, ...e.args])
    }
    case 'list':
      return within(e.items)
    case 'map':
      return within(partsOf(e.entries))
    case 'struct':
      return within(partsOf(e.fields))
    case 'comprehension':
      return within([e.range, e.accuInit, e.condition, e.step, e.result])
  }
}

const partsOf = (entries: readonly MapEntry[]): readonly Expr[] => entries.flatMap(({ key, value }) => [key, value])
