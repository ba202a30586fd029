/**
 * Observations of one server: who takes note of them (metrics) is unknown to who makes them. Synchronous, without a
 * queue; without a subscriber a publication costs one look-up.
 *
 * Like Node's `diagnostics_channel`, but of an instance: several servers in one process do not hear each other.
 */

/** Names a kind of observation, and its shape. Compared by identity. */
export interface Topic<T> {
  readonly name: string
  /** Only for the compiler. */
  readonly message?: T
}

export const topic = <T>(name: string): Topic<T> => ({ name })

export class Diagnostics {
  readonly #listeners = new Map<Topic<never>, ((message: never) => void)[]>()

  publish<T>(about: Topic<T>, message: T): void {
    const listeners = this.#listeners.get(about as Topic<never>) as ((message: T) => void)[] | undefined
    if (listeners !== undefined) for (const listener of listeners) listener(message)
  }

  /** Listeners must not throw. */
  subscribe<T>(about: Topic<T>, listener: (message: T) => void): void {
    const known = this.#listeners.get(about as Topic<never>)
    if (known === undefined) this.#listeners.set(about as Topic<never>, [listener as (message: never) => void])
    else known.push(listener as (message: never) => void)
  }
}
