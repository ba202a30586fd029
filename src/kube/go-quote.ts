/**
 * Text as Go prints it, for messages that clients and scripts compare with upstream's.
 * @see Go strconv.Quote, encoding/json.Marshal
 */
import { isExactNumber, isJsonObject } from './json-value.ts'

const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u
const plain = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/

/** What has an escape of its own in a text of Go. */
export const goEscapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
}

/** True for what Go's unicode.IsPrint accepts: letters, marks, numbers, punctuation, symbols and the ASCII space. */
export const isPrintable = (character: string): boolean => printable.test(character)

/** `%q`: double quotes, backslash escapes, printable Unicode as it is. */
export function quote(text: string): string {
  if (plain.test(text)) return `"${text}"`
  let out = '"'
  for (const c of text.toWellFormed()) {
    const code = c.codePointAt(0) ?? 0
    if (goEscapes[c] !== undefined) out += goEscapes[c]
    else if (printable.test(c)) out += c
    else if (code < 0x80) out += `\\x${code.toString(16).padStart(2, '0')}`
    else if (code < 0x10000) out += `\\u${code.toString(16).padStart(4, '0')}`
    else out += `\\U${code.toString(16).padStart(8, '0')}`
  }
  return `${out}"`
}

/** `%#v` of a []string: `[]string{"a", "b"}`. */
export const quoteList = (texts: readonly string[]): string => `[]string{${texts.map(quote).join(', ')}}`

/** Go's json.Marshal escapes what would be unsafe inside HTML. Undefined prints as null. */
export function marshal(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null'
  return /[<>&\u2028\u2029]/.test(text)
    ? text.replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
    : text
}

/** `%v` of a JSON value held in Go's interface{}: `map[a:1 b:[x y]]`, keys sorted. */
export function printGoValue(value: unknown): string {
  if (value === null || value === undefined) return '<nil>'
  if (Array.isArray(value)) return `[${value.map(printGoValue).join(' ')}]`
  if (isJsonObject(value)) {
    const members = Object.keys(value)
      .sort()
      .map((key) => `${key}:${printGoValue(value[key])}`)
    return `map[${members.join(' ')}]`
  }
  if (isExactNumber(value)) return value.rawJSON
  return typeof value === 'number' ? printGoNumber(value) : String(value)
}

/**
 * Integers in full, others with an exponent of at least two digits from 1e+21 and below 1e-04, as Go's %v of a float64.
 */
function printGoNumber(value: number): string {
  if (Number.isSafeInteger(value)) return String(value)
  const magnitude = Math.abs(value)
  const text = magnitude >= 1e21 || magnitude < 1e-4 ? value.toExponential() : String(value)
  return text.replace(/e([+-])(\d)$/, 'e$10$2')
}

/** The dynamic type of a JSON value in Go's interface{}, as reflect prints it. */
export function goTypeOf(value: unknown): string {
  if (value === null || value === undefined) return '%!s(<nil>)'
  if (Array.isArray(value)) return '[]interface {}'
  if (isJsonObject(value)) return 'map[string]interface {}'
  if (isExactNumber(value)) return /[.eE]/.test(value.rawJSON) ? 'float64' : 'int64'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64'
  return 'string'
}
