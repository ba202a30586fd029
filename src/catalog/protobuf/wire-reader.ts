/**
 * Reads protobuf wire format out of untrusted bytes: every read is checked against the end of the message it
 * belongs to, and nesting is bounded.
 */
import type { ValueBudget } from '../../kube/value-count.ts'
import { exactInteger } from './exact-integer.ts'

export const wireVarint = 0
export const wireFixed64 = 1
export const wireBytes = 2
export const wireFixed32 = 5
export type WireType = typeof wireVarint | typeof wireFixed64 | typeof wireBytes

const shortString = 24
/** As in `WireWriter`, but entries of maps count too: they are messages on the wire. */
const maxDepth = 500

/** The bytes are not what they claim to be. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError'
}

const cutShort = (): DecodeError => new DecodeError('unexpected end of data')

export class WireReader {
  readonly #buffer: Buffer
  /** Next byte to read. */
  position: number
  /** End of the message being read. */
  end: number
  readonly #budget: ValueBudget | undefined
  #depth = 0

  /** `budget`: how many values may be read. */
  constructor(bytes: Uint8Array, budget?: ValueBudget) {
    this.#budget = budget
    this.#buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.position = 0
    this.end = bytes.length
  }

  /** Reads a length and narrows the reader to that many bytes. Returns the outer end, to be given to `leave`. */
  enter(): number {
    if (++this.#depth > maxDepth) throw new DecodeError(`nested deeper than ${maxDepth} messages`)
    const length = this.#length()
    const outer = this.end
    this.end = this.position + length
    return outer
  }

  leave(outer: number): void {
    this.#depth--
    this.position = this.end
    this.end = outer
  }

  /** A field of a message, an item or an entry of a map comes next. @throws TooManyValuesError */
  countValue(): void {
    this.#budget?.take(1)
  }

  /** Field number × 8 + wire type. */
  tag(): number {
    const tag = this.uint32()
    if (tag < 8) throw new DecodeError('field number 0')
    return tag
  }

  /** The low 32 bits of a varint. */
  uint32(): number {
    const buffer = this.#buffer
    if (this.position >= this.end) throw cutShort()
    let byte = buffer[this.position++] as number
    if (byte < 0x80) return byte
    let value = byte & 0x7f
    for (let shift = 7; shift < 70; shift += 7) {
      if (this.position >= this.end) throw cutShort()
      byte = buffer[this.position++] as number
      if (shift < 32) value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value >>> 0
    }
    throw new DecodeError('a varint is longer than ten bytes')
  }

  int32(): number {
    return this.uint32() | 0
  }

  /** Exact also beyond 2^53, see `exact-integer.ts`. */
  int64(): unknown {
    const buffer = this.#buffer
    const start = this.position
    let value = 0
    let scale = 1
    for (let i = 0; i < 10; i++) {
      if (this.position >= this.end) throw cutShort()
      const byte = buffer[this.position++] as number
      value += (byte & 0x7f) * scale
      scale *= 0x80
      if (byte < 0x80) return i < 7 ? value : this.#wideInteger(start)
    }
    throw new DecodeError('a varint is longer than ten bytes')
  }

  #wideInteger(start: number): unknown {
    let value = 0n
    for (let at = this.position - 1; at >= start; at--) {
      value = (value << 7n) | BigInt((this.#buffer[at] as number) & 0x7f)
    }
    return exactInteger(BigInt.asIntN(64, value))
  }

  bool(): boolean {
    return this.int64() !== 0
  }

  double(): number {
    if (this.end - this.position < 8) throw cutShort()
    const value = this.#buffer.readDoubleLE(this.position)
    this.position += 8
    return value
  }

  /** A view, not a copy. */
  bytes(): Buffer {
    const length = this.#length()
    const start = this.position
    this.position += length
    return this.#buffer.subarray(start, this.position)
  }

  string(): string {
    const length = this.#length()
    const start = this.position
    const stop = start + length
    this.position = stop
    const buffer = this.#buffer
    if (length < shortString) {
      let text = ''
      for (let at = start; at < stop; at++) {
        const byte = buffer[at] as number
        if (byte > 0x7f) return buffer.toString('utf8', start, stop)
        text += String.fromCharCode(byte)
      }
      return text
    }
    return buffer.toString('utf8', start, stop)
  }

  /** Passes over a field this program does not know. */
  skip(wire: number): void {
    switch (wire) {
      case wireVarint:
        this.uint32()
        return
      case wireFixed64:
        this.#advance(8)
        return
      case wireBytes:
        this.#advance(this.#length())
        return
      case wireFixed32:
        this.#advance(4)
        return
      default:
        throw new DecodeError(`wire type ${wire} is not supported`)
    }
  }

  #length(): number {
    const length = this.uint32()
    if (length > this.end - this.position) throw cutShort()
    return length
  }

  #advance(size: number): void {
    if (size > this.end - this.position) throw cutShort()
    this.position += size
  }
}
