/**
 * What there is to tell about initializers: who is waited for, how long turns take, how they end. Fed with every change
 * of a namespace; writes nothing.
 *
 * How a turn ended can be read off the namespace, but for one thing: whether the first entry went because its
 * initializer was done or because the controller would not wait any longer. So the controller says so beforehand.
 */
import type { Clock } from '../../base/clock.ts'
import type { Namespace } from '../namespaces/types.ts'
import { Turns } from './turns.ts'

/**
 * `done`: it removed itself. `failed`: it reported a failure. `timeout`: its deadline passed, and the namespace failed.
 * `skipped`: its deadline passed, and the namespace went on. `released`: it is in no configuration any more. `deleted`:
 * a client deleted the namespace.
 */
export type TurnOutcome = 'done' | 'failed' | 'timeout' | 'skipped' | 'released' | 'deleted'

export interface TurnObserverOptions {
  readonly clock: Clock
  readonly onEnd: (initializer: string, outcome: TurnOutcome, durationMs: number) => void
}

/** A client that may write the list may make up names: those beyond this number share one label. */
const maxNames = 200
const otherNames = 'other'

export class TurnObserver {
  readonly #options: TurnObserverOptions
  readonly #turns: Turns
  readonly #names = new Set<string>()
  /** uid → what the controller is about to do. */
  readonly #announced = new Map<string, TurnOutcome>()

  constructor(options: TurnObserverOptions) {
    this.#options = options
    this.#turns = new Turns(options.clock)
  }

  /** As far as it was told. */
  isWaiting(name: string): boolean {
    return this.#turns.find(name) !== undefined
  }

  /** Namespaces that wait right now, by whom they wait for. Every name that was ever waited for is there, with 0. */
  waiting(): ReadonlyMap<string, number> {
    const counts = new Map([...this.#names].map((name) => [name, 0]))
    for (const { initializer } of this.#turns.values()) {
      const label = this.#label(initializer)
      counts.set(label, (counts.get(label) ?? 0) + 1)
    }
    return counts
  }

  /** Says how a turn will have ended if the next change ends it. Undefined takes it back. */
  announce(uid: string, outcome: TurnOutcome | undefined): void {
    if (outcome === undefined) this.#announced.delete(uid)
    else this.#announced.set(uid, outcome)
  }

  /** `next` undefined: it is gone. Namespaces that never waited need not be fed. */
  changed(name: string, next: Namespace | undefined): void {
    const before = this.#turns.find(name)
    const waits = next !== undefined && isWaiting(next)
    if (waits) this.#turns.seen(next)
    else this.#turns.end(name)
    const now = this.#turns.find(name)
    if (now !== undefined && now.id !== before?.id) this.#label(now.initializer)
    if (before !== undefined && before.id !== now?.id) this.#ended(before, next)
  }

  #ended(
    { id, initializer, beganMs }: { id: string; initializer: string; beganMs: number },
    next: Namespace | undefined,
  ): void {
    const uid = id.slice(0, id.indexOf(' '))
    const announced = this.#announced.get(uid)
    this.#announced.delete(uid)
    const { clock, onEnd } = this.#options
    onEnd(this.#label(initializer), outcomeOf(next, uid, announced), Math.max(0, clock.now() - beganMs))
  }

  #label(initializer: string): string {
    if (this.#names.has(initializer)) return initializer
    const label = this.#names.size < maxNames ? initializer : otherNames
    this.#names.add(label)
    return label
  }
}

const isWaiting = ({ metadata, spec }: Namespace): boolean =>
  spec?.initializers !== undefined && spec.initializers.result === undefined && metadata.deletionTimestamp === undefined

function outcomeOf(next: Namespace | undefined, uid: string, announced: TurnOutcome | undefined): TurnOutcome {
  if (next === undefined || next.metadata.uid !== uid) return 'deleted'
  if (next.spec?.initializers?.result !== undefined) return announced === 'timeout' ? 'timeout' : 'failed'
  if (next.metadata.deletionTimestamp !== undefined) return 'deleted'
  return announced ?? 'done'
}
