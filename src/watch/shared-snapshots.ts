/**
 * Snapshots of the same span with no change between them note the same versions: a hundred watches that begin with the
 * same ten thousand objects keep one note. Kept weakly: it lives as long as a reader needs it.
 */
import { bytesLess } from '../base/key-order.ts'
import type { ReadEpoch } from '../slabs/read-epoch.ts'
import type { ObjectVersion } from './stored-object.ts'
import type { Noted } from './version-snapshot.ts'

/** Half-open, in relative keys. */
interface Span {
  readonly start: string
  readonly end: string
}

export interface TakenNote {
  readonly noted: Noted
  /** There was more than the limit. */
  readonly more: boolean
  /** In which the noted versions can be read, however late. */
  readonly epoch: ReadEpoch
  /** Of a short one, the versions themselves. */
  readonly few: readonly ObjectVersion[] | undefined
}

interface SharedNote {
  readonly span: Span
  readonly limit: number
  readonly note: WeakRef<TakenNote>
}

/** Spans that are shared at a time: each change is compared with them. */
const maxShared = 8

/** Notes of fewer versions are soon taken again. */
export const sharedFrom = 16

export class SharedSnapshots {
  #shared: SharedNote[] = []

  find({ start, end }: Span, limit: number): TakenNote | undefined {
    return this.#shared
      .find((shared) => shared.span.start === start && shared.span.end === end && shared.limit === limit)
      ?.note.deref()
  }

  share(span: Span, limit: number, note: TakenNote): void {
    const others = this.#shared.filter(
      (shared) =>
        shared.note.deref() !== undefined &&
        (shared.span.start !== span.start || shared.span.end !== span.end || shared.limit !== limit),
    )
    this.#shared = [{ span, limit, note: new WeakRef(note) }, ...others].slice(0, maxShared)
  }

  /** Called before what is under the key changes. */
  changed(key: string): void {
    if (this.#shared.length === 0) return
    this.#shared = this.#shared.filter(({ span }) => bytesLess(key, span.start) || !bytesLess(key, span.end))
  }
}
