/**
 * The kept past: every change after `base`, twice indexed. By revision, for watches that begin in the past; by key,
 * for reads `at` a revision. What a key held at revision r is the `previous` of its first change after r; without such
 * a change it is what the key holds now. So no old state is stored besides the changes themselves.
 *
 * Invariants: changes ascend by revision; nothing after `base` is missing; `base` is an end of a commit.
 */

import { OrderedMap } from '../../base/ordered-map.ts'
import type { Change, Entry, Revision } from '../storage.ts'
import { positionsPerCommit } from '../storage.ts'

/** Changes per segment: old history is dropped, and loaded, in pieces about this large. */
const segmentLength = 1024
/** What a change costs besides its bytes, roughly: the record, its places in both indexes, the array views. */
const overheadBytes = 250

interface Segment {
  readonly changes: Change[]
  sizeBytes: number
}

/** The changes of one key, ascending; those before `from` are dropped already. */
export interface Versions {
  changes: Change[]
  from: number
}

function sizeOf(change: Change): number {
  return overheadBytes + change.key.length + (change.value?.byteLength ?? 0)
}

export class History {
  #segments: Segment[] = []
  /** Changes of the first segment that are dropped already. */
  #front = 0
  #byKey = new OrderedMap<Versions>()
  #base: Revision
  #sizeBytes = 0

  constructor(base: Revision) {
    this.#base = base
  }

  /** Everything after this revision is here. */
  get base(): Revision {
    return this.#base
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  get byKey(): OrderedMap<Versions> {
    return this.#byKey
  }

  append(change: Change): void {
    let segment = this.#segments[this.#segments.length - 1]
    if (!segment || segment.changes.length >= segmentLength) {
      segment = { changes: [], sizeBytes: 0 }
      this.#segments.push(segment)
    }
    const size = sizeOf(change)
    segment.changes.push(change)
    segment.sizeBytes += size
    this.#sizeBytes += size
    this.#byKey.add(change.key, { changes: [change], from: 0 })?.changes.push(change)
  }

  /** What the last change of the key has left; undefined = it is not here, or removed the key. */
  newest(key: string): Entry | undefined {
    const { revision, value } = this.#byKey.get(key)?.changes.at(-1) ?? {}
    return revision === undefined || value === undefined ? undefined : { key, revision, value }
  }

  /** Adds older changes (ascending, whole commits) in front; from now on everything after `base` is here. */
  prepend(changes: readonly Change[], base: Revision): void {
    const first = this.#segments[0]
    if (first && this.#front > 0) {
      first.changes.splice(0, this.#front)
      this.#front = 0
    }
    let sizeBytes = 0
    for (const change of changes) sizeBytes += sizeOf(change)
    if (changes.length > 0) this.#segments.unshift({ changes: [...changes], sizeBytes })
    this.#sizeBytes += sizeBytes
    for (const change of changes.toReversed()) {
      const versions = this.#byKey.get(change.key)
      if (versions) versions.changes.unshift(change)
      else this.#byKey.set(change.key, { changes: [change], from: 0 })
    }
    this.#base = base
  }

  /**
   * Forgets at most `limit` of the changes up to `revision` (an end of a commit). True when none is left: only then
   * does `base` move, so callers refuse what is older by themselves in the meantime.
   */
  drop(revision: Revision, limit: number): boolean {
    for (let dropped = 0; dropped < limit; dropped++) {
      const segment = this.#segments[0]
      const change = segment?.changes[this.#front]
      if (!segment || !change || change.revision > revision) {
        this.#base = Math.max(this.#base, revision)
        return true
      }
      const size = sizeOf(change)
      segment.sizeBytes -= size
      this.#sizeBytes -= size
      this.#front++
      if (this.#front === segment.changes.length) {
        this.#segments.shift()
        this.#front = 0
      }
      this.#dropVersion(change.key)
    }
    return false
  }

  /**
   * Up to about `limit` changes after `after`, whole commits only (the last may carry it over the limit).
   * `after` must not be older than `base`.
   */
  after(after: Revision, limit: number): readonly Change[] {
    const found: Change[] = []
    let at = this.#segmentAfter(after)
    let segment = this.#segments[at]
    let i = segment ? firstAfter(segment.changes, at === 0 ? this.#front : 0, after) : 0
    while (segment) {
      const change = segment.changes[i]
      if (!change) {
        segment = this.#segments[++at]
        i = 0
        continue
      }
      const last = found[found.length - 1]
      if (found.length >= limit && last && !sameCommit(last, change)) break
      found.push(change)
      i++
    }
    return found
  }

  /** The first change of a key after `revision`, if it has one. */
  static firstAfter(versions: Versions, revision: Revision): Change | undefined {
    return versions.changes[firstAfter(versions.changes, versions.from, revision)]
  }

  /** The youngest revision of a change with more than `sizeBytes` of history after it; undefined if all fits. */
  revisionBeyond(sizeBytes: number): Revision | undefined {
    let sum = 0
    for (let i = this.#segments.length - 1; i >= 0; i--) {
      const segment = this.#segments[i] as Segment
      sum += segment.sizeBytes
      if (sum > sizeBytes) return segment.changes[segment.changes.length - 1]?.revision
    }
    return undefined
  }

  #dropVersion(key: string): void {
    const versions = this.#byKey.get(key)
    if (!versions) return
    versions.from++
    if (versions.from === versions.changes.length) this.#byKey.delete(key)
    else if (versions.from >= 32 && versions.from * 2 >= versions.changes.length) {
      versions.changes = versions.changes.slice(versions.from)
      versions.from = 0
    }
  }

  /** Index of the first segment that holds a change after `revision`. */
  #segmentAfter(revision: Revision): number {
    let low = 0
    let high = this.#segments.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const changes = (this.#segments[middle] as Segment).changes
      if ((changes[changes.length - 1] as Change).revision <= revision) low = middle + 1
      else high = middle
    }
    return low
  }
}

function sameCommit(a: Change, b: Change): boolean {
  return Math.floor(a.revision / positionsPerCommit) === Math.floor(b.revision / positionsPerCommit)
}

function firstAfter(changes: readonly Change[], from: number, revision: Revision): number {
  let low = from
  let high = changes.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((changes[middle] as Change).revision <= revision) low = middle + 1
    else high = middle
  }
  return low
}
