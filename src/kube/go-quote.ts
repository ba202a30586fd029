/**
 * Text as Go prints it, for messages that clients and scripts compare with upstream's.
 * @see Go strconv.Quote, encoding/json.Marshal
 */

const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u
const plain = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/

const named: Readonly<Record<string, string>> = {
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
    if (named[c] !== undefined) out += named[c]
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
