/**
 * Quoted scalars of a YAML text, read in steps. The YAML library adds a character at a time to what it has: V8 makes an
 * object of each, which a collection then has to walk, so 3 MiB between quotes took 90 MB and held the event loop for
 * 0.2 s, and the collections that followed for 0.6 s. Here such a scalar is cut where a cut changes nothing, the
 * library reads the pieces, and sees an empty scalar in its place.
 */
import type { CST } from 'yaml'

/** Shorter ones are left to the library: there can't be many characters in them, as tokens are bounded. */
const longFrom = 16
/** Characters that the library reads in one piece. */
const pieceLength = 4096

const quotes: Readonly<Record<string, string>> = { 'double-quoted-scalar': '"', 'single-quoted-scalar': "'" }
/** The length of an escape, by what follows the backslash. */
const escapes: Readonly<Record<string, number>> = { x: 4, u: 6, U: 10 }

const [tab, lineFeed, carriageReturn, space, singleQuote, backslash] = [0x09, 0x0a, 0x0d, 0x20, 0x27, 0x5c]
const isWhite = (code: number): boolean =>
  code === space || code === tab || code === lineFeed || code === carriageReturn

export interface QuotedFault {
  readonly offset: number
  readonly message: string
}

export type QuotedText = string | QuotedFault

/** Reads one scalar, as `CST.resolveAsScalar` of the library. */
type ReadScalar = typeof CST.resolveAsScalar

export class QuotedTexts {
  readonly #read: ReadScalar
  readonly #texts = new Map<unknown, QuotedText>()
  readonly #waiting: { readonly token: CST.FlowScalar; readonly source: string }[] = []
  #shortened: { readonly token: CST.FlowScalar; readonly removed: string }[] = []

  constructor(read: ReadScalar) {
    this.#read = read
  }

  /** Takes the text out of a token that the parser made. */
  take(token: CST.FlowScalar): CST.FlowScalar {
    const { source, type } = token
    const quote = quotes[type]
    if (source.length <= longFrom || quote === undefined) return token
    this.#waiting.push({ token, source })
    // The library looks whether a key has more than one line.
    token.source = source.includes('\n') ? `${quote}\n${quote}` : quote + quote
    this.#shortened.push({ token, removed: source.slice(token.source.length) })
    return token
  }

  /**
   * The library derives places from the lengths of what it has read, so what was taken out of a token stands behind it,
   * as if it were space. To be called when the parser has made the document: until then it reads what ends a scalar.
   */
  restoreLengths(): void {
    for (const { token, removed } of this.#shortened) {
      token.end ??= []
      token.end.push({ type: 'space', offset: token.offset, indent: token.indent, source: removed })
    }
    this.#shortened = []
  }

  /** Reads what was taken. Yields where a pause may be made. */
  *reading(): Generator<void, void> {
    for (let next = this.#waiting.pop(); next !== undefined; next = this.#waiting.pop()) {
      this.#texts.set(next.token, yield* this.#textOf(next.token, next.source))
    }
  }

  /** What was taken out of the token; undefined if nothing was. */
  of(token: unknown): QuotedText | undefined {
    return this.#texts.get(token)
  }

  *#textOf(token: CST.FlowScalar, source: string): Generator<void, QuotedText> {
    const quote = quotes[token.type] ?? ''
    if (source.at(-1) !== quote)
      return { offset: token.offset + source.length, message: `Missing closing ${quote}quote` }
    if (isAsWritten(source, quote)) return source.slice(1, -1)
    const parts: string[] = []
    for (let from = 1; from < source.length - 1; ) {
      const to = pieceEnd(source, from, quote)
      let fault: QuotedFault | undefined
      const piece = { ...token, source: quote + source.slice(from, to) + quote }
      const { value } = this.#read(piece, true, (offset, _code, message) => {
        fault ??= { offset: offset + from - 1, message }
      })
      if (fault !== undefined) return fault
      // To look at a character makes one text of the many that it was put together from.
      value.charCodeAt(0)
      parts.push(value)
      from = to
      yield
    }
    return parts.join('')
  }
}

/** Nothing in it stands for something else. */
function isAsWritten(source: string, quote: string): boolean {
  if (source.includes('\n')) return false
  return quote === '"' ? !source.includes('\\') : source.indexOf("'", 1) === source.length - 1
}

/** White space is trimmed and lines are joined by what stands before them, so it stays with what follows it. */
function pieceEnd(source: string, from: number, quote: string): number {
  const end = source.length - 1
  const wanted = from + pieceLength
  let at = from
  while (at < end) {
    at += stepAt(source, at, quote)
    if (at >= wanted && !isWhite(source.charCodeAt(at - 1))) break
  }
  return at
}

/** The length of what can't be cut. */
function stepAt(source: string, at: number, quote: string): number {
  const code = source.charCodeAt(at)
  if (quote === '"') return code === backslash ? (escapes[source[at + 1] ?? ''] ?? 2) : 1
  return code === singleQuote ? 2 : 1
}
