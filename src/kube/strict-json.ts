/**
 * Bodies to JSON values. What `JSON.parse` can't say is found here: duplicate keys with their path, integers beyond
 * 2^53 (kept as `ExactNumber`), numbers no double can hold, nesting, and Go's words for what is wrong.
 *
 * Cost: the native parser does the work unless a scan of what stands outside strings says that it would lose
 * something. The scan counts colons too; with `duplicates`, only if there are more than members did a key repeat.
 * Our own parser (some ten times slower) runs only on texts with long numbers, duplicates, or errors.
 * @see encoding/json/scanner.go, sigs.k8s.io/json
 */

import { endOfString, setMember } from '../base/json-text.ts'
import { parseJsonText } from '../base/parse-json-text.ts'
import { isResumable, type MaybeResumable, type Resumable, resumed, runAtOnce } from '../base/resumable.ts'
import { quote } from './go-quote.ts'
import { parsingInPieces } from './json-pieces.ts'
import { exactNumber, isJsonObject } from './json-value.ts'
import type { JsonObject, JsonValue } from './types.ts'
import { TooManyValuesError } from './value-count.ts'

/**
 * Containers within containers. Upstream stops at 10,000; no real object passes 50, and recursive code elsewhere in
 * this house runs out of stack at some 5,000.
 */
export const maxDepth = 1_000

export class JsonSyntaxError extends Error {
  override readonly name: string = 'JsonSyntaxError'
}

export class JsonDepthError extends JsonSyntaxError {
  override readonly name = 'JsonDepthError'

  /** @param bracket that opened the first container too many, as Go's scanner tells it */
  constructor(bracket: string) {
    super(`invalid character '${bracket}' exceeded max depth`)
  }
}

export interface JsonOptions {
  /** Whether keys that stand twice are looked for. */
  readonly duplicates?: boolean
  /** How many values a text may hold, containers and members alike. Absent = any number: what is stored is read. */
  readonly maxValues?: number
}

export interface ParsedJson {
  readonly value: JsonValue
  /**
   * `metadata.name`, `spec.ports[0].port`: keys given twice in one object; the last one holds. Each path once, at most
   * 100.
   */
  readonly duplicates: readonly string[]
  /** Of YAML: the same, as upstream's YAML library tells it. */
  readonly repeats?: readonly string[]
}

const none: readonly string[] = Object.freeze([])
const maxDuplicates = 100
/** So many digits in a row may pass 2^53. */
const longDigits = 16
/** What a double holds may be passed by an exponent of three digits. */
const longExponent = /^[eE]\+?[0-9]{3}/

const quoteMark = 0x22
const backslash = 0x5c

interface Scanned {
  readonly colons: number
  /** A number may be none that a double holds. */
  readonly needsCare: boolean
}

/**
 * What stands outside strings; only meaningful for text that JSON.parse accepts. Every value but the outermost stands
 * behind a bracket or a comma, so these are counted; an empty container is written without a blank by all that matter.
 * @throws JsonDepthError @throws TooManyValuesError
 */
function scan(text: string, maxValues: number): Scanned {
  let colons = 0
  let values = 1
  let depth = 0
  let digits = 0
  let needsCare = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code >= 0x30 && code <= 0x39) {
      if (++digits === longDigits) needsCare = true
      continue
    }
    if (digits > 0 && (code === 0x65 || code === 0x45)) needsCare ||= longExponent.test(text.slice(at, at + 5))
    digits = 0
    switch (code) {
      case quoteMark:
        at = endOfString(text, at)
        break
      case 0x3a:
        colons++
        break
      case 0x2c:
        if (++values > maxValues) throw new TooManyValuesError()
        break
      case 0x7b:
      case 0x5b:
        if (++depth > maxDepth) throw new JsonDepthError(text.charAt(at))
        if (!isClosing(text.charCodeAt(at + 1)) && ++values > maxValues) throw new TooManyValuesError()
        break
      case 0x7d:
      case 0x5d:
        depth--
        break
    }
  }
  return { colons, needsCare }
}

const isClosing = (code: number): boolean => code === 0x7d || code === 0x5d

const membersAtOnce = 4096

