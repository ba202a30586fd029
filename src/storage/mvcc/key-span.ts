/** Spans in the order of keys. */
import { bytesLess, needsByteOrder } from '../../base/key-order.ts'
import type { Span } from '../storage.ts'

/** A test for 'start ≤ key < end', prepared once for many keys. */
export function spanTest(span: Span): (key: string) => boolean {
  const { start, end } = span
  if (needsByteOrder(start) || needsByteOrder(end)) return (key) => !bytesLess(key, start) && bytesLess(key, end)
  return (key) => key >= start && key < end
}
