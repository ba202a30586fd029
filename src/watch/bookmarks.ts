/** Tells the watches that asked for it, now and then, how far they are. */
import type { Clock, Timer } from '../base/clock.ts'
import type { Revision } from '../storage/storage.ts'
import type { WatchSession } from './watch-session.ts'

/** As upstream: about every minute. */
const bookmarkIntervalMs = 60_000

export interface BookmarksOptions {
  readonly clock: Clock
  /** Up to which all was delivered. */
  readonly revision: () => Revision
  /** Watches have been marked: what they are told is to be handed to them. */
  readonly onMarked: () => void
}

export class Bookmarks {
  readonly #clock: Clock
  readonly #revision: () => Revision
  readonly #onMarked: () => void
  readonly #sessions = new Set<WatchSession>()
  #timer: Timer | undefined

  constructor({ clock, revision, onMarked }: BookmarksOptions) {
    this.#clock = clock
    this.#revision = revision
    this.#onMarked = onMarked
  }

  add(session: WatchSession): void {
    this.#sessions.add(session)
    this.#timer ??= this.#clock.after(bookmarkIntervalMs, this.#send)
  }

  remove(session: WatchSession): void {
    this.#sessions.delete(session)
  }

  stop(): void {
    this.#sessions.clear()
    this.#timer?.cancel()
  }

  readonly #send = (): void => {
    this.#timer = undefined
    if (this.#sessions.size === 0) return
    this.#timer = this.#clock.after(bookmarkIntervalMs, this.#send)
    const revision = this.#revision()
    for (const session of this.#sessions) session.mark(revision)
    this.#onMarked()
  }
}
