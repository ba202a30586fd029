/** What the watch cache takes, as operators are told. */
import type { ByteSlabs } from '../slabs/byte-slabs.ts'
import type { TypeCache } from './type-cache.ts'

/** Nearly all of it outside the heap. */
export interface CacheMemory {
  readonly objects: number
  /** Of these, whose values no reader has asked for yet: they are read from the store at the first question. */
  readonly unfetched: number
  /** Versions that were replaced and that a reader may still ask for. */
  readonly replaced: number
  readonly bytes: {
    readonly values: number
    /** Keys, values, and what is lost at their ends. */
    readonly slots: number
    /** The buffers that slots lie in; what was never touched of them takes no memory. */
    readonly buffers: number
    readonly index: number
    /** On the heap: stored bytes of what is kept parsed. It takes several times as much. */
    readonly parsed: number
  }
}

export function cacheMemory(
  types: Iterable<TypeCache>,
  slabs: ByteSlabs,
  contentIndexBytes: number,
  parsed: number,
): CacheMemory {
  let [objects, unfetched, replaced, values, index] = [0, 0, 0, 0, contentIndexBytes]
  for (const { records, labelIndexBytes } of types) {
    objects += records.size
    unfetched += records.unfetched
    replaced += records.savedRecords
    values += records.valueBytes
    index += records.indexBytes + labelIndexBytes
  }
  const bytes = { values, slots: slabs.usedBytes, buffers: slabs.reservedBytes, index, parsed }
  return { objects, unfetched, replaced, bytes }
}
