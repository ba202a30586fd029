/**
 * The bytes of a body as they come, piece by piece. Each chunk, frame or TLS record is an object of its own, of some
 * 250 bytes, which over HTTP/2 also keeps the 64 KiB that it was read with: kept as they are, the pieces of a client
 * that sends its body byte by byte take hundreds of times what it sends. So they are copied together.
 */

/** A body may come in so many pieces, whatever their size. */
const anyPieces = 512
/** Beyond that, what a piece must have on average. Each costs microseconds, before its flow is charged for anything. */
const leastPieceBytes = 16
const leastCapacity = 4096

export class BodyBytes {
  /** The only piece so far, where it needs no copy. */
  #only: Buffer | undefined
  #joined: Buffer | undefined
  #pieces = 0
  #size = 0

  get size(): number {
    return this.#size
  }

  /** It comes in pieces that are too small: the work that they make is out of proportion. */
  get isCrumbled(): boolean {
    return this.#pieces > anyPieces && this.#size < this.#pieces * leastPieceBytes
  }

  add(piece: Buffer): void {
    this.#pieces++
    const at = this.#size
    this.#size += piece.length
    if (at === 0 && piece.buffer.byteLength <= 2 * piece.length) {
      this.#only = piece
      return
    }
    const joined = this.#withRoom(at)
    joined.set(piece, at)
  }

  take(): Uint8Array {
    return this.#only ?? this.#joined?.subarray(0, this.#size) ?? new Uint8Array(0)
  }

  /** For all of `#size`, with the first `used` bytes in place. */
  #withRoom(used: number): Buffer {
    const before = this.#only ?? this.#joined
    this.#only = undefined
    if (before !== undefined && before === this.#joined && before.length >= this.#size) return before
    const joined = Buffer.allocUnsafeSlow(Math.max(leastCapacity, 2 * this.#size))
    if (used > 0) before?.copy(joined, 0, 0, used)
    this.#joined = joined
    return joined
  }
}
