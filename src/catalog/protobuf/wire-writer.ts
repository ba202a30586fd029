/**
 * Writes protobuf wire format from the end of a buffer towards its start. A message's length is then known the moment
 * its length prefix is due: nothing is measured beforehand and nothing is moved. So everything is written in reverse:
 * last field first, payload before length before tag.
 *
 * One writer serves one encoding at a time; `finish` hands out a copy and makes it ready for the next.
 */

const initialBytes = 16 * 1024
/** A scratch buffer that grew beyond this for one big object is not kept. */
const keptBytes = 1024 * 1024
/** Below this a loop over the characters beats a call into native code. */
const shortString = 40
/** Deeper than any real object; keeps a hostile one from exhausting the stack. */
const maxDepth = 500

/** A value that does not fit its field: a fault of the caller. */
export class EncodeError extends Error {
  override readonly name = 'EncodeError'
}

export class WireWriter {
  #buffer: Buffer = Buffer.allocUnsafe(initialBytes)
  #position: number = initialBytes
  #depth = 0

  /** Bytes written so far: what to subtract to get the length of a message. */
  get length(): number {
    return this.#buffer.length - this.#position
  }

  enter(): void {
    if (++this.#depth > maxDepth) throw new EncodeError(`nested deeper than ${maxDepth} messages`)
  }

  leave(): void {
    this.#depth--
  }

  /** The bytes written, as a copy of their own. */
  finish(): Uint8Array {
    const bytes = new Uint8Array(this.length)
    bytes.set(this.#buffer.subarray(this.#position))
    this.reset()
    return bytes
  }

  /** Forgets what was written, also after a failure halfway. */
  reset(): void {
    if (this.#buffer.length > keptBytes) this.#buffer = Buffer.allocUnsafe(initialBytes)
    this.#position = this.#buffer.length
    this.#depth = 0
  }

  /** A non-negative integer below 2^53. */
  unsigned(value: number): void {
    if (value < 0x80) {
      this.#reserve(1)
      this.#buffer[--this.#position] = value
      return
    }
    let size = 2
    for (let rest = value / 0x4000; rest >= 1; rest /= 0x80) size++
    this.#reserve(size)
    this.#position -= size
    let at = this.#position
    let rest = value
    while (rest >= 0x80) {
      this.#buffer[at++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.#buffer[at] = rest
  }

  /** int32 or int64: a negative number takes ten bytes. */
  signed(value: number | bigint): void {
    if (typeof value === 'number' && value >= 0) {
      this.unsigned(value)
      return
    }
    let rest = BigInt.asUintN(64, BigInt(value))
    const bytes: number[] = []
    while (rest >= 0x80n) {
      bytes.push(Number(rest & 0x7fn) | 0x80)
      rest >>= 7n
    }
    bytes.push(Number(rest))
    this.bytes(bytes)
  }

  double(value: number): void {
    this.#reserve(8)
    this.#position -= 8
    this.#buffer.writeDoubleLE(value, this.#position)
  }

  /** Raw bytes without a length. */
  bytes(value: ArrayLike<number>): void {
    this.#reserve(value.length)
    this.#position -= value.length
    this.#buffer.set(value, this.#position)
  }

  /** UTF-8 text with its length. */
  string(value: string): void {
    const length = value.length
    if (length < shortString) {
      this.#reserve(length)
      let at = this.#position
      let i = length
      for (; i > 0; i--) {
        const code = value.charCodeAt(i - 1)
        if (code > 0x7f) break
        this.#buffer[--at] = code
      }
      if (i === 0) {
        this.#position = at
        this.unsigned(length)
        return
      }
    }
    const size = Buffer.byteLength(value)
    this.#reserve(size)
    this.#position -= size
    this.#buffer.write(value, this.#position, size, 'utf8')
    this.unsigned(size)
  }

  #reserve(size: number): void {
    if (this.#position >= size) return
    const used = this.length
    const grown = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, used + size))
    this.#buffer.copy(grown, grown.length - used, this.#position)
    this.#position = grown.length - used
    this.#buffer = grown
  }
}
