/** Which lines of a text another one changed, and two changes of one text put together. Pure. */
import { append } from '../../../base/append.ts'

/** Lines `from` to `to` (exclusive) of the first text stand for `by` in the second. */
export interface Hunk {
  readonly from: number
  readonly to: number
  readonly by: readonly string[]
}

/** Beyond so many pairs of lines, what lies between the first and the last change is one change. */
const mostPairs = 4_000_000

/** In order, and none touches the next. */
export function diffLines(a: readonly string[], b: readonly string[]): readonly Hunk[] {
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let aEnd = a.length
  let bEnd = b.length
  while (aEnd > start && bEnd > start && a[aEnd - 1] === b[bEnd - 1]) {
    aEnd--
    bEnd--
  }
  if (start === aEnd && start === bEnd) return []
  const whole = { from: start, to: aEnd, by: b.slice(start, bEnd) }
  if ((aEnd - start) * (bEnd - start) > mostPairs) return [whole]
  return hunksBetween(a, b, longestCommon(a.slice(start, aEnd), b.slice(start, bEnd), start), whole, bEnd)
}

type Pair = readonly [inA: number, inB: number]

/** Of the longest common subsequence, the places in both, counted from `offset`. */
function longestCommon(a: readonly string[], b: readonly string[], offset: number): readonly Pair[] {
  const width = b.length + 1
  // The length of the longest one of what follows each pair of places.
  const length = new Uint32Array((a.length + 1) * width)
  const at = (i: number, j: number): number => length[i * width + j] ?? 0
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      length[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const pairs: Pair[] = []
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) pairs.push([offset + i++, offset + j++])
    else if (at(i + 1, j) >= at(i, j + 1)) i++
    else j++
  }
  return pairs
}

function hunksBetween(
  a: readonly string[],
  b: readonly string[],
  pairs: readonly Pair[],
  { from, to }: Hunk,
  bEnd: number,
): readonly Hunk[] {
  const hunks: Hunk[] = []
  let [nextA, nextB] = [from, from]
  for (const [inA, inB] of [...pairs, [to, bEnd] as const]) {
    if (inA > nextA || inB > nextB) hunks.push({ from: nextA, to: inA, by: b.slice(nextB, inB) })
    ;[nextA, nextB] = [inA + 1, inB + 1]
  }
  return hunks
}

export interface Merged {
  readonly text: string
  /** Places that both changed, each in its own way: they stand in the text twice, between marks as git's. */
  readonly conflicts: number
}

export const conflictMark = '<<<<<<< yours'

/** What `mine` and `theirs` each made of `base`, in one text. */
export function mergeTexts(base: string, mine: string, theirs: string): Merged {
  const [lines, ofMine, ofTheirs] = [base, mine, theirs].map((text) => text.split('\n')) as [
    string[],
    string[],
    string[],
  ]
  const merged: string[] = []
  let conflicts = 0
  let at = 0
  for (const { from, to, mine: left, theirs: right } of spans(diffLines(lines, ofMine), diffLines(lines, ofTheirs))) {
    for (const line of lines.slice(at, from)) merged.push(line)
    const there = lines.slice(from, to)
    const yours = left.length === 0 ? undefined : applied(there, left, from)
    const others = right.length === 0 ? undefined : applied(there, right, from)
    if (yours === undefined || others === undefined || yours.join('\n') === others.join('\n')) {
      append(merged, yours ?? others ?? there)
    } else {
      conflicts++
      append(merged, [conflictMark, ...yours, '=======', ...others, '>>>>>>> theirs'])
    }
    at = to
  }
  for (const line of lines.slice(at)) merged.push(line)
  return { text: merged.join('\n'), conflicts }
}

interface Span {
  readonly from: number
  to: number
  readonly mine: Hunk[]
  readonly theirs: Hunk[]
}

/** Hunks of either side, those together that touch each other. */
function spans(mine: readonly Hunk[], theirs: readonly Hunk[]): readonly Span[] {
  const all = [...mine.map((hunk) => ({ hunk, isMine: true })), ...theirs.map((hunk) => ({ hunk, isMine: false }))]
  all.sort((a, b) => a.hunk.from - b.hunk.from || a.hunk.to - b.hunk.to)
  const found: Span[] = []
  for (const { hunk, isMine } of all) {
    let last = found.at(-1)
    if (last === undefined || hunk.from > last.to) {
      last = { from: hunk.from, to: hunk.to, mine: [], theirs: [] }
      found.push(last)
    }
    last.to = Math.max(last.to, hunk.to)
    ;(isMine ? last.mine : last.theirs).push(hunk)
  }
  return found
}

/** `lines`, which begin at `offset` of the text, with these hunks. */
function applied(lines: readonly string[], hunks: readonly Hunk[], offset: number): readonly string[] {
  const result: string[] = []
  let at = offset
  for (const { from, to, by } of hunks) {
    append(result, lines.slice(at - offset, from - offset))
    append(result, by)
    at = to
  }
  return [...result, ...lines.slice(at - offset)]
}
