/** What exists at the head of a store, as the versioned store asks for it. */
import { OrderedMap } from '../../base/ordered-map.ts'
import type { Entry, Revision, Span } from '../storage.ts'

export interface EntryCursor {
  /** undefined = past the last entry. */
  readonly entry: Entry | undefined
  next(): void
}

export interface Present {
  get(key: string): Entry | undefined
  /** In key order, at most `limit`; `more` says that the limit cut some off. */
  collect(span: Span, limit: number): { readonly entries: readonly Entry[]; readonly more: boolean }
  /** Calls `use` with a cursor on the first entry of the span, which is valid until it returns. */
  walk<T>(span: Span, use: (cursor: EntryCursor) => T): T
  /** A write has been committed. Answers what it replaced. `before`: its revision, undefined = it did not exist. */
  put(key: string, value: Uint8Array | undefined, revision: Revision, before: Revision | undefined): Entry | undefined
}

/** All of it in memory. */
export class MemoryPresent implements Present {
  readonly #entries = new OrderedMap<Entry>()

  get(key: string): Entry | undefined {
    return this.#entries.get(key)
  }

  collect({ start, end }: Span, limit: number): { readonly entries: readonly Entry[]; readonly more: boolean } {
    const { values, more } = this.#entries.collect(start, end, limit)
    return { entries: values, more }
  }

  walk<T>({ start }: Span, use: (cursor: EntryCursor) => T): T {
    const cursor = this.#entries.seek(start)
    return use({
      get entry() {
        return cursor.value
      },
      next: () => cursor.next(),
    })
  }

  put(key: string, value: Uint8Array | undefined, revision: Revision): Entry | undefined {
    return value === undefined ? this.#entries.delete(key) : this.#entries.set(key, { key, value, revision })
  }
}
