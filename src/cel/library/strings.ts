/**
 * Texts, beyond the language's own functions. Positions count code points.
 * @see cel-go ext/strings.go (version 2, as Kubernetes v0.36 has it)
 */
import { goEscapes } from '../../kube/go-quote.ts'
import type { Budget } from '../budget.ts'
import { fn, type Library, method } from '../functions.ts'
import { ArrayList, CelError, type CelList } from '../values.ts'
import { formatText } from './format-text.ts'

/** Most texts have no characters beyond one UTF-16 unit, and need no list of characters. */
const isPlain = (text: string): boolean => !/[\ud800-\udfff]/.test(text)

const slice = (text: string, from: number, to: number): string =>
  isPlain(text) ? text.slice(from, to) : [...text].slice(from, to).join('')

const lengthOf = (text: string): number => (isPlain(text) ? text.length : [...text].length)

function charAt(text: string, at: bigint, budget: Budget): string {
  budget.work(text.length / 10)
  const length = lengthOf(text)
  if (at < 0n || at > length) throw new CelError(`index out of range: ${at}`)
  return slice(text, Number(at), Number(at) + 1)
}

function indexOf(text: string, part: string, from: bigint, budget: Budget): bigint {
  budget.work((text.length + part.length) / 5)
  const length = lengthOf(text)
  if (from < 0n || from > length) throw new CelError(`index out of range: ${from}`)
  if (part === '') return from
  if (isPlain(text)) return BigInt(text.indexOf(part, Number(from)))
  const units = slice(text, 0, Number(from)).length
  const found = text.indexOf(part, units)
  return found < 0 ? -1n : BigInt(lengthOf(text.slice(0, found)))
}

function lastIndexOf(text: string, part: string, from: bigint | undefined, budget: Budget): bigint {
  budget.work((text.length + part.length) / 5)
  const length = lengthOf(text)
  if (from !== undefined && (from < 0n || from > length)) throw new CelError(`index out of range: ${from}`)
  if (part === '') return from ?? BigInt(length)
  const limit = from === undefined ? text.length : slice(text, 0, Number(from)).length
  const found = text.lastIndexOf(part, limit)
  return found < 0 ? -1n : BigInt(lengthOf(text.slice(0, found)))
}

function substring(text: string, from: bigint, to: bigint | undefined, budget: Budget): string {
  budget.work(text.length / 10)
  const length = lengthOf(text)
  if (to !== undefined) {
    if (from > to) throw new CelError(`invalid substring range. start: ${from}, end: ${to}`)
    if (from < 0n || from > length) throw new CelError(`index out of range: ${from}`)
    if (to < 0n || to > length) throw new CelError(`index out of range: ${to}`)
  } else if (from < 0n || from > length) throw new CelError(`index out of range: ${from}`)
  return slice(text, Number(from), to === undefined ? length : Number(to))
}

function replace(text: string, old: string, by: string, limit: bigint, budget: Budget): string {
  budget.work((text.length + old.length + by.length) / 5)
  if (limit === 0n) return text
  const most = limit < 0n ? Infinity : Number(limit)
  const out: string[] = []
  let at = 0
  let size = 0
  for (let count = 0; count < most; count++) {
    const found = old === '' ? (at <= text.length && count > 0 ? nextCharacter(text, at) : at) : text.indexOf(old, at)
    if (found < 0 || found > text.length) break
    out.push(text.slice(at, found), by)
    size += found - at + by.length
    budget.charge(Math.ceil(by.length / 10))
    at = found + old.length
    if (old === '' && found >= text.length) break
  }
  if (size > maxText) throw new CelError('text too long')
  return out.join('') + text.slice(at)
}
const maxText = 2 ** 26

const nextCharacter = (text: string, at: number): number =>
  at >= text.length ? text.length + 1 : at + String.fromCodePoint(text.codePointAt(at) ?? 0).length

