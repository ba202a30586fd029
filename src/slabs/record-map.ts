/**
 * Records by key and in key order (UTF-8 bytes), outside V8's heap: a revision and some bytes under each key.
 *
 * No reader ever holds memory of a slab. A `RecordView` names a slot and the revision it saw there. Asked for bytes, it
 * copies them from the slot while that still holds this revision, else it answers what was saved when the record was
 * replaced (`ReadEpochs`). Revisions are unique among all records that share the slabs, so a slot that was freed and
 * used again is never taken for what it held before.
 *
 * A record is a slot with the slot of its value (0 = to be fetched), the length of its key (two words), its revision
 * (a double) and its key. It stays where it is until it is removed. The value is a slot with its length (a word) and
 * its bytes.
 */
import { type ByteSlabs, offsetOf, type Slab, type Slot } from './byte-slabs.ts'
import { HashIndex } from './hash-index.ts'
import { type ReadEpoch, ReadEpochs, RecordView, type SavedRecord } from './read-epoch.ts'
import { type Place, SlotOrder } from './slot-order.ts'

const headerBytes = 16
const lengthBytes = 4

/** Answers the value of a record that was added without one; `keeps`: from now on it is here. May throw. */
export type FetchValue = (key: string, revision: number, keeps: boolean) => Uint8Array

/** A key that lies in a larger buffer, in UTF-8. */
export interface KeyBytes {
  readonly buffer: Uint8Array
  readonly start: number
  readonly end: number
}

/** Many keys that ascend, and revisions. Without values: they are fetched when they are asked for. */
export interface PackedKeys {
  /** In UTF-8, one behind the other. */
  readonly keys: Uint8Array
  /** Per key: its revision, and where it ends in `keys`. */
  readonly numbers: Float64Array
}

/** A part of packed keys: from one to below another, without the bytes that all of them begin with. */
export interface PackedPart {
  readonly from: number
  readonly to: number
  readonly prefixLength: number
}

export class RecordMap {
  readonly #slabs: ByteSlabs
  readonly #fetch: FetchValue
  readonly #byHash = new HashIndex()
  readonly #order = new SlotOrder()
  readonly #epochs = new ReadEpochs()
  /** The key that is looked for, and its hash. */
  #probe: Buffer = Buffer.alloc(64)
  #probeLength = 0
  #probeHash = 0
  /** The text that was made of it: mostly what is asked for is what was asked for last. */
  #probeText: string | undefined
  #newest = 0
  #valueBytes = 0
  #unfetched = 0

  constructor(slabs: ByteSlabs, fetch: FetchValue = noValue) {
    this.#slabs = slabs
    this.#fetch = fetch
  }

  get size(): number {
    return this.#order.size
  }

  /** Sum of all values that are here. */
  get valueBytes(): number {
    return this.#valueBytes
  }

  /** For a view that is let go now. */
  get epoch(): ReadEpoch {
    return this.#epochs.present
  }

  /** Records that are gone and kept, once for each epoch that may ask for them. */
  get savedRecords(): number {
    return this.#epochs.saved
  }

  /** Records whose value was not asked for yet. */
  get unfetched(): number {
    return this.#unfetched
  }

  /** Bytes of the arrays by which records are found. */
  get indexBytes(): number {
    return this.#byHash.sizeBytes + this.#order.sizeBytes
  }

  /** 0 = there is none. */
  find(key: string | KeyBytes): Slot {
    this.#look(key)
    return this.#byHash.find(this.#probeHash, this.#isProbe)
  }

  revisionOf(slot: Slot): number {
    return this.#slab(slot).doubles[offsetOf(slot) / 8 + 1] as number
  }

  keyOf(slot: Slot): string {
    const { bytes, words } = this.#slab(slot)
    const start = offsetOf(slot) + headerBytes
    return bytes.toString('utf8', start, start + (words[(start - headerBytes) / 4 + 1] as number))
  }

  lengthOf(slot: Slot): number {
    const value = this.#valueOf(slot)
    return this.#slab(value).words[offsetOf(value) / 4] as number
  }

  /** undefined = the value is empty. */
  firstByteOf(slot: Slot): number | undefined {
    const value = this.#valueOf(slot)
    const { bytes, words } = this.#slab(value)
    const offset = offsetOf(value)
    return words[offset / 4] === 0 ? undefined : bytes[offset + lengthBytes]
  }

  /** False = it is to be fetched. */
  hasValue(slot: Slot): boolean {
    return this.#slab(slot).words[offsetOf(slot) / 4] !== 0
  }

  /** A word of the value, for values that are made of words. */
  wordOf(slot: Slot, index: number): number {
    const value = this.#valueOf(slot)
    return this.#slab(value).words[(offsetOf(value) + lengthBytes) / 4 + index] as number
  }

  /** Changes a word in place: for records that have no readers but their owner. */
  setWord(slot: Slot, index: number, word: number): void {
    const value = this.#valueOf(slot)
    this.#slab(value).words[(offsetOf(value) + lengthBytes) / 4 + index] = word
  }

