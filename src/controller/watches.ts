/**
 * The watches of a controller that works through a client: what it sees, and what each change makes work of.
 *
 *   const watches = new Watches(deps)
 *   const roles = watches.on({ resource }, (next, old) => key)      // an informer to read from
 *   sources: [watches]
 *
 * Nothing is enqueued before all of them have listed once, so a reconciler never acts on half a picture. Then every
 * object that exists is work, and after that each change.
 */
import { setImmediate } from 'node:timers/promises'
import { aborted } from '../base/aborted.ts'
import type { Clock } from '../base/clock.ts'
import { restBetween } from '../base/rest-between.ts'
import type { Client } from '../client/client.ts'
import { Informer, type InformerOptions } from '../client/informer.ts'
import type { KubeObject } from '../kube/types.ts'
import type { ObjectKey, Source } from './controller.ts'
import { enqueueAll, type Keys } from './source.ts'

export interface WatchesOptions {
  readonly client: Client
  readonly clock: Clock
  /** Failures that a watch recovers from. */
  readonly onError: (error: unknown) => void
}

/** So many objects are told in one step. */
const stepObjects = 100

type Watched = Omit<InformerOptions, 'client' | 'clock' | 'onChange' | 'onError'>
type ToKeys = (next: KubeObject | undefined, old: KubeObject | undefined) => Keys

export class Watches implements Source {
  readonly #options: WatchesOptions
  readonly #watched: { readonly informer: Informer; readonly toKeys: ToKeys }[] = []
  readonly #awaited: ((signal: AbortSignal) => Promise<void>)[] = []
  readonly #whenSynced: (() => void)[] = []
  readonly #beside: ((signal: AbortSignal) => Promise<void>)[] = []
  #enqueue: ((key: ObjectKey) => void) | undefined

  constructor(options: WatchesOptions) {
    this.#options = options
  }

  /** `old` is undefined for what exists at first, `next` for what is removed. Called before the controller runs. */
  on(watched: Watched, toKeys: ToKeys): Informer {
    const { client, clock, onError } = this.#options
    const informer: Informer = new Informer({
      ...watched,
      client,
      clock,
      onError,
      onChange: (next, old) => this.enqueue(toKeys(next, old)),
    })
    this.#watched.push({ informer, toKeys })
    return informer
  }

  /** Something else that must be known first: begun with the watches, and nothing is enqueued before it resolves. */
  waitFor(step: (signal: AbortSignal) => Promise<void>): void {
    this.#awaited.push(step)
  }

  /** Runs from the beginning until the controller stops, and is waited for then. */
  beside(work: (signal: AbortSignal) => Promise<void>): void {
    this.#beside.push(work)
  }

  /** Called each time the controller begins to run, when all have listed. */
  onSynced(listener: () => void): void {
    this.#whenSynced.push(listener)
  }

  /** The controller runs, and all have listed: what exists is or will be told to it. */
  get isComplete(): boolean {
    return this.#enqueue !== undefined
  }

  /** For work that no watch brings. Without effect before all have listed. */
  enqueue(keys: Keys): void {
    if (this.#enqueue !== undefined) enqueueAll(this.#enqueue, keys)
  }

  /** What exists, step by step: changes come between, and are not kept waiting. */
  async #enqueueAll(signal: AbortSignal): Promise<void> {
    const rest = restBetween()
    for (const { informer, toKeys } of this.#watched) {
      let left = stepObjects
      for (const object of informer.values()) {
        if (left-- === 0) {
          left = stepObjects - 1
          // What was enqueued is worked on before the rest is measured.
          await setImmediate()
          await rest()
          if (signal.aborted) return
        }
        this.enqueue(toKeys(object, undefined))
      }
    }
  }

  async run(enqueue: (key: ObjectKey) => void, signal: AbortSignal): Promise<void> {
    const beside = this.#beside.map((work) => work(signal))
    const running = this.#watched.map(({ informer }) => informer.run(signal))
    const synced = this.#watched.map(({ informer }) => informer.whenSynced())
    const known = this.#awaited.map((step) => step(signal))
    await Promise.race([Promise.all([...synced, ...known]), aborted(signal)])
    if (!signal.aborted) {
      this.#enqueue = enqueue
      for (const listener of this.#whenSynced) listener()
      await this.#enqueueAll(signal)
    }
    await Promise.all([...running, ...beside])
    this.#enqueue = undefined
  }
}
