/**
 * The keys of service-account tokens as they are now: `borough rotate-key` adds one while servers run.
 *
 * A new key verifies at once, and signs a little later: by then every replica knows it, whichever is asked first.
 */
import type { ServiceAccountKey } from '../authn/service-account-key.ts'
import { type Clock, sleep, type Timer } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { findServiceAccountKeys } from './open-pki.ts'
import type { PkiStore } from './pki-store.ts'

/** From when a key is first seen; longer than any replica may take to see it. */
const settleMs = 10_000
const retryMs = 5_000

export interface SigningKeysOptions {
  readonly clock: Clock
  readonly log: Log
  readonly store: PkiStore
  /** Those of the start. */
  readonly keys: readonly ServiceAccountKey[]
}

export class SigningKeys implements Disposable {
  readonly #options: SigningKeysOptions
  /** When each was first seen; -Infinity for those of the start. */
  readonly #seenAt = new Map<string, number>()
  #known: readonly ServiceAccountKey[]
  #current: readonly ServiceAccountKey[]
  #timer: Timer | undefined

  constructor(options: SigningKeysOptions) {
    this.#options = options
    this.#known = options.keys
    this.#current = options.keys
    for (const { kid } of options.keys) this.#seenAt.set(kid, Number.NEGATIVE_INFINITY)
  }

  /** The one that signs comes first. */
  get current(): readonly ServiceAccountKey[] {
    return this.#current
  }

  /** Until the signal aborts: looks again whenever the store says that something changed. */
  async follow(signal: AbortSignal): Promise<void> {
    const { clock, log, store } = this.#options
    if (!store.changes) return
    while (!signal.aborted) {
      try {
        for await (const _change of store.changes(signal)) await this.read()
      } catch (error) {
        if (!signal.aborted)
          log.warn({ error }, 'keys of service accounts could not be read again; it will be tried again')
      }
      await sleep(clock, retryMs, signal)
    }
  }

  /** @throws PrivateFileError where a key is damaged: the ones known stay in force */
  async read(): Promise<void> {
    const { clock, log, store } = this.#options
    const found = findServiceAccountKeys(store, await store.read())
    if (!found.some((key) => key.privateKey)) {
      log.error({ place: store.place }, 'no key of service accounts can sign any more: the ones known stay in force')
      return
    }
    for (const { kid } of found) {
      if (this.#seenAt.has(kid)) continue
      this.#seenAt.set(kid, clock.monotonic())
      log.info({ kid }, 'a new key of service accounts; it will sign soon')
    }
    this.#known = found
    this.#arrange()
  }

  [Symbol.dispose](): void {
    this.#timer?.cancel()
  }

  /** Keys that have not settled stand behind those that have. */
  #arrange(): void {
    const { clock } = this.#options
    const leftMs = (key: ServiceAccountKey): number =>
      Math.max(0, (this.#seenAt.get(key.kid) ?? 0) + settleMs - clock.monotonic())
    const settled = this.#known.filter((key) => leftMs(key) === 0)
    const young = this.#known.filter((key) => leftMs(key) > 0)
    this.#current = [...settled, ...young]
    this.#timer?.cancel()
    this.#timer = undefined
    if (young.length > 0)
      this.#timer = clock.after(
        young.map(leftMs).reduce((a, b) => Math.min(a, b)),
        () => this.#arrange(),
      )
  }
}
