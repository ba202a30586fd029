/**
 * Keys are ordered by their UTF-8 bytes, as etcd and SQLite order them. JavaScript's `<` orders by UTF-16 units, which
 * is the same unless both strings differ at a unit from 0xD800 up: there surrogates (code points above 0xFFFF) come
 * last in UTF-8 but before 0xE000 in UTF-16. Almost every key is ASCII, so `<` is used wherever it is known to agree.
 */
import type { Span } from '../storage.ts'

const unitsThatDisagree = /[\ud800-\uffff]/

/** True if `<` may order this key wrongly against another such key. */
export function needsByteOrder(key: string): boolean {
  return unitsThatDisagree.test(key)
}

export function bytesLess(a: string, b: string): boolean {
  const shared = Math.min(a.length, b.length)
  for (let i = 0; i < shared; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) return x >= 0xd800 && y >= 0xd800 ? rank(x) < rank(y) : x < y
  }
  return a.length < b.length
}

/** Moves surrogates behind the units 0xE000-0xFFFF. */
function rank(unit: number): number {
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000
}

/** A test for 'start ≤ key < end', prepared once for many keys. */
export function spanTest(span: Span): (key: string) => boolean {
  const { start, end } = span
  if (needsByteOrder(start) || needsByteOrder(end)) return (key) => !bytesLess(key, start) && bytesLess(key, end)
  return (key) => key >= start && key < end
}
