/**
 * A disk under a file system. What a process writes is seen at once and is durable once it is flushed; when the power
 * fails, of what was not flushed any sectors are there, in whatever order they were written. It can lie about flushes,
 * fail, fill up and decay.
 */
import type { Random } from '../../fuzz/random.ts'

/** Written whole or not at all. */
const sectorBytes = 512

type Pending =
  | { readonly type: 'write'; readonly at: number; readonly bytes: Buffer }
  | { readonly type: 'size'; readonly length: number }

/** Bytes that grow at the end without being copied each time. */
class Content {
  #bytes: Buffer
  #length: number

  constructor(bytes: Uint8Array = new Uint8Array(0)) {
    this.#bytes = Buffer.from(bytes)
    this.#length = bytes.length
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  apply(change: Pending): void {
    if (change.type === 'size') return this.#resize(change.length)
    const end = change.at + change.bytes.length
    if (end > this.#length) this.#resize(end)
    change.bytes.copy(this.#bytes, change.at)
  }

  #resize(length: number): void {
    if (length > this.#bytes.length) {
      const larger = Buffer.alloc(Math.max(length, 2 * this.#bytes.length))
      this.#bytes.copy(larger, 0, 0, this.#length)
      this.#bytes = larger
    } else if (length > this.#length) this.#bytes.fill(0, this.#length, length)
    this.#length = length
  }
}

export class DiskFile {
  #data = new Content()
  #durable = new Content()
  #pending: Pending[] = []
  /** Its name in the directory is durable. */
  isLinked = false

  get length(): number {
    return this.#data.bytes.length
  }

  read(at: number, length: number): Buffer {
    return this.#data.bytes.subarray(at, at + length)
  }

  write(at: number, bytes: Uint8Array): void {
    this.#change({ type: 'write', at, bytes: Buffer.from(bytes) })
  }

  resize(length: number): void {
    this.#change({ type: 'size', length })
  }

  flush(): void {
    for (const change of this.#pending) this.#durable.apply(change)
    this.#pending = []
    this.isLinked = true
  }

  /** What was to be flushed is taken for flushed, and is not: so Linux after a flush that failed. */
  forgetPending(): void {
    this.#pending = []
  }

  /** One bit, wherever it lies. */
  flip(bit: number): void {
    const at = bit >> 3
    for (const { bytes } of [this.#data, this.#durable]) {
      if (at < bytes.length) bytes[at] = (bytes[at] ?? 0) ^ (1 << (bit & 7))
    }
  }

  copy(): DiskFile {
    const copy = new DiskFile()
    copy.#data = new Content(this.#data.bytes)
    copy.#durable = new Content(this.#durable.bytes)
    copy.#pending = [...this.#pending]
    copy.isLinked = this.isLinked
    return copy
  }

  /** What is there when the power is back. */
  losePower(random: Random): void {
    const share = random.pick([0, 0.3, 0.9, 1])
    const keeps = random.pick(['sectors', 'beginning'] as const)
    let lost = false
    for (const change of this.#pending) {
      for (const part of sectorsOf(change)) {
        lost = (keeps === 'beginning' && lost) || !random.chance(share)
        if (!lost) this.#durable.apply(part)
      }
    }
    this.#pending = []
    this.#data = new Content(this.#durable.bytes)
  }

  #change(change: Pending): void {
    this.#data.apply(change)
    this.#pending.push(change)
  }
}

function* sectorsOf(change: Pending): Generator<Pending> {
  if (change.type === 'size') {
    yield change
    return
  }
  const { at, bytes } = change
  for (let from = 0; from < bytes.length; ) {
    const to = Math.min(bytes.length, from + sectorBytes - ((at + from) % sectorBytes))
    yield { type: 'write', at: at + from, bytes: bytes.subarray(from, to) }
    from = to
  }
}

/** As the system says it. */
export class DiskError extends Error {
  readonly code: 'EIO' | 'ENOSPC' | 'ENOENT'
  constructor(code: DiskError['code'], what: string) {
    super(`${code}: ${what}`)
    this.code = code
  }
}

export class Disk {
  readonly #random: Random
  readonly #files = new Map<string, DiskFile>()
  #generation = 0
  /** Writes and flushes until the power fails. */
  #untilFailure = Number.POSITIVE_INFINITY
  #onFailure: () => void = () => undefined
  /** Flushes are answered, and not done. */
  lies = false
  /** The next write or flush fails. */
  failing: 'no' | 'write' | 'flush' = 'no'
  capacity: number = Number.POSITIVE_INFINITY

  constructor(random: Random) {
    this.#random = random
  }

  /** What was opened before the power failed is of an older one. */
  get generation(): number {
    return this.#generation
  }

  /** The power fails in the middle of what comes: at the n-th write or flush from now on. */
  failPowerAfter(operations: number, onFailure: () => void): void {
    this.#untilFailure = operations
    this.#onFailure = onFailure
  }

  /** What is open has no effect any more. */
  newGeneration(): void {
    this.#generation++
    this.#untilFailure = Number.POSITIVE_INFINITY
    this.#onFailure = () => undefined
  }

  failPower(): void {
    const onFailure = this.#onFailure
    this.newGeneration()
    for (const [path, file] of this.#files) {
      if (!file.isLinked && this.#random.chance(0.5)) this.#files.delete(path)
      else file.losePower(this.#random)
    }
    onFailure()
  }

  /** All of it, to be put back. */
  image(): ReadonlyMap<string, DiskFile> {
    return new Map([...this.#files].map(([path, file]) => [path, file.copy()]))
  }

  restore(image: ReadonlyMap<string, DiskFile>): void {
    this.#files.clear()
    for (const [path, file] of image) this.#files.set(path, file.copy())
  }

  get paths(): readonly string[] {
    return [...this.#files.keys()].sort()
  }

  find(path: string): DiskFile | undefined {
    return this.#files.get(path)
  }

  get(path: string): DiskFile {
    const file = this.#files.get(path)
    if (file === undefined) throw new DiskError('ENOENT', path)
    return file
  }

  open(path: string): DiskFile {
    const found = this.#files.get(path)
    if (found !== undefined) return found
    const made = new DiskFile()
    this.#files.set(path, made)
    return made
  }

  remove(path: string): void {
    this.#files.delete(path)
  }

  rename(from: string, to: string): void {
    const file = this.get(from)
    this.#files.delete(from)
    this.#files.set(to, file)
  }

  get usedBytes(): number {
    let used = 0
    for (const file of this.#files.values()) used += file.length
    return used
  }

  get freeBytes(): number {
    return Math.max(0, this.capacity - this.usedBytes)
  }

  /** @throws DiskError */
  write(file: DiskFile, at: number, bytes: Uint8Array): void {
    if (this.#isOver()) return
    if (this.#fails('write')) throw new DiskError('EIO', 'write')
    if (at + bytes.length - file.length > this.freeBytes) throw new DiskError('ENOSPC', 'write')
    file.write(at, bytes)
  }

  resize(file: DiskFile, length: number): void {
    if (!this.#isOver()) file.resize(length)
  }

  /** @throws DiskError */
  flush(file: DiskFile): void {
    if (this.#isOver()) return
    if (this.#fails('flush')) {
      if (this.#random.chance(0.5)) file.forgetPending()
      throw new DiskError('EIO', 'fsync')
    }
    if (!this.lies) file.flush()
  }

  /** The names of its files are durable. */
  flushDirectory(): void {
    if (this.#isOver() || this.lies) return
    for (const file of this.#files.values()) file.isLinked = true
  }

  #fails(what: 'write' | 'flush'): boolean {
    if (this.failing !== what) return false
    this.failing = 'no'
    return true
  }

  /** Counts, and lets the power fail before this one where it is time. What follows has no effect. */
  #isOver(): boolean {
    if (--this.#untilFailure > 0) return false
    this.failPower()
    return true
  }
}
