/**
 * JSON as bytes, with places for a pause: the counterpart of `json-pieces.ts`. `JSON.stringify` of a map of 29,000
 * members is one piece of 10 ms, and of an object with as many `managedFields` two. With a stack of its own, and
 * nothing is looked into before it is printed: each level would go through all below it.
 */
import type { Resumable } from '../base/resumable.ts'
import { isExactNumber } from './json-value.ts'

const membersAtOnce = 1024
/** Characters that are made into bytes at a time. */
const pieceLength = 256 * 1024

type Collection = readonly unknown[] | Readonly<Record<string, unknown>>

/** A collection of which some members are printed. */
interface Open {
  readonly value: Collection
  /** Undefined for lists. */
  readonly keys: readonly string[] | undefined
  readonly length: number
  next: number
  /** What stands before the next member. */
  separator: '' | ','
}

function open(value: Collection): Open {
  const keys = Array.isArray(value) ? undefined : Object.keys(value)
  return { value, keys, length: keys?.length ?? (value.length as number), next: 0, separator: '' }
}

const isCollection = (value: unknown): value is Collection =>
  typeof value === 'object' && value !== null && !isExactNumber(value)

/** The bytes of `JSON.stringify(root)`, in a buffer of their own. `root` is plain JSON: no value has a `toJSON`. */
export function* printingJson(root: Collection): Resumable<Uint8Array> {
  const pieces: Uint8Array[] = []
  const stack = [open(root)]
  let text = Array.isArray(root) ? '[' : '{'
  let printed = 0
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    if (text.length >= pieceLength) {
      pieces.push(Buffer.from(text))
      text = ''
    }
    if (++printed % membersAtOnce === 0) yield
    if (top.next === top.length) {
      text += top.keys === undefined ? ']' : '}'
      stack.pop()
      continue
    }
    const key = top.keys?.[top.next] ?? top.next
    top.next++
    const member = (top.value as Readonly<Record<string | number, unknown>>)[key]
    if (typeof key === 'string') {
      if (member === undefined) continue
      text += `${top.separator}${JSON.stringify(key)}:`
    } else text += top.separator
    top.separator = ','
    if (isCollection(member)) {
      text += Array.isArray(member) ? '[' : '{'
      stack.push(open(member))
    } else text += JSON.stringify(member) ?? 'null'
  }
  pieces.push(Buffer.from(text))
  yield
  return joined(pieces)
}

/** Not a slice of the pool, as what is stored is kept for long. */
function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = Buffer.allocUnsafeSlow(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}
