/**
 * A body as its bytes come, from the first one on, whether its request asks for it already or not.
 *
 * The pieces are taken before Node's stream gets them: it would keep each as an object until it is read, and run
 * everything that waits for the end of a turn behind each one that is. A client that sends its body byte by byte then
 * held the loop for a tenth of a second.
 *
 *   keeping (up to 64 KiB) ──follow──▶ followed ──▶ whole
 *            └──────────────drop───────────┴──────▶ dropped
 */
import type { Readable } from 'node:stream'
import { BodyBytes } from './body-bytes.ts'

/** Of a body that is not followed. Its client waits then: the windows of HTTP/2 and TCP are full. */
const keptBytes = 64 * 1024

/** The stream of a request. */
export type BodySource = Readable & {
  /** Over HTTP/2 a stream that its client cancels ends as if all had come. */
  readonly aborted?: boolean
}

/** Whom the pieces of a body concern, whichever request they belong to. */
export interface BodyObserver {
  received(bytes: number): void
  breakOff(bound: 'body_pieces'): void
}

export interface BodyFollower {
  /** More has come. */
  came(bytes: number): void
  /** All has come. */
  whole(): void
}

export class IncomingBody {
  readonly source: BodySource
  readonly #observer: BodyObserver
  readonly #push: BodySource['push']
  #bytes = new BodyBytes()
  #follower: BodyFollower | undefined
  #isWhole = false
  #isDropped = false

  constructor(source: BodySource, observer: BodyObserver) {
    this.source = source
    this.#observer = observer
    this.#push = source.push
    const push = (piece: Buffer | null): boolean => (piece === null ? this.#end() : this.#add(piece))
    source.push = push
  }

  get size(): number {
    return this.#bytes.size
  }

  /** All has come: `take` answers it. */
  get isWhole(): boolean {
    return this.#isWhole
  }

  /** The rest is read as fast as it comes. Once. */
  follow(follower: BodyFollower): void {
    this.#follower = follower
    this.source.resume()
  }

  /** What has come, which is forgotten here. */
  take(): Uint8Array {
    const bytes = this.#bytes.take()
    this.#bytes = new BodyBytes()
    return bytes
  }

  /** What has come is forgotten, and nothing more is read. */
  drop(): void {
    this.#isDropped = true
    this.#follower = undefined
    this.#bytes = new BodyBytes()
    this.source.pause()
  }

  /** Whether more may come for now. */
  #add(piece: Buffer): boolean {
    if (this.#isDropped) return false
    const bytes = this.#bytes
    bytes.add(piece)
    this.#observer.received(piece.length)
    if (bytes.isCrumbled) {
      this.drop()
      this.#observer.breakOff('body_pieces')
      return false
    }
    this.#follower?.came(piece.length)
    return this.#follower !== undefined || bytes.size < keptBytes
  }

  /** Node hears of the end as it would have. */
  #end(): boolean {
    this.#isWhole = !this.source.aborted
    this.source.push = this.#push
    this.source.push(null)
    this.source.resume()
    if (this.#isWhole) this.#follower?.whole()
    return false
  }
}
