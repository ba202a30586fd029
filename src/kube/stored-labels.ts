/**
 * The labels of an object from the beginning of its stored bytes, which holds them: before them stand nothing but
 * scalars (`metadataKeys` in `stored-form.ts`). For selectors, which look at many objects that they do not choose.
 */

import { parseJsonText } from '../base/parse-json-text.ts'
import type { Labels } from './label-selector.ts'
import { storedRestOffset } from './stored-form.ts'

/** Holds the labels of nearly all objects there are. */
export const headBytes = 4096

export const noLabels: Labels = Object.freeze({})
const quoteMark = 0x22
const backslash = 0x5c
const comma = 0x2c
const closingBrace = 0x7d
/** What stands behind them. */
const later: ReadonlySet<string> = new Set(['annotations', 'ownerReferences', 'finalizers', 'managedFields'])

/** `head`: the first `length` bytes, or all. undefined = they do not tell. */
export function storedLabels(head: Buffer, length: number): Labels | undefined {
  let at = storedRestOffset
  for (;;) {
    if (head[at] !== quoteMark) return undefined
    const keyEnd = head.indexOf(quoteMark, at + 1)
    if (keyEnd < 0 || keyEnd >= length) return undefined
    const key = head.toString('latin1', at + 1, keyEnd)
    const value = keyEnd + 2
    if (key === 'labels') return labelsAt(head, value, length)
    if (later.has(key)) return noLabels
    const end = scalarEnd(head, value, length)
    if (end >= length) return undefined
    if (head[end] === closingBrace) return noLabels
    if (head[end] !== comma) return undefined
    at = end + 1
  }
}

/** Keys and values need no escape, and hold no brace. */
function labelsAt(head: Buffer, start: number, length: number): Labels | undefined {
  const end = head.indexOf(closingBrace, start)
  return end < 0 || end >= length ? undefined : (parseJsonText(head.toString('utf8', start, end + 1)) as Labels)
}

/** Of a text or a number: the place behind it. */
function scalarEnd(head: Buffer, start: number, length: number): number {
  let at = start
  if (head[at] !== quoteMark) {
    while (at < length && head[at] !== comma && head[at] !== closingBrace) at++
    return at
  }
  for (at++; at < length && head[at] !== quoteMark; at++) if (head[at] === backslash) at++
  return at + 1
}
