/**
 * What each namespace holds, as counts per storage name: the answer to 'is it empty' and 'what is left', at the price
 * of what is there and not of what could be. Of each namespace a record outside the heap: types and counts.
 */
import type { ByteSlabs, Slot } from '../slabs/byte-slabs.ts'
import { type KeyBytes, type PackedKeys, type PackedPart, RecordMap } from '../slabs/record-map.ts'

/** Of a type: its number, how many objects there are, and how many bytes of them are known. Zeros: a free place. */
const wordsPerType = 3
const mostBytes: number = 2 ** 32 - 1
/** Places are added so many at a time. */
const typesAtOnce = 8

const slashByte = 0x2f

export class ContentIndex {
  readonly #records: RecordMap
  /** A type's number is its place here, plus one. */
  readonly #storageNames: string[] = []
  readonly #numbers = new Map<string, number>()

  constructor(slabs: ByteSlabs) {
    this.#records = new RecordMap(slabs)
  }

  /** Bytes of the arrays by which namespaces are found. */
  get indexBytes(): number {
    return this.#records.indexBytes
  }

  find(namespace: string): ReadonlyMap<string, number> {
    const counts = new Map<string, number>()
    const slot = this.#records.find(namespace)
    const words = slot === 0 ? 0 : this.#wordsOf(slot)
    for (let at = 0; at < words; at += wordsPerType) {
      const count = this.#records.wordOf(slot, at + 1)
      if (count > 0) counts.set(this.#storageNames[this.#records.wordOf(slot, at) - 1] as string, count)
    }
    return counts
  }

  /** Of one type. */
  contentOf(storageName: string, namespace: string): { readonly count: number; readonly bytes: number } {
    const slot = this.#records.find(namespace)
    const words = slot === 0 ? 0 : this.#wordsOf(slot)
    const at = words === 0 ? 0 : this.#placeOf(slot, this.#numberOf(storageName), words)
    if (at === words) return { count: 0, bytes: 0 }
    return { count: this.#records.wordOf(slot, at + 1), bytes: this.#records.wordOf(slot, at + 2) }
  }

  /** `namespace` '' is not counted: it is where cluster-scoped objects are. */
  add(storageName: string, namespace: string | KeyBytes, bytes: number, count = 1): void {
    if (namespace === '') return
    const number = this.#numberOf(storageName)
    const slot = this.#records.find(namespace)
    if (slot === 0) return this.#records.add(namespace, 0, places(number, count, bytes))
    const words = this.#wordsOf(slot)
    let at = this.#placeOf(slot, number, words)
    if (at === words) at = this.#placeOf(slot, 0, words)
    if (at === words) {
      const before = Buffer.alloc(words * 4)
      this.#records.copyTo(slot, before, 0)
      return this.#records.update(slot, 0, Buffer.concat([before, places(number, count, bytes)]))
    }
    this.#records.setWord(slot, at, number)
    this.#records.setWord(slot, at + 1, this.#records.wordOf(slot, at + 1) + count)
    this.#resizeAt(slot, at, bytes)
  }

  /** Of one type, by their keys. Of none the bytes are known. */
  addPacked(storageName: string, { keys, numbers }: PackedKeys, { from, to, prefixLength }: PackedPart): void {
    let namespace: KeyBytes | undefined
    let count = 0
    for (let i = from; i < to; i++) {
      const start = (i === 0 ? 0 : (numbers[i * 2 - 1] as number)) + prefixLength
      const end = numbers[i * 2 + 1] as number
      if (namespace !== undefined && isIn(namespace, start, end)) count++
      else {
        if (namespace !== undefined) this.add(storageName, namespace, 0, count)
        namespace = namespaceAt(keys, start, end)
        count = 1
      }
    }
    if (namespace !== undefined) this.add(storageName, namespace, 0, count)
  }

  /** An object has other bytes now, or they have become known. */
  resize(storageName: string, namespace: string, delta: number): void {
    const slot = this.#records.find(namespace)
    const words = slot === 0 ? 0 : this.#wordsOf(slot)
    const at = words === 0 ? 0 : this.#placeOf(slot, this.#numberOf(storageName), words)
    if (at < words) this.#resizeAt(slot, at, delta)
  }

  remove(storageName: string, namespace: string, bytes: number): void {
    const slot = this.#records.find(namespace)
    if (slot === 0) return
    const words = this.#wordsOf(slot)
    const at = this.#placeOf(slot, this.#numberOf(storageName), words)
    if (at === words) return
    const left = this.#records.wordOf(slot, at + 1) - 1
    this.#records.setWord(slot, at + 1, left)
    this.#resizeAt(slot, at, left > 0 ? -bytes : -mostBytes)
    if (left > 0) return
    this.#records.setWord(slot, at, 0)
    for (let other = 0; other < words; other += wordsPerType) if (this.#records.wordOf(slot, other) !== 0) return
    this.#records.remove(slot)
  }

  #numberOf(storageName: string): number {
    const known = this.#numbers.get(storageName)
    if (known !== undefined) return known
    const number = this.#storageNames.push(storageName)
    this.#numbers.set(storageName, number)
    return number
  }

  #resizeAt(slot: Slot, at: number, delta: number): void {
    const bytes = this.#records.wordOf(slot, at + 2) + delta
    this.#records.setWord(slot, at + 2, Math.min(Math.max(bytes, 0), mostBytes))
  }

  #wordsOf(slot: Slot): number {
    return this.#records.lengthOf(slot) / 4
  }

  /** `words` = there is none. */
  #placeOf(slot: Slot, number: number, words: number): number {
    let at = 0
    while (at < words && this.#records.wordOf(slot, at) !== number) at += wordsPerType
    return at
  }
}

/** Of the key that begins there; undefined = of a cluster-scoped object. */
function namespaceAt(buffer: Uint8Array, start: number, end: number): KeyBytes | undefined {
  let slash = start
  while (slash < end && buffer[slash] !== slashByte) slash++
  return slash === start || slash === end ? undefined : { buffer, start, end: slash }
}

/** Does a key of the same buffer lie in this namespace? */
function isIn({ buffer, start, end }: KeyBytes, from: number, to: number): boolean {
  if (to - from <= end - start) return false
  for (let i = start; i <= end; i++) if (buffer[from + i - start] !== buffer[i]) return false
  return true
}

/** The first of them is taken. */
function places(number: number, count: number, bytes: number): Uint8Array {
  const words = new Uint32Array(typesAtOnce * wordsPerType)
  words[0] = number
  words[1] = count
  words[2] = bytes
  return new Uint8Array(words.buffer)
}
