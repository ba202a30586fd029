/**
 * Text → tokens. Numbers and quoted texts are read here, so that the parser sees values.
 * @see https://github.com/google/cel-spec/blob/master/doc/langdef.md#syntax
 */
import { append } from '../base/append.ts'
import { type CelValue, Uint } from './values.ts'

export interface Token {
  /** `op` stands for itself, in `text`; `end` is after the last. */
  readonly kind: 'ident' | 'quoted-ident' | 'literal' | 'op' | 'end'
  readonly text: string
  readonly value?: CelValue
  readonly offset: number
}

/** One thing wrong with an expression, and where. */
export interface Fault {
  readonly message: string
  readonly offset: number
}

export class SyntaxFault extends Error {
  override readonly name = 'SyntaxFault'
  readonly fault: Fault
  constructor(message: string, offset: number) {
    super(message)
    this.fault = { message: `Syntax error: ${message}`, offset }
  }
}

const space = /(?:[ \t\r\n\f]|\/\/[^\n]*)*/y
const identifier = /[_a-zA-Z][_a-zA-Z0-9]*/y
const quotedIdentifier = /`([a-zA-Z0-9_\-./ ]+)`/y
const number =
  /0[xX]([0-9a-fA-F]+)([uU]?)|\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?|(\d+)([uU]?)/y
const quoteStart = /([rRbB]{0,2})("""|'''|"|')/y
const operators = ['==', '!=', '<=', '>=', '&&', '||', ...'+-*/%<>!?:.,()[]{}']

const maxInt = 2n ** 63n
const maxUint = 2n ** 64n

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

/** @throws SyntaxFault */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  for (;;) {
    at += matchAt(space, text, at)?.[0].length ?? 0
    if (at >= text.length) break
    const token = tokenAt(text, at)
    tokens.push(token.token)
    at = token.end
  }
  tokens.push({ kind: 'end', text: '<EOF>', offset: text.length })
  return tokens
}

function tokenAt(text: string, at: number): { token: Token; end: number } {
  const quote = matchAt(quoteStart, text, at)
  if (quote && isPrefix(quote[1] ?? '')) return quotedAt(text, at, quote)
  const ident = matchAt(identifier, text, at)
  if (ident) return { token: { kind: 'ident', text: ident[0], offset: at }, end: at + ident[0].length }
  const escaped = matchAt(quotedIdentifier, text, at)
  if (escaped) {
    return { token: { kind: 'quoted-ident', text: escaped[1] ?? '', offset: at }, end: at + escaped[0].length }
  }
  const digits = matchAt(number, text, at)
  if (digits) {
    const value = numberOf(digits, at)
    return { token: { kind: 'literal', text: digits[0], value, offset: at }, end: at + digits[0].length }
  }
  const op = operators.find((o) => text.startsWith(o, at))
  if (op === undefined) {
    const bad = String.fromCodePoint(text.codePointAt(at) ?? 0)
    throw new SyntaxFault(`token recognition error at: '${bad}'`, at)
  }
  return { token: { kind: 'op', text: op, offset: at }, end: at + op.length }
}

const isPrefix = (prefix: string): boolean => ['', 'r', 'b', 'rb', 'br'].includes(prefix.toLowerCase())

/** Without a sign: the parser knows whether a minus stands before it, and checks the range. */
function numberOf(m: RegExpExecArray, at: number): CelValue {
  const [all, hex, hexUnsigned, decimal, unsigned] = m
  if (hex === undefined && decimal === undefined) return Number(all)
  const whole = BigInt(hex === undefined ? (decimal ?? '0') : `0x${hex}`)
  if (hexUnsigned || unsigned) {
    if (whole >= maxUint) throw new SyntaxFault('invalid uint literal', at)
    return new Uint(whole)
  }
  if (whole > maxInt) throw new SyntaxFault('invalid int literal', at)
  return whole
}

function quotedAt(text: string, at: number, m: RegExpExecArray): { token: Token; end: number } {
  const [start, prefix = '', quote = '"'] = m
  const raw = /r/i.test(prefix)
  const asBytes = /b/i.test(prefix)
  let i = at + start.length
  const chunks: string[] = []
  const bytes: number[] = []
  const add = (s: string): void => {
    if (asBytes) append(bytes, Buffer.from(s))
    else chunks.push(s)
  }
  for (;;) {
    if (i >= text.length) throw new SyntaxFault('unterminated quoted text', at)
    if (text.startsWith(quote, i)) break
    const c = String.fromCodePoint(text.codePointAt(i) ?? 0)
    if (quote.length === 1 && (c === '\n' || c === '\r')) throw new SyntaxFault('unterminated quoted text', at)
    if (c !== '\\' || raw) {
      add(c)
      i += c.length
      continue
    }
    const escape = escapeAt(text, i)
    if (escape.octet !== undefined && asBytes) bytes.push(escape.octet)
    else {
      if (asBytes && escape.unicode) throw new SyntaxFault('unable to unescape string', i)
      add(escape.text)
    }
    i += escape.length
  }
  const value: CelValue = asBytes ? Uint8Array.from(bytes) : chunks.join('')
  const end = i + quote.length
  return { token: { kind: 'literal', text: text.slice(at, end), value, offset: at }, end }
}

const simpleEscapes: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '`': '`',
  '?': '?',
}

const escapes = /\\(?:[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2}))/y

interface Escape {
  readonly text: string
  readonly octet?: number
  readonly unicode: boolean
  readonly length: number
}

function escapeAt(text: string, at: number): Escape {
  const simple = simpleEscapes[text[at + 1] ?? '']
  if (simple !== undefined) return { text: simple, unicode: false, length: 2 }
  const m = matchAt(escapes, text, at)
  if (!m) throw new SyntaxFault('unable to unescape string', at)
  const [all, hex, short, long, octal] = m
  const code = octal === undefined ? Number.parseInt(hex ?? short ?? long ?? '', 16) : Number.parseInt(octal, 8)
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) throw new SyntaxFault('unable to unescape string', at)
  const isOctet = hex !== undefined || octal !== undefined
  return {
    text: String.fromCodePoint(code),
    ...(isOctet ? { octet: code } : {}),
    unicode: !isOctet,
    length: all.length,
  }
}