function* countingMembers(value: JsonValue): Resumable<number> {
  let count = 0
  const containers = [value]
  for (let container = containers.pop(); container !== undefined; container = containers.pop()) {
    if (Array.isArray(container)) {
      for (const item of container) if (typeof item === 'object' && item !== null) containers.push(item)
      yield
    } else if (isJsonObject(container)) {
      for (const key in container) {
        if (++count % membersAtOnce === 0) yield
        const child = container[key]
        if (typeof child === 'object' && child !== null) containers.push(child)
      }
    }
  }
  return count
}

/**
 * What is too deep or too much is refused before anything is made of it.
 * @throws JsonSyntaxError with Go's message. @throws TooManyValuesError
 */
export function parseJson(text: string, options: JsonOptions = {}): ParsedJson {
  return runAtOnce(parsing(text, options, parseJsonText as (text: string) => JsonValue))
}

/** The same, with places for a pause. @throws JsonSyntaxError with Go's message. @throws TooManyValuesError */
export const parsingJson = (text: string, options: JsonOptions = {}): Resumable<ParsedJson> =>
  parsing(text, options, parsingInPieces)

function* parsing(
  text: string,
  options: JsonOptions,
  natively: (text: string) => MaybeResumable<JsonValue>,
): Resumable<ParsedJson> {
  const { maxValues = Number.POSITIVE_INFINITY } = options
  const { colons, needsCare } = scan(text, maxValues)
  yield
  if (needsCare) return yield* new Parser(text).parsing()
  let value: JsonValue
  try {
    const read = natively(text)
    value = isResumable(read) ? yield* read : read
  } catch {
    return yield* new Parser(text).parsing()
  }
  if (!options.duplicates) return { value, duplicates: none }
  yield
  return colons === (yield* countingMembers(value)) ? { value, duplicates: none } : yield* new Parser(text).parsing()
}

const int64Min = -(2n ** 63n)
const int64Max = 2n ** 63n - 1n

/** Integers beyond 2^53 and within int64 keep their text; everything else becomes a double, as upstream decodes it. */
export function numberOf(literal: string): JsonValue {
  const value = Number(literal)
  if (Number.isSafeInteger(value) || /[.eE]/.test(literal)) {
    if (!Number.isFinite(value)) {
      throw new JsonSyntaxError(`json: cannot unmarshal number ${literal} into Go value of type float64`)
    }
    return value
  }
  if (literal.length <= 20) {
    const exact = BigInt(literal)
    if (exact >= int64Min && exact <= int64Max) return exactNumber(literal) as unknown as JsonValue
  }
  if (!Number.isFinite(value)) {
    throw new JsonSyntaxError(`json: cannot unmarshal number ${literal} into Go value of type float64`)
  }
  return value
}

