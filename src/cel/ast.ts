/**
 * A parsed expression. Macros are gone: `all`, `map` and their like are comprehensions here, as in the language's
 * definition, so that types, costs and values are worked out in one way for all of them.
 */
import type { CelValue } from './values.ts'

export type Expr = LiteralExpr | IdentExpr | SelectExpr | CallExpr | ListExpr | MapExpr | StructExpr | ComprehensionExpr

interface Node {
  /** Of one parse: counts up from 1. */
  readonly id: number
  /** Where messages point: UTF-16 units from the start. */
  readonly offset: number
}

export interface LiteralExpr extends Node {
  readonly kind: 'literal'
  readonly value: CelValue
}

export interface IdentExpr extends Node {
  readonly kind: 'ident'
  readonly name: string
}

export interface SelectExpr extends Node {
  readonly kind: 'select'
  readonly operand: Expr
  readonly field: string
  /** True = `has(operand.field)`. */
  readonly test: boolean
}

export interface CallExpr extends Node {
  readonly kind: 'call'
  readonly name: string
  readonly target: Expr | undefined
  readonly args: readonly Expr[]
}

export interface ListExpr extends Node {
  readonly kind: 'list'
  readonly items: readonly Expr[]
  /** Indexes of `?item`. */
  readonly optional: ReadonlySet<number>
}

export interface MapExpr extends Node {
  readonly kind: 'map'
  readonly entries: readonly MapEntry[]
}

export interface MapEntry {
  readonly key: Expr
  readonly value: Expr
  readonly optional: boolean
  /** Of the colon: where messages about fields point. */
  readonly offset: number
}

/** `Name{field: value}`; `fields` have string literals as keys. */
export interface StructExpr extends Node {
  readonly kind: 'struct'
  readonly name: string
  readonly fields: readonly MapEntry[]
}

export interface ComprehensionExpr extends Node {
  readonly kind: 'comprehension'
  readonly range: Expr
  readonly iterVar: string
  /** Of comprehensions over two variables: the value beside the index or key. */
  readonly iterVar2: string | undefined
  readonly accuVar: string
  readonly accuInit: Expr
  readonly condition: Expr
  readonly step: Expr
  readonly result: Expr
}

/** The accumulator of macros; no identifier can be spelled like this. */
export const accumulator = '@result'

/** The dotted name that a chain of selections may also be; undefined for others. */
export function qualifiedName(e: Expr): string | undefined {
  if (e.kind === 'ident') return e.name
  if (e.kind !== 'select' || e.test) return undefined
  const prefix = qualifiedName(e.operand)
  return prefix === undefined ? undefined : `${prefix}.${e.field}`
}
