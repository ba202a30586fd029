/**
 * One step of a field path, in the text form that FieldsV1 uses as its keys:
 *
 *   f:<name>   a field of a struct or map
 *   k:<json>   the item of a list with those merge keys: compact JSON, keys sorted
 *   v:<json>   the member of a set with that value
 *   i:<n>      the item with that index (read, never written)
 *
 * The text is canonical, so equal steps are equal strings.
 * @see sigs.k8s.io/structured-merge-diff/v6 fieldpath/serialize-pe.go
 */
import { parseJsonText } from '../../base/parse-json-text.ts'
import { isJsonObject } from '../json-value.ts'
import { JsonSyntaxError, parseJson } from '../strict-json.ts'
import type { JsonObject, JsonValue } from '../types.ts'

export type PathElement = string

/** Bounded: field names are few and short, map keys are not. */
const maxCachedElements = 4096
const longestCachedName = 256
const fieldElements = new Map<string, PathElement>()

/**
 * Kept, because a fresh string must be hashed and looked up before it can be a key, on every write of every object.
 */
export function fieldElement(name: string): PathElement {
  const known = fieldElements.get(name)
  if (known !== undefined) return known
  const element = `f:${name}`
  if (fieldElements.size < maxCachedElements && name.length <= longestCachedName) fieldElements.set(name, element)
  return element
}

export const valueElement = (value: JsonValue): PathElement => `v:${goJson(value)}`

/** `names` ascending. Names without a value in `values` are left out. */
export function keyElement(names: readonly string[], values: (name: string) => JsonValue | undefined): PathElement {
  let text = ''
  for (const name of names) {
    const value = values(name)
    if (value !== undefined) text += `${text && ','}${goJson(name)}:${goJson(value)}`
  }
  return `k:{${text}}`
}

/** What needs no escaping. */
const plain = /^[\w ./:+-]*$/

/** JSON as Go's encoder writes it: the same, but for five characters. */
export function goJson(value: JsonValue): string {
  if (typeof value === 'number') return String(value)
  if (typeof value === 'string' && plain.test(value)) return `"${value}"`
  const text = JSON.stringify(value)
  return /[<>&\u2028\u2029]/.test(text)
    ? text.replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
    : text
}

/** What may be an integer beyond 2^53, which `JSON.parse` takes for one beside it. */
const manyDigits = /\d{16}/

/** @throws SyntaxError */
function exactJson(text: string): JsonValue {
  if (!manyDigits.test(text)) return parseJsonText(text) as JsonValue
  try {
    return parseJson(text).value
  } catch (error) {
    throw error instanceof JsonSyntaxError ? new SyntaxError(error.message) : error
  }
}

/**
 * The canonical text of an element that another program wrote; undefined for a kind of element we do not know, which
 * is dropped as upstream drops it.
 * @throws SyntaxError for anything malformed
 */
export function canonicalElement(text: string): PathElement | undefined {
  if (text[1] !== ':') throw new SyntaxError(`missing colon: ${text}`)
  const content = text.slice(2)
  switch (text[0]) {
    case 'f':
      return text
    case 'k': {
      const keys: unknown = exactJson(content)
      if (!isJsonObject(keys)) throw new SyntaxError(`not an object: ${text}`)
      return keyElement(Object.keys(keys).sort(), (name) => keys[name])
    }
    case 'v':
      return valueElement(exactJson(content))
    case 'i':
      if (!/^-?\d+$/.test(content)) throw new SyntaxError(`not an index: ${text}`)
      return `i:${Number(content)}`
    default:
      return undefined
  }
}

const ranks = '.fkvi'

/**
 * The order of siblings: `.`, then fields by name, keyed items, set members and indices, each by value. Names are
 * compared by UTF-16 units; upstream's byte order differs from that only beyond the basic plane.
 */
/** An element with what its order goes by, read once: sorting looks at each many times. */
export interface Sibling {
  readonly element: PathElement
  /** Of keyed items, and of set members that are objects. */
  readonly members?: readonly (readonly [string, JsonValue])[]
  /** Of other set members and indices. */
  readonly value?: JsonValue
}

export function siblingOf(element: PathElement): Sibling {
  const kind = element.charAt(0)
  if (kind === 'f' || kind === '.') return { element }
  const value = parseJsonText(element.slice(2)) as JsonValue
  return isJsonObject(value) ? { element, members: Object.entries(value) } : { element, value }
}

export function compareSiblings(a: Sibling, b: Sibling): number {
  if (a.element === b.element) return 0
  const kind = a.element.charAt(0)
  const other = b.element.charAt(0)
  if (kind !== other) return ranks.indexOf(kind) - ranks.indexOf(other)
  if (kind === 'f') return a.element < b.element ? -1 : 1
  const order =
    a.members && b.members ? compareKeys(a.members, b.members) : compareScalars(a.value ?? null, b.value ?? null)
  // Integers beyond 2^53 that are one number here.
  return order || (a.element < b.element ? -1 : 1)
}

function compareKeys(left: NonNullable<Sibling['members']>, right: NonNullable<Sibling['members']>): number {
  for (let i = 0; i < left.length && i < right.length; i++) {
    const [name, value] = left[i] as [string, JsonValue]
    const [otherName, otherValue] = right[i] as [string, JsonValue]
    if (name !== otherName) return name < otherName ? -1 : 1
    const order = compareScalars(value, otherValue)
    if (order !== 0) return order
  }
  return left.length - right.length
}

const typeOrder = ['number', 'string', 'boolean', 'object']

function compareScalars(a: JsonValue, b: JsonValue): number {
  if (typeof a !== typeof b) return typeOrder.indexOf(typeof a) - typeOrder.indexOf(typeof b)
  if (a === b || a === null || b === null) return 0
  return a < b ? -1 : 1
}

/** As conflicts name it: `.spec`, `[name="web"]`, `[="x"]`, `[3]`. */
export function showElement(element: PathElement): string {
  const content = element.slice(2)
  switch (element.charAt(0)) {
    case 'f':
      return `.${content}`
    case 'k':
      return `[${Object.entries(exactJson(content) as JsonObject)
        .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
        .join(',')}]`
    case 'v':
      return `[=${JSON.stringify(exactJson(content))}]`
    default:
      return `[${content}]`
  }
}

export const showPath = (path: readonly PathElement[]): string => path.map(showElement).join('')
