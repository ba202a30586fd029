/**
 * One build of a source file that holds all of its mutants, each behind a switch: `$mutant(17) ? mutated : original`.
 * Which one is on is decided while it runs, so that no mutant costs a build or a start of its own.
 *
 * Switches are numbers in `globalThis.boroughSwitches`, which worker and runner share. While coverage is recorded they
 * also note which of them were asked. A mutant that makes no difference but with some values is noted where it would
 * have made one: `$saw(a, 17, 'falsy') || b`. Until then a run with the mutant is the run without it.
 */
import type { Difference, Mutant } from './find-mutants.ts'

export interface Switches {
  /** The mutant that is on; -1 = none. */
  active: number
  /** Which were asked since the recording began; undefined while nothing is recorded. */
  asked: Set<number> | undefined
}

export const allOff = -1

export const switches = (): Switches => {
  const shared = globalThis as { boroughSwitches?: Switches }
  shared.boroughSwitches ??= { active: allOff, asked: undefined }
  return shared.boroughSwitches
}

/** Function declarations, since modules that import each other in a circle call them before they have run. */
const header =
  'function $mutant(n) { const s = globalThis.boroughSwitches; if (s === undefined) return false; ' +
  's.asked?.add(n); return s.active === n } ' +
  'function $on(n) { return globalThis.boroughSwitches?.active === n } ' +
  'function $saw(v) { const asked = globalThis.boroughSwitches?.asked; if (asked === undefined) return v; ' +
  "const nil = v === null || v === undefined ? 'nullish' : 'present', is = v ? 'truthy' : 'falsy'; " +
  'for (let i = 1; i < arguments.length; i += 2) ' +
  'if (arguments[i + 1] === nil || arguments[i + 1] === is) asked.add(arguments[i]); return v } '

interface Span {
  readonly start: number
  readonly end: number
  readonly mutants: { readonly number: number; readonly replacement: string | undefined; readonly noted: boolean }[]
  readonly values: { readonly number: number; readonly where: Difference['where'] }[]
}

/** `numberOf` says the switch of each mutant. Lines stay what they are, but where a mutant repeats some. */
export function instrument(text: string, mutants: readonly Mutant[], numberOf: (mutant: Mutant) => number): string {
  if (mutants.length === 0) return text
  const spans = new Map<string, Span>()
  const spanOf = (start: number, end: number, statement: boolean): Span => {
    const key = `${start} ${end} ${statement}`
    const span = spans.get(key) ?? { start, end, mutants: [], values: [] }
    spans.set(key, span)
    return span
  }
  for (const mutant of mutants) {
    const { start, end, replacement, differs } = mutant
    const number = numberOf(mutant)
    spanOf(start, end, replacement === undefined).mutants.push({ number, replacement, noted: differs === undefined })
    if (differs) spanOf(differs.start, differs.end, false).values.push({ number, where: differs.where })
  }
  // Outer ones first, and a statement before the expression that is all of it.
  const ordered = [...spans.values()].sort((a, b) => a.start - b.start || b.end - a.end || statementsFirst(a, b))
  return header + write(text, 0, text.length, ordered)
}

const statementsFirst = (a: Span, b: Span): number => Number(isStatement(b)) - Number(isStatement(a))
const isStatement = ({ mutants: [first] }: Span): boolean => first !== undefined && first.replacement === undefined

/** The text from start to end with all spans inside, which are taken off the front of `spans`. */
function write(text: string, start: number, end: number, spans: Span[]): string {
  let out = ''
  let at = start
  while (spans[0] !== undefined && spans[0].start < end) {
    const span = spans.shift() as Span
    out += text.slice(at, span.start)
    out += wrap(span, write(text, span.start, span.end, spans))
    at = span.end
  }
  return out + text.slice(at, end)
}

function wrap({ mutants, values }: Span, original: string): string {
  const [first] = mutants
  if (first !== undefined && first.replacement === undefined) return `{ if (!$mutant(${first.number})) ${original} }`
  const noted = values.map(({ number, where }) => `, ${number}, '${where}'`).join('')
  const value = noted === '' ? original : `$saw((${original})${noted})`
  if (first === undefined) return value
  const switched = mutants.map(({ number, replacement, noted: always }) => {
    return `${always ? '$mutant' : '$on'}(${number}) ? ${replacement} : `
  })
  return `(${switched.join('')}${value})`
}
