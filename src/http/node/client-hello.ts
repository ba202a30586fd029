/**
 * The first message of a client's TLS handshake, awaited before the handshake begins. OpenSSL answers it where it is
 * read, and that is the most costly part of a connection: hundreds of clients that were late, or that agreed on a
 * moment, would hold the loop for a tenth of a second. What is whole can be begun when it is its turn.
 */
import type { Socket } from 'node:net'
import { BodyBytes } from './body-bytes.ts'

/** Some are 2 KB long. What is longer is no handshake that a client library begins. */
const mostBytes = 64 * 1024

const recordHeaderBytes = 5
const handshakeRecord = 22
/** Its type, and how long it is. */
const messageHeaderBytes = 4

/** Calls `begin` once the message is there; the socket can be read from its first byte on then. It may be closed. */
export function whenGreeted(raw: Socket, begin: () => void): void {
  const hello = new ClientHello()
  const take = (piece: Buffer): void => {
    hello.add(piece)
    if (hello.isExcessive) return void raw.destroy()
    if (!hello.isWhole) return
    raw.off('data', take).off('end', leave).pause()
    raw.unshift(hello.take())
    begin()
  }
  const leave = (): void => void raw.destroy()
  raw.on('data', take).once('end', leave)
}

export class ClientHello {
  readonly #bytes = new BodyBytes()
  /** Where the next record begins, or the rest of its header or body. */
  #at = 0
  readonly #header: number[] = []
  /** Of the message, in the records before `#at`. */
  #gathered = 0
  #isNone = false

  add(piece: Buffer): void {
    this.#bytes.add(piece)
    const bytes = this.#bytes.take()
    while (!this.isWhole) {
      const bodyAt = this.#at + recordHeaderBytes
      if (bytes.length < bodyAt) return
      const length = ((bytes[this.#at + 3] as number) << 8) | (bytes[this.#at + 4] as number)
      // OpenSSL says what is wrong with it.
      if (bytes[this.#at] !== handshakeRecord || length === 0) this.#isNone = true
      if (bytes.length < bodyAt + length) return
      for (let i = bodyAt; i < bodyAt + length && this.#header.length < messageHeaderBytes; i++) {
        this.#header.push(bytes[i] as number)
      }
      this.#gathered += length
      this.#at = bodyAt + length
    }
  }

  /** It may be split over many records. What does not begin with a message of a handshake is taken as it is. */
  get isWhole(): boolean {
    if (this.#isNone) return true
    const [, high = 0, middle = 0, low = 0] = this.#header
    return (
      this.#header.length === messageHeaderBytes &&
      this.#gathered >= messageHeaderBytes + ((high << 16) | (middle << 8) | low)
    )
  }

  get isExcessive(): boolean {
    return this.#bytes.size > mostBytes || this.#bytes.isCrumbled
  }

  take(): Uint8Array {
    return this.#bytes.take()
  }
}
