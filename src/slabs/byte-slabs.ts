/**
 * Memory for many small records outside V8's heap: large buffers cut into slots of one size each, with a free list per
 * buffer. The garbage collector sees a few thousand buffers instead of millions of objects.
 *
 * A slot is named by a number: the buffer's index times 65536 plus its place in units of 16 bytes. Freed slots are
 * overwritten at once. The index of a buffer that is given back is used again for the same size of slot only, so the
 * name of a freed slot never points into the middle of another.
 *
 * Nothing here is handed out to readers: see `RecordMap`.
 */

/** A slot in use; 0 = none. */
export type Slot = number

const unitBytes = 16
const unitsPerSlab = 65_536
const maxSlabBytes = unitBytes * unitsPerSlab
const firstSlabBytes = 16 * 1024
/** Larger records have a buffer of their own. */
const maxSharedUnits = 16_384
/** Sizes up to this many units differ by two units, larger ones by an eighth of a power of two. */
const fineUnits = 64
const maxSlabs = 65_536
/** What freed bytes are overwritten with. */
export const freedByte = 0xdb

/** Slot sizes in units, ascending. */
const classUnits: readonly number[] = slotSizes()

function slotSizes(): readonly number[] {
  const sizes: number[] = []
  for (let units = 2; units <= fineUnits; units += 2) sizes.push(units)
  for (let base = fineUnits; base < maxSharedUnits; base *= 2) {
    for (let step = 1; step <= 8; step++) sizes.push(base + (base / 8) * step)
  }
  return sizes
}

/** The smallest slot size that holds so many units; -1 = none does. */
function classOf(units: number): number {
  if (units <= fineUnits) return Math.max(0, (units + 1) >>> 1) - 1
  if (units > maxSharedUnits) return -1
  const exponent = 31 - Math.clz32(units - 1)
  const base = 2 ** exponent
  return fineUnits / 2 + (exponent - 6) * 8 + Math.ceil((units - base) / (base / 8)) - 1
}

/** One buffer. Its views are used inside this folder only. */
export class Slab {
  readonly index: number
  /** -1 = a single slot of its own size. */
  readonly sizeClass: number
  readonly slotUnits: number
  readonly bytes: Buffer
  readonly words: Uint32Array
  readonly doubles: Float64Array
  readonly capacity: number
  live = 0
  /** Slots that were ever used. */
  #touched = 0
  /** Unit of the first free slot, plus one; each free slot holds the next one's. */
  #free = 0

  constructor(index: number, sizeClass: number, slotUnits: number, sizeBytes: number) {
    this.index = index
    this.sizeClass = sizeClass
    this.slotUnits = slotUnits
    const buffer = new ArrayBuffer(sizeBytes)
    this.bytes = Buffer.from(buffer)
    this.words = new Uint32Array(buffer)
    this.doubles = new Float64Array(buffer)
    this.capacity = Math.floor(sizeBytes / (slotUnits * unitBytes))
  }

  get isFull(): boolean {
    return this.live === this.capacity
  }

  take(): Slot {
    this.live++
    if (this.#free === 0) return this.index * unitsPerSlab + this.#touched++ * this.slotUnits
    const unit = this.#free - 1
    this.#free = this.words[unit * 4] as number
    return this.index * unitsPerSlab + unit
  }

  give(slot: Slot): void {
    this.live--
    const unit = slot & 0xffff
    const start = unit * unitBytes
    this.bytes.fill(freedByte, start, start + this.slotUnits * unitBytes)
    this.words[unit * 4] = this.#free
    this.#free = unit + 1
  }
}

/** The place of a slot in its slab, in bytes. */
export function offsetOf(slot: Slot): number {
  return (slot & 0xffff) * unitBytes
}

interface SizeClass {
  /** Slabs with a free slot; the last one is used next. */
  readonly open: Slab[]
  slabs: number
  /** Of slabs that were given back. */
  readonly indices: number[]
}

export class ByteSlabs {
  /** The first is never used: no slot is 0. */
  readonly #slabs: (Slab | undefined)[] = [undefined]
  readonly #classes: readonly SizeClass[] = [-1, ...classUnits].map(() => ({ open: [], slabs: 0, indices: [] }))
  #reservedBytes = 0
  #usedBytes = 0

  /** Bytes of all buffers; what was never touched of them takes no memory yet. */
  get reservedBytes(): number {
    return this.#reservedBytes
  }

  /** Bytes of slots in use. */
  get usedBytes(): number {
    return this.#usedBytes
  }

  /** undefined = the slot was freed, and its buffer given back. */
  slab(slot: Slot): Slab | undefined {
    return this.#slabs[slot >>> 16]
  }

  /** Its content is whatever was there before: zeros, or freed bytes. */
  allocate(sizeBytes: number): Slot {
    const units = Math.ceil(sizeBytes / unitBytes)
    const sizeClass = classOf(units)
    const ofClass = this.#class(sizeClass)
    let slab = ofClass.open.at(-1)
    if (slab === undefined) {
      slab = this.#open(ofClass, sizeClass, sizeClass < 0 ? units : (classUnits[sizeClass] as number))
      ofClass.open.push(slab)
    }
    const slot = slab.take()
    if (slab.isFull) ofClass.open.pop()
    this.#usedBytes += slab.slotUnits * unitBytes
    return slot
  }

  free(slot: Slot): void {
    const slab = this.slab(slot)
    if (slab === undefined) throw new Error(`slot ${slot} was freed before`)
    const ofClass = this.#class(slab.sizeClass)
    if (slab.isFull) ofClass.open.push(slab)
    slab.give(slot)
    this.#usedBytes -= slab.slotUnits * unitBytes
    // One that is empty is kept for what comes next, or small stores would make a buffer for each object.
    if (slab.live === 0 && (slab.sizeClass < 0 || ofClass.open.length > 1)) this.#release(slab, ofClass)
  }

  #class(sizeClass: number): SizeClass {
    return this.#classes[sizeClass + 1] as SizeClass
  }

  #open(ofClass: SizeClass, sizeClass: number, slotUnits: number): Slab {
    const index = ofClass.indices.pop() ?? this.#slabs.length
    if (index >= maxSlabs) throw new RangeError(`objects take more than ${maxSlabs} buffers of ${maxSlabBytes} bytes`)
    const wanted = Math.min(maxSlabBytes, firstSlabBytes * 4 ** Math.min(ofClass.slabs, 3))
    const slotBytes = slotUnits * unitBytes
    const slab = new Slab(index, sizeClass, slotUnits, sizeClass < 0 ? slotBytes : Math.max(wanted, slotBytes))
    this.#slabs[index] = slab
    ofClass.slabs++
    this.#reservedBytes += slab.bytes.length
    return slab
  }

  #release(slab: Slab, ofClass: SizeClass): void {
    ofClass.open.splice(ofClass.open.indexOf(slab), 1)
    ofClass.slabs--
    ofClass.indices.push(slab.index)
    this.#slabs[slab.index] = undefined
    this.#reservedBytes -= slab.bytes.length
  }
}
