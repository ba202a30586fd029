/**
 * The protobuf wire format, as much of it as the messages of etcd and of KMS plugins use: varints and length-delimited
 * fields.
 *
 * It knows no message: the callers hold the field numbers. Numbers are JavaScript numbers: what etcd counts
 * (revisions, limits) stays far below 2^53, and the ids it hashes are skipped unread.
 *
 * @see https://protobuf.dev/programming-guides/encoding/
 */

const wireVarint = 0
const wireFixed64 = 1
const wireBytes = 2
const wireFixed32 = 5

export class ProtoWriter {
  #buffer: Buffer
  #length = 0

  constructor(sizeHint: number = 256) {
    this.#buffer = Buffer.allocUnsafe(sizeHint)
  }

  /** Leaves out zero, as proto3 does. `n` is a safe integer ≥ 0. */
  varint(field: number, n: number): void {
    if (n === 0) return
    this.#varint(field * 8 + wireVarint)
    this.#varint(n)
  }

  /** Written even when zero: the chosen member of a oneof. */
  oneofVarint(field: number, n: number): void {
    this.#varint(field * 8 + wireVarint)
    this.#varint(n)
  }

  bool(field: number, value: boolean): void {
    if (value) this.varint(field, 1)
  }

  /** The parts, joined, as one field. Leaves out what is empty. */
  bytes(field: number, ...parts: readonly Uint8Array[]): void {
    let sizeBytes = 0
    for (const part of parts) sizeBytes += part.length
    if (sizeBytes === 0) return
    this.#varint(field * 8 + wireBytes)
    this.#varint(sizeBytes)
    this.#reserve(sizeBytes)
    for (const part of parts) {
      this.#buffer.set(part, this.#length)
      this.#length += part.length
    }
  }

  /** A nested message, written even when it is empty. */
  message(field: number, write: (writer: ProtoWriter) => void): void {
    this.#varint(field * 8 + wireBytes)
    const start = this.#length
    write(this)
    // The length stands in front of the content but is known only now: make room for it.
    const sizeBytes = this.#length - start
    const prefixBytes = varintSize(sizeBytes)
    this.#reserve(prefixBytes)
    this.#buffer.copyWithin(start + prefixBytes, start, this.#length)
    this.#length = start
    this.#varint(sizeBytes)
    this.#length = start + prefixBytes + sizeBytes
  }

  finish(): Buffer {
    return this.#buffer.subarray(0, this.#length)
  }

  #varint(n: number): void {
    this.#reserve(10)
    let rest = n
    while (rest >= 0x80) {
      this.#buffer[this.#length++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.#buffer[this.#length++] = rest
  }

  #reserve(sizeBytes: number): void {
    const needed = this.#length + sizeBytes
    if (needed <= this.#buffer.length) return
    const bigger = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2))
    this.#buffer.copy(bigger, 0, 0, this.#length)
    this.#buffer = bigger
  }
}

function varintSize(n: number): number {
  let size = 1
  for (let rest = n; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++
  return size
}

/** Walks the fields of one message: `while (reader.next()) switch (reader.field) { …; default: reader.skip() }`. */
export class ProtoReader {
  field = 0
  #wire = 0
  #at: number
  readonly #buffer: Buffer
  readonly #end: number

  constructor(buffer: Buffer, start: number = 0, end: number = buffer.length) {
    this.#buffer = buffer
    this.#at = start
    this.#end = end
  }

  next(): boolean {
    if (this.#at >= this.#end) return false
    const tag = this.#varint()
    this.field = Math.floor(tag / 8)
    this.#wire = tag % 8
    return true
  }

  /** An int64; exact within ±2^53, which is all that etcd sends in the fields we read. */
  int(): number {
    this.#expect(wireVarint)
    return this.#varint()
  }

  bool(): boolean {
    return this.int() !== 0
  }

  /** A view, not a copy: it keeps the whole message alive. */
  bytes(): Buffer {
    this.#expect(wireBytes)
    const start = this.#span()
    return this.#buffer.subarray(start, this.#at)
  }

  text(): string {
    return this.bytes().toString('utf8')
  }

  message(): ProtoReader {
    this.#expect(wireBytes)
    const start = this.#span()
    return new ProtoReader(this.#buffer, start, this.#at)
  }

  skip(): void {
    switch (this.#wire) {
      case wireVarint:
        this.#varint()
        return
      case wireFixed64:
        this.#advance(8)
        return
      case wireBytes:
        this.#span()
        return
      case wireFixed32:
        this.#advance(4)
        return
      default:
        throw new Error(`protobuf: wire type ${this.#wire} in field ${this.field}`)
    }
  }

  #expect(wire: number): void {
    if (this.#wire !== wire) throw new Error(`protobuf: field ${this.field} has wire type ${this.#wire}, not ${wire}`)
  }

  /** Steps over a length-delimited field and returns where its content starts. */
  #span(): number {
    const sizeBytes = this.#varint()
    const start = this.#at
    this.#advance(sizeBytes)
    return start
  }

  #advance(sizeBytes: number): void {
    if (sizeBytes < 0 || this.#at + sizeBytes > this.#end) throw new Error('protobuf: the message is cut short')
    this.#at += sizeBytes
  }

  #varint(): number {
    // Two halves: bit operations in JavaScript stop at 32 bits. The upper one is signed, so that -1 (etcd's
    // 'no watch id') comes out as -1.
    let low = 0
    let high = 0
    for (let index = 0; index < 10; index++) {
      if (this.#at >= this.#end) throw new Error('protobuf: the message is cut short')
      const byte = this.#buffer[this.#at++] ?? 0
      const bits = byte & 0x7f
      if (index < 4) low += bits * 2 ** (7 * index)
      else if (index === 4) {
        low += (bits & 0x0f) * 2 ** 28
        high += bits >> 4
      } else if (index < 9) high += bits * 2 ** (7 * index - 32)
      else high += (bits & 1) * 2 ** 31
      if (byte < 0x80) return (high >= 2 ** 31 ? high - 2 ** 32 : high) * 2 ** 32 + low
    }
    throw new Error('protobuf: a varint longer than ten bytes')
  }
}
