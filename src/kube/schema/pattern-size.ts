/**
 * How large a pattern becomes when it is compiled, told from its text in one pass: repetitions repeat what they stand
 * behind, so that `(a{1,100}){1,10}` is some 2,000 instructions, and a few kilobytes of it a million. Compiling takes
 * some 3 us for an instruction. Counts are estimates, mostly above the truth; what is no pattern has any.
 */

/** Instructions of one pattern, and of all patterns of one schema: some 50 ms of compiling. Real ones have hundreds. */
export const largestPatternSize = 16_000

/** A class of Unicode is made of a table of hundreds of ranges, which costs as much. */
const unicodeClass = 20
const repetition = /\{(\d+)(?:(,)(\d*))?\}/y

/** Stops soon after `largestPatternSize`. */
export function patternSize(pattern: string): number {
  /** Of the groups that are open, and of the pattern itself. */
  const open = [0]
  let last = 0
  let total = 0
  const add = (size: number): void => {
    open[open.length - 1] = (open.at(-1) ?? 0) + size
    total += size
  }
  for (let at = 0; at < pattern.length && total <= largestPatternSize; at++) {
    const atom = sizeOfAtom(pattern, at)
    if (atom !== undefined) {
      last = atom.size
      add(last)
      at = atom.end - 1
      continue
    }
    switch (pattern[at]) {
      case '(':
        open.push(0)
        add(2)
        break
      case ')':
        last = open.pop() ?? 0
        if (open.length === 0) open.push(0)
        open[open.length - 1] = (open.at(-1) ?? 0) + last
        break
      case '{': {
        const times = timesAt(pattern, at)
        add(last * Math.max(0, times - 1) + times)
        last = last * Math.max(1, times) + times
        break
      }
      default:
        add(1)
        last++
    }
  }
  return total
}

/** Undefined for what groups, repeats or divides. */
function sizeOfAtom(pattern: string, at: number): { readonly size: number; readonly end: number } | undefined {
  switch (pattern[at]) {
    case '(':
    case ')':
    case '{':
    case '*':
    case '+':
    case '?':
    case '|':
      return undefined
    case '\\':
      return /[pP]/.test(pattern[at + 1] ?? '') ? { size: unicodeClass, end: at + 2 } : { size: 1, end: at + 2 }
    case '[':
      return classAt(pattern, at)
    default:
      return { size: 1, end: at + 1 }
  }
}

/** `[^]a-z\]]`: the bracket behind the first is one of the class. */
function classAt(pattern: string, start: number): { readonly size: number; readonly end: number } {
  let at = start + (pattern[start + 1] === '^' ? 2 : 1)
  let size = 1
  const first = at
  for (; at < pattern.length && (pattern[at] !== ']' || at === first); at++) {
    if (pattern[at] === '\\') size += /[pP]/.test(pattern[++at] ?? '') ? unicodeClass : 0
    else if (pattern.startsWith('[:', at)) at = Math.max(at, pattern.indexOf(':]', at) + 1)
  }
  return { size: size + Math.floor((at - first) / 16), end: at + 1 }
}

/** What stands in no such form is a text. */
function timesAt(pattern: string, at: number): number {
  repetition.lastIndex = at
  const [, least, comma, most] = repetition.exec(pattern) ?? []
  if (least === undefined) return 1
  if (comma === undefined) return Number(least)
  return most ? Math.max(Number(least), Number(most)) : Number(least) + 1
}
