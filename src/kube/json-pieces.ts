/**
 * Long JSON by the native parser, piece by piece: between two pieces there may be a pause. A piece is some members of
 * one container; what is too long for a piece is gone into.
 *
 * Cost: the text is scanned once more for where members end, and what the pieces hold is put together.
 */

import { endOfString, isBlank, setMember } from '../base/json-text.ts'
import { parseJsonText } from '../base/parse-json-text.ts'
import type { Resumable } from '../base/resumable.ts'
import type { JsonObject, JsonValue } from './types.ts'

/** Commas: what costs is members. */
const marksOfPiece = 2000
/** A container this far down is one piece: each level that is gone into is scanned for itself. */
const mostLevels = 12

const quoteMark = 0x22
const comma = 0x2c
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]

/**
 * What `JSON.parse` makes of it.
 * @param marks see `marksOfPiece`
 * @throws SyntaxError as `JSON.parse` throws it, though perhaps in other words
 */
export function* parsingInPieces(text: string, marks: number = marksOfPiece): Resumable<JsonValue> {
  const pieces = new Pieces(text, marks)
  const value = yield* pieces.value()
  pieces.end()
  return value
}

class Pieces {
  readonly #text: string
  readonly #marks: number
  #at = 0
  #level = 0

  constructor(text: string, marks: number) {
    this.#text = text
    this.#marks = marks
  }

  /** What begins here: a container that is longer than a piece, or a whole text. */
  *value(): Resumable<JsonValue> {
    const code = this.#skipBlanks()
    if (code === openBrace) {
      const made: JsonObject = {}
      yield* this.#members(closeBrace, (piece) => addMembers(made, parseJsonText(`{${piece}}`) as JsonObject), made)
      return made
    }
    if (code === openBracket) {
      const made: JsonValue[] = []
      yield* this.#members(closeBracket, (piece) => addItems(made, parseJsonText(`[${piece}]`) as JsonValue[]), made)
      return made
    }
    const from = this.#at
    this.#at = this.#text.length
    return parseJsonText(this.#text.slice(from)) as JsonValue
  }

  end(): void {
    this.#skipBlanks()
    if (this.#at < this.#text.length) throw unexpected(this.#at)
  }

  #skipBlanks(): number {
    while (isBlank(this.#text.charCodeAt(this.#at))) this.#at++
    return this.#text.charCodeAt(this.#at)
  }

  *#members(close: number, add: (piece: string) => void, made: JsonObject | JsonValue[]): Resumable<void> {
    const text = this.#text
    const begun = ++this.#at
    for (let from = begun; ; from = this.#at) {
      const { end, member, long } = this.#scan(from)
      if (long === undefined) {
        this.#at = end
        const isLast = this.#isClosed(close)
        const piece = text.slice(from, end)
        if (piece.trim() !== '') add(piece)
        else if (!isLast || from !== begun) throw unexpected(end)
        yield
        if (isLast) return
        continue
      }
      if (member > from) add(notBlank(text.slice(from, member - 1), from))
      this.#at = long
      const key = close === closeBrace ? keyOf(text.slice(member, long)) : notAny(text.slice(member, long), long)
      yield
      this.#level++
      const value = yield* this.value()
      this.#level--
      if (Array.isArray(made)) made.push(value)
      else setMember(made, key, value)
      this.#skipBlanks()
      if (this.#isClosed(close)) return
    }
  }

  /** Goes on behind a comma, or the end of the container. */
  #isClosed(close: number): boolean {
    const code = this.#text.charCodeAt(this.#at++)
    if (code !== comma && code !== close) throw unexpected(this.#at - 1)
    return code === close
  }

  /**
   * From the beginning of a member: where the piece ends, at the comma behind a member or the end of the container; or
   * the first member, and its value, that is too long for a piece.
   */
  #scan(from: number): { readonly end: number; readonly member: number; readonly long?: number } {
    const text = this.#text
    const most = this.#level < mostLevels ? this.#marks : Number.POSITIVE_INFINITY
    let depth = 0
    let marks = 0
    let member = from
    let opened = from
    for (let at = from; at < text.length; at++) {
      switch (text.charCodeAt(at)) {
        case quoteMark:
          at = endOfString(text, at)
          break
        case openBrace:
        case openBracket:
          if (depth++ === 0) opened = at
          break
        case closeBrace:
        case closeBracket:
          if (depth-- === 0) return { end: at, member }
          break
        case comma:
          marks++
          if (depth > 0) {
            // From its own beginning, if others stand before it in the piece.
            if (marks > most) return { end: at, member, long: opened }
          } else if (marks > most / 2) return { end: at, member }
          else member = at + 1
          break
      }
    }
    throw new SyntaxError('Unexpected end of JSON input')
  }
}

const unexpected = (at: number): SyntaxError => new SyntaxError(`Unexpected token in JSON at position ${at}`)

function notBlank(piece: string, at: number): string {
  if (piece.trim() === '') throw unexpected(at)
  return piece
}

/** Before an item of a list stand blanks alone. */
function notAny(text: string, at: number): string {
  if (text.trim() !== '') throw unexpected(at)
  return ''
}

/** Of `"key" :`, before a container: a digit in its place would complete what stands there. */
function keyOf(text: string): string {
  const [key] = Object.keys(parseJsonText(`{${text}[]}`) as JsonObject)
  if (key === undefined) throw new SyntaxError('A member has no name')
  return key
}

function addMembers(made: JsonObject, piece: JsonObject): void {
  for (const key in piece) setMember(made, key, piece[key] as JsonValue)
}

function addItems(made: JsonValue[], piece: readonly JsonValue[]): void {
  for (const item of piece) made.push(item)
}
