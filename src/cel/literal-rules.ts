/** Literals that can be told to be wrong before anything runs: patterns, spans, moments. */
import { compilePattern } from '../kube/schema/pattern.ts'
import type { Expr } from './ast.ts'
import type { Fault } from './lexer.ts'
import { parseDuration, parseTimestamp } from './time-text.ts'

const judges: Readonly<Record<string, { readonly judge: (text: string) => unknown; readonly what: string }>> = {
  matches: { judge: compilePattern, what: 'matches argument' },
  duration: { judge: parseDuration, what: 'duration argument' },
  timestamp: { judge: parseTimestamp, what: 'timestamp argument' },
}

export function literalFaults(root: Expr): Fault[] {
  const faults: Fault[] = []
  walk(root, (e) => {
    if (e.kind !== 'call' || !Object.hasOwn(judges, e.name)) return
    const argument = e.args.at(-1)
    if (argument?.kind !== 'literal' || typeof argument.value !== 'string') return
    const { judge, what } = judges[e.name] as (typeof judges)[string]
    try {
      judge(argument.value)
    } catch {
      // What is wrong with it is in the expression, for all to see.
      faults.push({ message: `invalid ${what}`, offset: argument.offset })
    }
  })
  return faults
}

export function walk(e: Expr, visit: (e: Expr) => void): void {
  visit(e)
  for (const child of childrenOf(e)) walk(child, visit)
}

function childrenOf(e: Expr): readonly Expr[] {
  switch (e.kind) {
    case 'literal':
    case 'ident':
      return []
    case 'select':
      return [e.operand]
    case 'call':
      return e.target ? [e.target, ...e.args] : e.args
    case 'list':
      return e.items
    case 'map':
      return e.entries.flatMap(({ key, value }) => [key, value])
    case 'struct':
      return e.fields.map(({ value }) => value)
    case 'comprehension':
      return [e.range, e.accuInit, e.condition, e.step, e.result]
  }
}
