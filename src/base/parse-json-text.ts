/**
 * `JSON.parse`, but for a fault of V8 (nodejs/node#63785, in Node 24 to 26.10): it reads a key that has escapes for
 * another one. Where all objects so far with the same keys before it went on with one and the same key, that one is
 * compared with the text of the next, escapes and all. So the object of one client decides how that of another is
 * read: behind `{"a":1,"\\":2}`, `{"a":1,"\"":2}` has a key `\` in it.
 *
 * An object with such a key is put together here, member by member. What has none in it is left to V8, whole.
 */
import { endOfString, isBlank, setMember } from './json-text.ts'

const backslash = '\\'
const [quoteMark, comma, colon] = [0x22, 0x2c, 0x3a]
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]

/** @throws SyntaxError as `JSON.parse` throws it */
export function parseJsonText(text: string): unknown {
  const value: unknown = JSON.parse(text)
  // From here on the text is known to be sound.
  return text.includes(backslash) && hasEscapedKey(text) ? new Assembly(text).whole() : value
}

/**
 * For who reads nothing of it: what V8 takes keys for does not matter then, and of many with escapes it is faster.
 * @throws SyntaxError
 */
export function checkJsonText(text: string): void {
  JSON.parse(text)
}

/** Visits the strings that have escapes, and no others. */
export function hasEscapedKey(text: string): boolean {
  for (let at = text.indexOf(backslash); at >= 0; ) {
    const end = endOfString(text, at - 1)
    if (text.charCodeAt(skipBlanks(text, end + 1)) === colon) return true
    at = text.indexOf(backslash, end + 1)
  }
  return false
}

/** A container that is put together. */
interface Part {
  readonly made: Made
  /** Under which the container that it is in has it. */
  readonly key: string
  readonly end: number
  /** The member to be read next. */
  at: number
  /** Where the members begin that are to be read together. */
  together: number
}

/** Without recursion: a text may be deeper than the stack. */
class Assembly {
  readonly #text: string
  /** Containers with an escaped key in them, however deep: where each begins, and where it ends. */
  readonly #ends: ReadonlyMap<number, number>

  constructor(text: string) {
    this.#text = text
    this.#ends = endsOfConcerned(text)
  }

  whole(): unknown {
    const outermost = this.#open(skipBlanks(this.#text, 0), '')
    const open = [outermost]
    for (let part: Part | undefined = outermost; part !== undefined; part = open.at(-1)) {
      const inner = this.#readOn(part)
      if (inner !== undefined) {
        open.push(inner)
        continue
      }
      open.pop()
      const outer = open.at(-1)
      if (outer !== undefined) put(outer.made, part.key, part.made)
    }
    return outermost.made
  }

  /** `begin`: one of `#ends`. */
  #open(begin: number, key: string): Part {
    const made: Made = this.#text.charCodeAt(begin) === openBrace ? {} : []
    const together = begin + 1
    return { made, key, end: this.#ends.get(begin) as number, at: skipBlanks(this.#text, together), together }
  }

  /** Until a member is to be put together itself. Members that V8 can read are handed to it together. */
  #readOn(part: Part): Part | undefined {
    const text = this.#text
    const { made, end } = part
    const isObject = !Array.isArray(made)
    while (part.at < end) {
      const member = part.at
      const keyEnd = isObject ? endOfString(text, member) : member
      const value = isObject ? skipBlanks(text, skipBlanks(text, keyEnd + 1) + 1) : member
      const inner = this.#ends.get(value)
      const valueEnd = inner === undefined ? endOfValue(text, value) : inner + 1
      const behind = skipBlanks(text, valueEnd) + 1
      // Behind the comma; at the last member, behind the end.
      part.at = skipBlanks(text, behind)
      if (inner === undefined && !(isObject && text.slice(member, keyEnd).includes(backslash))) continue
      add(made, text.slice(part.together, member))
      part.together = behind
      const key = isObject ? (JSON.parse(text.slice(member, keyEnd + 1)) as string) : ''
      if (inner !== undefined) return this.#open(value, key)
      put(made, key, JSON.parse(text.slice(value, valueEnd)))
    }
    if (part.together < end) add(made, text.slice(part.together, end))
    part.together = end
    return undefined
  }
}

type Made = Record<string, unknown> | unknown[]

function put(made: Made, key: string, value: unknown): void {
  if (Array.isArray(made)) made.push(value)
  else setMember(made, key, value)
}

/** Whole members, with a comma behind the last one or without. */
function add(made: Made, members: string): void {
  const text = members.trimEnd().replace(/,$/, '')
  if (text === '') return
  if (Array.isArray(made)) for (const item of JSON.parse(`[${text}]`) as unknown[]) made.push(item)
  else for (const [key, value] of Object.entries(JSON.parse(`{${text}}`) as object)) setMember(made, key, value)
}

function endsOfConcerned(text: string): ReadonlyMap<number, number> {
  const ends = new Map<number, number>()
  const open: number[] = []
  /** So many of the open ones, from the outermost on, are concerned. */
  let concerned = 0
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quoteMark: {
        const end = endOfString(text, at)
        const isKey = text.charCodeAt(skipBlanks(text, end + 1)) === colon
        if (isKey && text.slice(at, end).includes(backslash)) concerned = open.length
        at = end
        break
      }
      case openBrace:
      case openBracket:
        open.push(at)
        break
      case closeBrace:
      case closeBracket: {
        const begin = open.pop() as number
        if (open.length >= concerned) break
        ends.set(begin, at)
        concerned = open.length
        break
      }
    }
  }
  return ends
}

/** Of the value that begins here: the comma behind it, or the end of what it is in. */
function endOfValue(text: string, from: number): number {
  let depth = 0
  for (let at = from; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quoteMark:
        at = endOfString(text, at)
        break
      case openBrace:
      case openBracket:
        depth++
        break
      case closeBrace:
      case closeBracket:
        if (depth-- === 0) return at
        break
      case comma:
        if (depth === 0) return at
        break
    }
  }
  return text.length
}

function skipBlanks(text: string, from: number): number {
  let at = from
  for (let code = text.charCodeAt(at); isBlank(code); code = text.charCodeAt(at)) at++
  return at
}
