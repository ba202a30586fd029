/** Compactions that the writer was asked for and has not reported as done. */
import type { Revision } from '../storage.ts'

interface Waiting {
  readonly target: Revision
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

export class Compactions {
  #waiting: Waiting[] = []

  /** Resolves when the writer has compacted through `target`. */
  wait(target: Revision): Promise<void> {
    return new Promise<void>((resolve, reject) => this.#waiting.push({ target, resolve, reject }))
  }

  reached(through: Revision): void {
    const ended = this.#waiting.filter(({ target }) => target <= through)
    this.#waiting = this.#waiting.filter(({ target }) => target > through)
    for (const { resolve } of ended) resolve()
  }

  /** The writer could not do it, or is gone. */
  failed(error: Error): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error)
  }
}