function split(text: string, separator: string, limit: bigint, budget: Budget): ArrayList {
  budget.work(text.length)
  if (limit === 0n) return new ArrayList([])
  if (limit === 1n) return new ArrayList([text])
  const parts = separator === '' ? [...text] : text.split(separator)
  const most = Number(limit)
  if (limit < 0n || parts.length <= most) return new ArrayList(parts)
  return new ArrayList([...parts.slice(0, most - 1), parts.slice(most - 1).join(separator)])
}

function join(list: CelList, separator: string, budget: Budget): string {
  const parts: string[] = []
  let size = 0
  for (const part of list) {
    if (typeof part !== 'string') throw new CelError('no such overload')
    parts.push(part)
    size += part.length + separator.length
    budget.work(1 + (part.length + separator.length) / 10)
    if (size > maxText) throw new CelError('text too long')
  }
  return parts.join(separator)
}

function quote(text: string, budget: Budget): string {
  budget.work(text.length)
  return `"${[...text].map((c) => goEscapes[c] ?? c).join('')}"`
}

/** What Unicode calls white space, without the byte order mark that JavaScript trims too. */
const blank = '[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]'
const leading = new RegExp(`^${blank}+`)

function trim(text: string, budget: Budget): string {
  budget.work(text.length / 10)
  let end = text.length
  while (end > 0 && leading.test(text.charAt(end - 1))) end--
  return text.slice(0, end).replace(leading, '')
}

export const stringsLibrary: Library = [
  method('string_char_at_int', 'charAt', ['string, int', 'string'], charAt),
  method('string_format', 'format', ['string, list(dyn)', 'string'], (text: string, args: CelList, budget: Budget) =>
    formatText(text, args, budget),
  ),
  method('string_index_of_string', 'indexOf', ['string, string', 'int'], (t: string, p: string, b: Budget) =>
    indexOf(t, p, 0n, b),
  ),
  method('string_index_of_string_int', 'indexOf', ['string, string, int', 'int'], indexOf),
  method('string_last_index_of_string', 'lastIndexOf', ['string, string', 'int'], (t: string, p: string, b: Budget) =>
    lastIndexOf(t, p, undefined, b),
  ),
  method('string_last_index_of_string_int', 'lastIndexOf', ['string, string, int', 'int'], lastIndexOf),
  method('string_lower_ascii', 'lowerAscii', ['string', 'string'], (t: string, b: Budget) => {
    b.work(t.length / 5)
    return t.replace(/[A-Z]+/g, (c) => c.toLowerCase())
  }),
  method('string_upper_ascii', 'upperAscii', ['string', 'string'], (t: string, b: Budget) => {
    b.work(t.length / 5)
    return t.replace(/[a-z]+/g, (c) => c.toUpperCase())
  }),
  method(
    'string_replace_string_string',
    'replace',
    ['string, string, string', 'string'],
    (t: string, o: string, n: string, b: Budget) => replace(t, o, n, -1n, b),
  ),
  method('string_replace_string_string_int', 'replace', ['string, string, string, int', 'string'], replace),
  method('string_split_string', 'split', ['string, string', 'list(string)'], (t: string, s: string, b: Budget) =>
    split(t, s, -1n, b),
  ),
  method('string_split_string_int', 'split', ['string, string, int', 'list(string)'], split),
  method('string_substring_int', 'substring', ['string, int', 'string'], (t: string, from: bigint, b: Budget) =>
    substring(t, from, undefined, b),
  ),
  method('string_substring_int_int', 'substring', ['string, int, int', 'string'], substring),
  method('string_trim', 'trim', ['string', 'string'], trim),
  method('list_join', 'join', ['list(string)', 'string'], (l: CelList, b: Budget) => join(l, '', b)),
  method('list_join_string', 'join', ['list(string), string', 'string'], join),
  fn('strings_quote', 'strings.quote', ['string', 'string'], quote),
]