const escapable = /^["\\/bfnrt]$/

/** Between two pauses of our own parser. */
const valuesAtOnce = 1024

/** Recursive descent; its depth is bounded by `maxDepth`. */
class Parser {
  readonly #text: string
  readonly #path: (string | number)[] = []
  readonly #duplicates = new Set<string>()
  #at = 0
  #values = 0

  constructor(text: string) {
    this.#text = text
  }

  *parsing(): Resumable<ParsedJson> {
    const value = yield* resumed(this.#value())
    if (this.#skipBlanks() !== '') this.#fail('after top-level value')
    return { value, duplicates: [...this.#duplicates] }
  }

  #skipBlanks(): string {
    for (;;) {
      const c = this.#text.charAt(this.#at)
      if (c !== ' ' && c !== '\n' && c !== '\t' && c !== '\r') return c
      this.#at++
    }
  }

  /** Go reads bytes: it names the first byte of a character as if it were Latin-1. */
  #fail(context: string): never {
    const code = this.#text.codePointAt(this.#at)
    if (code === undefined) throw new JsonSyntaxError('unexpected end of JSON input')
    const byte = code < 0x80 ? code : (Buffer.from(String.fromCodePoint(code))[0] ?? 0)
    const c = String.fromCharCode(byte)
    const shown = c === "'" ? "'\\''" : c === '"' ? `'"'` : `'${quote(c).slice(1, -1)}'`
    throw new JsonSyntaxError(`invalid character ${shown} ${context}`)
  }

  #value(): MaybeResumable<JsonValue> {
    const c = this.#skipBlanks()
    if (c === '{') return this.#object()
    if (c === '[') return this.#array()
    if (c === '"') return this.#string()
    if (c === '-' || (c >= '0' && c <= '9')) return this.#number()
    if (c === 't') return this.#literal('true', true)
    if (c === 'f') return this.#literal('false', false)
    if (c === 'n') return this.#literal('null', null)
    return this.#fail('looking for beginning of value')
  }

  #literal(word: string, value: JsonValue): JsonValue {
    for (const expected of word) {
      if (this.#text.charAt(this.#at) !== expected) this.#fail(`in literal ${word} (expecting '${expected}')`)
      this.#at++
    }
    return value
  }

  #enter(key: string | number): void {
    this.#path.push(key)
    if (this.#path.length > maxDepth) throw new JsonDepthError(typeof key === 'number' ? '[' : '{')
  }

  *#object(): Resumable<JsonObject> {
    const out: JsonObject = {}
    const seen = new Set<string>()
    this.#at++
    if (this.#skipBlanks() === '}') {
      this.#at++
      return out
    }
    for (;;) {
      if (this.#skipBlanks() !== '"') this.#fail('looking for beginning of object key string')
      const key = this.#string()
      if (this.#skipBlanks() !== ':') this.#fail('after object key')
      this.#at++
      this.#enter(key)
      if (seen.has(key) && this.#duplicates.size < maxDuplicates) this.#duplicates.add(printPath(this.#path))
      seen.add(key)
      const value = this.#value()
      setMember(out, key, isResumable(value) ? yield* value : value)
      if (++this.#values % valuesAtOnce === 0) yield
      this.#path.pop()
      const c = this.#skipBlanks()
      if (c !== ',' && c !== '}') this.#fail('after object key:value pair')
      this.#at++
      if (c === '}') return out
    }
  }

  *#array(): Resumable<JsonValue[]> {
    const out: JsonValue[] = []
    this.#at++
    if (this.#skipBlanks() === ']') {
      this.#at++
      return out
    }
    for (;;) {
      this.#enter(out.length)
      const value = this.#value()
      out.push(isResumable(value) ? yield* value : value)
      if (++this.#values % valuesAtOnce === 0) yield
      this.#path.pop()
      const c = this.#skipBlanks()
      if (c !== ',' && c !== ']') this.#fail('after array element')
      this.#at++
      if (c === ']') return out
    }
  }

  /** A sound one is read by the native parser, in a tenth of the time; what is wrong with another is told here. */
  #string(): string {
    const from = this.#at
    const end = endOfString(this.#text, from)
    try {
      const text = parseJsonText(this.#text.slice(from, end + 1)) as string
      this.#at = end + 1
      return text
    } catch {
      return this.#failString()
    }
  }

  #failString(): never {
    for (;;) {
      this.#at++
      const code = this.#text.charCodeAt(this.#at)
      if (Number.isNaN(code) || code < 0x20) this.#fail('in string literal')
      if (code !== backslash) continue
      this.#at++
      const c = this.#text.charAt(this.#at)
      if (c === 'u') this.#checkUnicode()
      else if (!escapable.test(c)) this.#fail('in string escape code')
    }
  }

  #checkUnicode(): void {
    for (let i = 0; i < 4; i++) {
      this.#at++
      if (!/^[0-9a-fA-F]$/.test(this.#text.charAt(this.#at))) this.#fail('in \\u hexadecimal character escape')
    }
  }

  #digits(): boolean {
    const from = this.#at
    while (this.#text.charAt(this.#at) >= '0' && this.#text.charAt(this.#at) <= '9') this.#at++
    return this.#at > from
  }

  #number(): JsonValue {
    const from = this.#at
    if (this.#text.charAt(this.#at) === '-') this.#at++
    if (this.#text.charAt(this.#at) === '0') this.#at++
    else if (!this.#digits()) this.#fail('in numeric literal')
    if (this.#text.charAt(this.#at) === '.') {
      this.#at++
      if (!this.#digits()) this.#fail('after decimal point in numeric literal')
    }
    if (/[eE]/.test(this.#text.charAt(this.#at))) {
      this.#at++
      if (/[+-]/.test(this.#text.charAt(this.#at))) this.#at++
      if (!this.#digits()) this.#fail('in exponent of numeric literal')
    }
    return numberOf(this.#text.slice(from, this.#at))
  }
}

/** `a.b[0].c` */
export function printPath(path: readonly (string | number)[]): string {
  let out = ''
  for (const step of path) out += typeof step === 'number' ? `[${step}]` : out === '' ? step : `.${step}`
  return out
}
