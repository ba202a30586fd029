/**
 * Where the watch cache gets its first state from: all objects of the store, page by page; or the keys of a store that
 * was just opened, whose values are fetched when they are asked for.
 */
import { objectsPrefix, objectsPrefixOf, parseObjectKey } from '../kube/object-key.ts'
import type { PackedKeys, PackedPart } from '../slabs/record-map.ts'
import {
  type Entry,
  type KeysPiece,
  type OpenedState,
  prefixSpan,
  type Revision,
  type Span,
  type Storage,
} from '../storage/storage.ts'

export const objectsSpan: Span = prefixSpan(objectsPrefix)

const pageEntries = 2000

export type ValueSource = Pick<OpenedState, 'valueAt' | 'valuesIn'>

/** Where no value is missing. */
export const withoutValues: ValueSource = {
  valueAt(key) {
    throw new Error(`${key} was loaded without a value`)
  },
  valuesIn: () => [],
}

/** Of one type, by the key within it. */
export function* valuesOf({ valuesIn }: ValueSource, storageName: string, { start, end }: Span): Iterable<Entry> {
  const prefix = objectsPrefixOf(storageName)
  for (const { key, revision, value } of valuesIn({ start: prefix + start, end: prefix + end })) {
    yield { key: key.slice(prefix.length), revision, value }
  }
}

/** Reads everything, in pages of one revision. */
export async function readObjects(
  storage: Storage,
  signal: AbortSignal,
): Promise<{ readonly revision: Revision; readonly entries: AsyncGenerator<readonly Entry[]> }> {
  const { end } = objectsSpan
  const first = await storage.range(objectsSpan, { limit: pageEntries, signal })
  async function* pages(): AsyncGenerator<readonly Entry[]> {
    let page = first
    for (;;) {
      yield page.entries
      const last = page.entries[page.entries.length - 1]
      if (!page.more || !last) return
      page = await storage.range({ start: `${last.key}\0`, end }, { at: first.revision, limit: pageEntries, signal })
    }
  }
  return { revision: first.revision, entries: pages() }
}

/**
 * Answers the revision of what was loaded. `begin`: told it before, and where values are that are not loaded; answers
 * where each type goes.
 */
export async function loadObjects(
  storage: Storage,
  signal: AbortSignal,
  begin: (revision: Revision, values: ValueSource) => (storageName: string) => LoadTarget,
): Promise<Revision> {
  const opened = storage.takeOpened?.()
  if (opened !== undefined) {
    await loadKeys(opened.pieces, begin(opened.revision, opened))
    return opened.revision
  }
  const { revision, entries } = await readObjects(storage, signal)
  const targetOf = begin(revision, withoutValues)
  for await (const page of entries) {
    for (const { key, revision: of, value } of page) {
      const place = parseObjectKey(key)
      if (place) targetOf(place.storageName).load(place.relative, of, value)
    }
  }
  return revision
}

/** Other work has a turn between two pieces. */
async function loadKeys(pieces: readonly KeysPiece[], targetOf: (storageName: string) => LoadTarget): Promise<void> {
  const loader = new KeyLoader(targetOf)
  for (const piece of pieces) {
    loader.load(piece)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

interface LoadTarget {
  /** `key`: within its type. */
  load(key: string, revision: Revision, value: Uint8Array): void
  /** Only valid during the call. Values are fetched when they are asked for. */
  loadKeys(keys: PackedKeys, part: PackedPart): void
}

/** Keys of one type follow each other: only the first of them is looked at as text. */
class KeyLoader {
  readonly #targetOf: (storageName: string) => LoadTarget
  #prefix: Uint8Array = new Uint8Array()
  #target: LoadTarget | undefined

  constructor(targetOf: (storageName: string) => LoadTarget) {
    this.#targetOf = targetOf
  }

  load(piece: KeysPiece): void {
    const count = piece.numbers.length / 2
    for (let from = 0; from < count; ) {
      if (!this.#isSame(piece, from)) this.#begin(piece, from)
      let to = from + 1
      while (to < count && this.#isSame(piece, to)) to++
      this.#target?.loadKeys(piece, { from, to, prefixLength: this.#prefix.length })
      from = to
    }
  }

  /** Of the same type as the key before. */
  #isSame({ keys, numbers }: KeysPiece, i: number): boolean {
    const start = startOfKey(numbers, i)
    const length = (numbers[i * 2 + 1] as number) - start
    return this.#target !== undefined && length > this.#prefix.length && beginsWith(keys, start, this.#prefix)
  }

  #begin({ keys, numbers }: KeysPiece, i: number): void {
    const place = parseObjectKey(textOf(keys, startOfKey(numbers, i), numbers[i * 2 + 1] as number))
    this.#target = place && this.#targetOf(place.storageName)
    this.#prefix = Buffer.from(place === undefined ? '' : objectsPrefixOf(place.storageName))
  }
}

const startOfKey = (numbers: Float64Array, i: number): number => (i === 0 ? 0 : (numbers[i * 2 - 1] as number))

const textOf = (bytes: Uint8Array, start: number, end: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8')

function beginsWith(bytes: Uint8Array, start: number, prefix: Uint8Array): boolean {
  for (let i = 0; i < prefix.length; i++) if (bytes[start + i] !== prefix[i]) return false
  return true
}
