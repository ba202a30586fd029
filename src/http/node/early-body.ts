/** What comes of a body over HTTP/1.1 while its request waits for the answers to those before it. */
import type { IncomingMessage } from 'node:http'
import { BodyBytes, type Come } from './body-bytes.ts'

export class EarlyBody {
  readonly #source: IncomingMessage
  readonly #onGrown: () => void
  readonly #bytes = new BodyBytes()

  /** `onGrown` is called with each piece. */
  constructor(source: IncomingMessage, onGrown: () => void) {
    this.#source = source
    this.#onGrown = onGrown
    source.on('data', this.#onData)
  }

  get size(): number {
    return this.#bytes.size
  }

  get isCrumbled(): boolean {
    return this.#bytes.isCrumbled
  }

  /** The caller listens from now on, in the same turn. */
  handOver(): Come {
    this.#source.off('data', this.#onData)
    return { bytes: this.#bytes, isWhole: this.#source.readableEnded }
  }

  readonly #onData = (piece: Buffer): void => {
    this.#bytes.add(piece)
    this.#onGrown()
  }
}