  /** Copies the value from `from` on; answers how many bytes that were. */
  copyTo(slot: Slot, target: Uint8Array, at: number, from = 0): number {
    const value = this.#valueOf(slot)
    const { bytes, words } = this.#slab(value)
    const start = offsetOf(value) + lengthBytes
    return bytes.copy(target, at, start + from, start + (words[(start - lengthBytes) / 4] as number))
  }

  view(slot: Slot): RecordView {
    return new RecordView(this, slot, this.revisionOf(slot), this.#epochs.present)
  }

  /** As `view`, of what this slot held when the epoch was the present one. */
  viewAt(slot: Slot, revision: number, epoch: ReadEpoch): RecordView {
    return new RecordView(this, slot, revision, epoch)
  }

  /** A view on which `hold` was called. */
  heldView(slot: Slot): RecordView {
    return new RecordView(this, slot, this.revisionOf(slot), undefined)
  }

  /** A copy of the value. One that has to be fetched for it is not kept. */
  glance(slot: Slot): Uint8Array {
    if (this.#slab(slot).words[offsetOf(slot) / 4] === 0)
      return this.#fetch(this.keyOf(slot), this.revisionOf(slot), false)
    const copy = Buffer.allocUnsafe(this.lengthOf(slot))
    this.copyTo(slot, copy, 0)
    return copy
  }

  /** A copy that outlives the record. */
  saved(slot: Slot): SavedRecord {
    const bytes = Buffer.allocUnsafeSlow(this.lengthOf(slot))
    this.copyTo(slot, bytes, 0)
    return { key: this.keyOf(slot), revision: this.revisionOf(slot), bytes }
  }

  /**
   * The key must not be there. Fastest for the one behind all others. `value` undefined: it is fetched when it is asked
   * for.
   */
  add(key: string | KeyBytes, revision: number, value: Uint8Array | undefined): void {
    this.#look(key)
    const slot = this.#slabs.allocate(headerBytes + this.#probeLength)
    const { bytes, words, doubles } = this.#slab(slot)
    const offset = offsetOf(slot)
    words[offset / 4] = value === undefined ? 0 : this.#put(value)
    words[offset / 4 + 1] = this.#probeLength
    doubles[offset / 8 + 1] = revision
    for (let i = 0; i < this.#probeLength; i++) bytes[offset + headerBytes + i] = this.#probe[i] as number
    if (value === undefined) this.#unfetched++
    if (revision > this.#newest) this.#newest = revision
    this.#byHash.add(this.#probeHash, slot)
    const { last } = this.#order
    if (last !== undefined && this.#isBelow(last)) this.#order.append(slot)
    else this.#order.insert(this.#order.place(this.#isBelow), slot)
  }

  /** As `add` does, for many at once. */
  addPacked({ keys, numbers }: PackedKeys, { from, to, prefixLength }: PackedPart): void {
    for (let i = from; i < to; i++) {
      const start = endOfKey(numbers, i - 1) + prefixLength
      const end = endOfKey(numbers, i)
      const revision = numbers[i * 2] as number
      const { last } = this.#order
      if (last !== undefined && !this.#isAbove(last, keys, start, end)) {
        this.add({ buffer: keys, start, end }, revision, undefined)
        continue
      }
      const slot = this.#slabs.allocate(headerBytes + end - start)
      const { bytes, words, doubles } = this.#slab(slot)
      const offset = offsetOf(slot)
      words[offset / 4] = 0
      words[offset / 4 + 1] = end - start
      doubles[offset / 8 + 1] = revision
      // By hand: a call of `set` or `copy` costs more than a key of this length.
      for (let at = offset + headerBytes, byte = start; byte < end; byte++) bytes[at++] = keys[byte] as number
      this.#unfetched++
      if (revision > this.#newest) this.#newest = revision
      this.#byHash.add(hashOf(keys, start, end), slot)
      this.#order.append(slot)
    }
  }

  /** The value of a record that was added without one; false = it has one, or is not of this revision. */
  fill(key: string, revision: number, value: Uint8Array): boolean {
    const slot = this.find(key)
    if (slot === 0 || this.revisionOf(slot) !== revision) return false
    const { words } = this.#slab(slot)
    const at = offsetOf(slot) / 4
    if (words[at] !== 0) return false
    words[at] = this.#put(value)
    this.#unfetched--
    return true
  }

  update(slot: Slot, revision: number, value: Uint8Array, saved?: SavedRecord): void {
    this.#save(slot, saved)
    this.#drop(slot)
    const { words, doubles } = this.#slab(slot)
    words[offsetOf(slot) / 4] = this.#put(value)
    doubles[offsetOf(slot) / 8 + 1] = revision
    if (revision > this.#newest) this.#newest = revision
  }

  remove(slot: Slot, saved?: SavedRecord): void {
    this.#save(slot, saved)
    const { bytes, words } = this.#slab(slot)
    const start = offsetOf(slot) + headerBytes
    this.#look({ buffer: bytes, start, end: start + (words[(start - headerBytes) / 4 + 1] as number) })
    this.#byHash.remove(this.#probeHash, slot)
    this.#order.remove(this.#order.place(this.#isBelow))
    this.#drop(slot)
    this.#slabs.free(slot)
  }

  /** Of the keys from `start` to below `end`, at most `limit`, in order; `more` says that the limit cut some off. */
  slots(start: string, end: string, limit: number): { readonly slots: Uint32Array; readonly more: boolean } {
    const from = this.#placeOf(start)
    const to = this.#placeOf(end)
    const slots = this.#order.between(from, to, limit)
    return { slots, more: this.#order.rank(to) - this.#order.rank(from) > slots.length }
  }

  count(start: string, end: string): number {
    return this.#order.rank(this.#placeOf(end)) - this.#order.rank(this.#placeOf(start))
  }

  /** The slot still holds what had this revision. For views. */
  holds(slot: Slot, revision: number): boolean {
    const slab = this.#slabs.slab(slot)
    return slab !== undefined && slab.doubles[offsetOf(slot) / 8 + 1] === revision
  }

  #slab(slot: Slot): Slab {
    const slab = this.#slabs.slab(slot)
    if (slab === undefined) throw new Error(`slot ${slot} was freed`)
    return slab
  }

  #placeOf(key: string): Place {
    this.#look(key)
    return this.#order.place(this.#isBelow)
  }

  #save(slot: Slot, saved: SavedRecord | undefined): void {
    if (this.#epochs.areOpen) this.#epochs.save(saved ?? this.saved(slot), this.#newest)
  }

  /** The slot of its value, which is fetched if it is not here. */
  #valueOf(slot: Slot): Slot {
    const { words } = this.#slab(slot)
    const at = offsetOf(slot) / 4
    if (words[at] === 0) {
      words[at] = this.#put(this.#fetch(this.keyOf(slot), this.revisionOf(slot), true))
      this.#unfetched--
    }
    return words[at] as Slot
  }

  #put(value: Uint8Array): Slot {
    const slot = this.#slabs.allocate(lengthBytes + value.byteLength)
    const { bytes, words } = this.#slab(slot)
    words[offsetOf(slot) / 4] = value.byteLength
    bytes.set(value, offsetOf(slot) + lengthBytes)
    this.#valueBytes += value.byteLength
    return slot
  }

  #drop(slot: Slot): void {
    const value = this.#slab(slot).words[offsetOf(slot) / 4] as Slot
    if (value === 0) this.#unfetched--
    else {
      this.#valueBytes -= this.#slab(value).words[offsetOf(value) / 4] as number
      this.#slabs.free(value)
    }
  }

  #look(key: string | KeyBytes): void {
    if (key === this.#probeText) return
    const most = typeof key === 'string' ? key.length * 3 : key.end - key.start
    if (most > this.#probe.length) this.#probe = Buffer.alloc(most)
    if (typeof key === 'string') this.#probeLength = this.#probe.write(key, 'utf8')
    else {
      for (let i = 0; i < most; i++) this.#probe[i] = key.buffer[key.start + i] as number
      this.#probeLength = most
    }
    this.#probeText = typeof key === 'string' ? key : undefined
    this.#probeHash = hashOf(this.#probe, 0, this.#probeLength)
  }

  /** Is a key above that of a record? */
  #isAbove(slot: Slot, keys: Uint8Array, from: number, to: number): boolean {
    const { bytes, words } = this.#slab(slot)
    const start = offsetOf(slot) + headerBytes
    const length = words[(start - headerBytes) / 4 + 1] as number
    const shared = Math.min(length, to - from)
    for (let i = 0; i < shared; i++) {
      const difference = (keys[from + i] as number) - (bytes[start + i] as number)
      if (difference !== 0) return difference > 0
    }
    return to - from > length
  }

  readonly #isProbe = (slot: Slot): boolean => {
    const { bytes, words } = this.#slab(slot)
    const offset = offsetOf(slot)
    const length = this.#probeLength
    if (words[offset / 4 + 1] !== length) return false
    const probe = this.#probe
    const start = offset + headerBytes
    for (let i = 0; i < length; i++) if (bytes[start + i] !== probe[i]) return false
    return true
  }

  readonly #isBelow = (slot: Slot): boolean => {
    const { bytes, words } = this.#slab(slot)
    const offset = offsetOf(slot)
    const length = words[offset / 4 + 1] as number
    const probe = this.#probe
    const shared = Math.min(length, this.#probeLength)
    const start = offset + headerBytes
    for (let i = 0; i < shared; i++) {
      const difference = (bytes[start + i] as number) - (probe[i] as number)
      if (difference !== 0) return difference < 0
    }
    return length < this.#probeLength
  }
}

const endOfKey = (numbers: Float64Array, i: number): number => (i < 0 ? 0 : (numbers[i * 2 + 1] as number))

/** FNV-1a, with its bits mixed once more: both ends of it are used. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ (bytes[i] as number), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

function noValue(key: string): never {
  throw new Error(`${key} was added without a value`)
}
