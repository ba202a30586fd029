/**
 * JSON values as YAML. Block style, one document, no aliases. A text stands plain only where every YAML reader, of 1.1
 * and 1.2, takes it for the text it is; texts of several lines stand as literal blocks, all others in double quotes.
 *
 * A library would build a tree of nodes first, which takes twenty times as long as the text itself.
 */
import { type Resumable, runAtOnce } from '../base/resumable.ts'
import { isExactNumber } from './json-value.ts'

/** Words that a reader of YAML 1.1 takes for a boolean or null. */
const reserved = new Set(['y', 'n', 'yes', 'no', 'on', 'off', 'true', 'false', 'null', 'nan', 'inf'])
const longestReserved = 5
const longestPlain = 200

/** Begins with a letter, a slash or an underscore: no date or indicator does, of numbers only `e0`, to some readers. */
const plainWord = /^(?![eE][0-9])[A-Za-z/_][A-Za-z0-9._/@-]*(?::[A-Za-z0-9._/@-]+)*$/
const plainWords = /^[A-Za-z/_][A-Za-z0-9._/@-]*(?: [A-Za-z0-9_/][A-Za-z0-9._/@-]*)+$/

/** What a literal block can't hold: control characters, other line ends, what is no character. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const notLiteral = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/
/** What JSON leaves as it is and YAML does not allow. */
const escapedToo = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g

function quote(text: string): string {
  return JSON.stringify(text).replace(escapedToo, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function isPlain(text: string): boolean {
  if (text.length > longestPlain) return false
  if (plainWord.test(text)) return text.length > longestReserved || !reserved.has(text.toLowerCase())
  return plainWords.test(text)
}

/** The header of a literal block that holds the text; undefined where none can. */
function literalHeader(text: string): string | undefined {
  if (!text.includes('\n') || notLiteral.test(text) || !text.isWellFormed()) return undefined
  const first = text[0]
  // The first line gives the indentation.
  if (first === ' ' || first === '\n' || first === '\t') return undefined
  if (!text.endsWith('\n')) return '|-'
  return text.endsWith('\n\n') ? '|+' : '|'
}

/** More indentation than this must be less than the text itself. */
const freeIndentation = 64 * 1024

/** As a block each line is indented: a megabyte of line ends, 900 levels down, would be more than a string can hold. */
function isMostlyIndentation(text: string, indent: string): boolean {
  if (text.length * indent.length <= freeIndentation) return false
  let room = text.length + freeIndentation
  for (let at = text.indexOf('\n'); at !== -1 && room >= 0; at = text.indexOf('\n', at + 1)) room -= indent.length
  return room < 0
}

function scalar(value: unknown, indent: string): string {
  if (typeof value !== 'string') return JSON.stringify(value) ?? 'null'
  if (isPlain(value)) return value
  const header = isMostlyIndentation(value, indent) ? undefined : literalHeader(value)
  if (header === undefined) return quote(value)
  const body = value.endsWith('\n') ? value.slice(0, -1) : value
  return `${header}\n${indent}${body.replaceAll('\n', `\n${indent}`)}`
}

type Collection = readonly unknown[] | Readonly<Record<string, unknown>>

/** A map or list with something in it; all else stands on the line where it is named. */
function isBlock(value: unknown): value is Collection {
  if (typeof value !== 'object' || value === null || isExactNumber(value)) return false
  if (Array.isArray(value)) return value.length > 0
  for (const key in value) if ((value as Record<string, unknown>)[key] !== undefined) return true
  return false
}

/** Beyond that many characters a key must be marked as one. */
const longestKey = 1000

/** A collection of which some members are printed. */
interface Open {
  readonly value: Collection
  /** Undefined for lists. */
  readonly keys: readonly string[] | undefined
  readonly length: number
  /** Of its lines. */
  readonly indent: string
  next: number
  /** Nothing of it is printed: its first line begins right where the output stands. */
  isNew: boolean
}

function open(value: Collection, indent: string): Open {
  const keys = Array.isArray(value) ? undefined : Object.keys(value)
  return { value, keys, length: keys?.length ?? (value.length as number), indent, next: 0, isNew: true }
}

/** Characters between two pauses. */
const pauseEvery = 256 * 1024

/** What nests deeply is much longer as text than its values are: every line is indented. `take`: see `pauseEvery`. */
function* block(root: Collection, indent: string, take: (text: string) => void): Resumable<void> {
  let text = ''
  const stack = [open(root, indent)]
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    if (top.next === top.length) {
      stack.pop()
      continue
    }
    const key = top.keys?.[top.next] ?? top.next
    top.next++
    const member = (top.value as Readonly<Record<string | number, unknown>>)[key]
    if (typeof key === 'string' && member === undefined) continue
    const isOpen = isBlock(member)
    // A list in a map needs no indentation of its own.
    const inner = typeof key === 'string' && isOpen && Array.isArray(member) ? top.indent : `${top.indent}  `
    text += top.isNew ? '' : top.indent
    top.isNew = false
    text += typeof key === 'number' ? '- ' : nameOf(key, top.indent) + (isOpen ? `:\n${inner}` : ': ')
    if (isOpen) stack.push(open(member, inner))
    else text += `${scalar(member, inner)}\n`
    if (text.length > pauseEvery) {
      take(text)
      text = ''
      yield
    }
  }
  take(text)
}

function nameOf(key: string, indent: string): string {
  if (isPlain(key)) return key
  return key.length > longestKey ? `? ${quote(key)}\n${indent}` : quote(key)
}

/** Ends with a line end. `indent` stands before every line but the first. */
export function printYaml(value: unknown, indent: string = ''): string {
  if (!isBlock(value)) return lineOf(value, indent)
  let printed = ''
  const add = (text: string): void => {
    printed += text
  }
  runAtOnce(block(value, indent, add))
  return printed
}

const lineOf = (value: unknown, indent: string): string => `${scalar(value, `${indent}  `)}\n`

const textEncoder = new TextEncoder()

/** As `printYaml`, of what may be long: the bytes of the text, in pieces. */
export function* yamlBytesInSteps(value: unknown): Resumable<readonly Uint8Array[]> {
  if (!isBlock(value)) return [textEncoder.encode(lineOf(value, ''))]
  const pieces: Uint8Array[] = []
  yield* block(value, '', (text) => pieces.push(textEncoder.encode(text)))
  return pieces
}
