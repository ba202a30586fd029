/** Messages of gRPC in the bytes of a stream: each behind a flag and its length. */
import { GrpcError, grpcStatus } from './grpc-status.ts'

const headBytes = 5

/** Nothing is compressed: etcd does not ask for it. */
export function framed(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(headBytes + message.byteLength)
  frame[0] = 0
  frame.writeUInt32BE(message.byteLength, 1)
  frame.set(message, headBytes)
  return frame
}

/** Puts messages together from the pieces in which they come. */
export class MessageReader {
  #pieces: Buffer[] = []
  #size = 0
  /** With its head; 0 = not known yet. */
  #wanted = 0

  /** Something has come that is no whole message. */
  get isAmid(): boolean {
    return this.#size > 0
  }

  /**
   * Those that are complete now. Each is a copy of its own: what is kept of one must not keep the piece that it came
   * in.
   *
   * @throws GrpcError where it is compressed: nothing was said to be understood
   */
  take(piece: Buffer): Buffer[] {
    this.#pieces.push(piece)
    this.#size += piece.byteLength
    const complete: Buffer[] = []
    while (this.#size >= headBytes) {
      this.#wanted ||= this.#readHead()
      if (this.#size < this.#wanted) break
      complete.push(this.#takeOne())
    }
    return complete
  }

  #readHead(): number {
    const [first] = this.#pieces
    const head = first !== undefined && first.byteLength >= headBytes ? first : Buffer.concat(this.#pieces, this.#size)
    if (head[0] !== 0) throw new GrpcError(grpcStatus.internal, 'the answer is compressed')
    return headBytes + head.readUInt32BE(1)
  }

  #takeOne(): Buffer {
    const last = this.#pieces.pop() ?? Buffer.alloc(0)
    const left = this.#size - this.#wanted
    const ofLast = last.byteLength - left
    const whole = Buffer.concat([...this.#pieces, last.subarray(0, ofLast)], this.#wanted)
    this.#pieces = left > 0 ? [last.subarray(ofLast)] : []
    this.#size = left
    this.#wanted = 0
    return whole.subarray(headBytes)
  }
}
