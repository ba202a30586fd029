/**
 * Which watchers want a key? Asking each of them costs watchers × changes; here the starts and ends of all spans cut
 * the key space into segments, and each segment knows its watchers: one binary search per change.
 *
 * The segments are rebuilt when asked for the first time after spans came or went. Watches of storage are few (one per
 * resource type) and long, commits are many.
 */

import { bytesLess, needsByteOrder } from '../../base/key-order.ts'
import type { Span } from '../storage.ts'

export class SpanIndex<T> {
  readonly #spans = new Map<T, Span>()
  /** Ascending. Segment i is boundaries[i] ≤ key < boundaries[i + 1]. */
  #boundaries: string[] | undefined
  #owners: (readonly T[])[] = []
  /** `<` might order a boundary wrongly. Hardly any does. */
  #byBytes = false

  get size(): number {
    return this.#spans.size
  }

  add(owner: T, span: Span): void {
    this.#spans.set(owner, span)
    this.#boundaries = undefined
  }

  remove(owner: T): void {
    if (this.#spans.delete(owner)) this.#boundaries = undefined
  }

  owners(): IterableIterator<T> {
    return this.#spans.keys()
  }

  /** Everyone whose span holds `key`. */
  find(key: string): readonly T[] {
    const boundaries = this.#boundaries ?? this.#build()
    let low = 0
    let high = boundaries.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const boundary = boundaries[middle] as string
      if (this.#byBytes ? bytesLess(key, boundary) : key < boundary) high = middle
      else low = middle + 1
    }
    return low === 0 ? [] : (this.#owners[low - 1] ?? [])
  }

  #build(): string[] {
    const spans = [...this.#spans].filter(([, span]) => bytesLess(span.start, span.end))
    const boundaries = [...new Set(spans.flatMap(([, span]) => [span.start, span.end]))].sort((a, b) =>
      a === b ? 0 : bytesLess(a, b) ? -1 : 1,
    )
    const place = new Map(boundaries.map((boundary, i) => [boundary, i]))
    const owners: T[][] = boundaries.map(() => [])
    for (const [owner, span] of spans) {
      const end = place.get(span.end) ?? 0
      for (let i = place.get(span.start) ?? 0; i < end; i++) owners[i]?.push(owner)
    }
    this.#boundaries = boundaries
    this.#byBytes = boundaries.some(needsByteOrder)
    this.#owners = owners
    return boundaries
  }
}
