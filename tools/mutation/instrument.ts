/**
 * One build of a source file that holds all of its mutants, each behind a switch: `$mutant(17) ? mutated : original`.
 * Which one is on is decided while it runs, so that no mutant costs a build or a start of its own.
 *
 * Switches are numbers in `globalThis.boroughSwitches`, which worker and runner share. While coverage is recorded they
 * also note which of them were asked.
 */
import type { Mutant } from './find-mutants.ts'

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

/** A function declaration, since modules that import each other in a circle call it before they have run. */
const header =
  'function $mutant(n) { const s = globalThis.boroughSwitches; if (s === undefined) return false; ' +
  's.asked?.add(n); return s.active === n } '

interface Span {
  readonly start: number
  readonly end: number
  readonly mutants: { readonly number: number; readonly replacement: string | undefined }[]
}

/** `numberOf` says the switch of each mutant. Lines stay what they are, but where a mutant repeats some. */
export function instrument(text: string, mutants: readonly Mutant[], numberOf: (mutant: Mutant) => number): string {
  if (mutants.length === 0) return text
  const spans = new Map<string, Span>()
  for (const mutant of mutants) {
    const { start, end, replacement } = mutant
    const key = `${start} ${end} ${replacement === undefined}`
    const span = spans.get(key) ?? { start, end, mutants: [] }
    span.mutants.push({ number: numberOf(mutant), replacement })
    spans.set(key, span)
  }
  // Outer ones first, and a statement before the expression that is all of it.
  const ordered = [...spans.values()].sort((a, b) => a.start - b.start || b.end - a.end || statementsFirst(a, b))
  return header + write(text, 0, text.length, ordered)
}

const statementsFirst = (a: Span, b: Span): number => Number(isStatement(b)) - Number(isStatement(a))
const isStatement = ({ mutants }: Span): boolean => mutants[0]?.replacement === undefined

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

function wrap({ mutants }: Span, original: string): string {
  const [first] = mutants
  if (first === undefined) return original
  if (first.replacement === undefined) return `{ if (!$mutant(${first.number})) ${original} }`
  return `(${mutants.map(({ number, replacement }) => `$mutant(${number}) ? ${replacement} : `).join('')}${original})`
}
