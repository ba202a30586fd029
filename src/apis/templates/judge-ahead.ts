/**
 * Costly conditions and patterns, judged before what asks for them in one piece: in slices of the loop, and of the
 * background in a share of it.
 */
import type { Attributes } from '../../admission/admission.ts'
import type { Eventual } from '../../base/eventual.ts'
import { type Resumable, runInSlices } from '../../base/resumable.ts'
import type { Slice, Turns } from '../../base/turns.ts'
import { nameOf } from '../../kube/metadata.ts'
import type { Conditions } from './conditions.ts'
import { evaluateParameters, isLongToEvaluate } from './parameters.ts'
import type { NamespaceTemplate } from './types.ts'

/** In a request, whose client pays for what takes long. @throws StatusError TooManyRequests */
export function judgeAheadIn(
  { slice, caller }: Pick<Attributes, 'slice' | 'caller'>,
  work: Resumable<void>,
  turns: Turns,
): Eventual<void> {
  return work.next().done ? undefined : runInOwnSlices(work, slice ?? caller.beginLong?.() ?? turns.begin())
}

/** As `Conditions.ahead`, of parameters alone. */
export function* evaluateAhead(
  templates: readonly NamespaceTemplate[],
  namespace: Conditions['namespace'],
): Resumable<void> {
  for (const template of templates) {
    if (!isLongToEvaluate(template, namespace)) continue
    yield
    evaluateParameters(template, namespace)
  }
}

async function runInOwnSlices(work: Resumable<void>, slice: Eventual<Slice>): Promise<void> {
  await runInSlices(work, await slice)
}

/** Of the time between two passes that judge, so much was spent judging: a fifth. */
const restShare = 4
/** What a pass is thought to take, before any has. */
const firstGuessMs = 5

export interface JudgingPassesDeps {
  readonly turns: Turns
  /** Monotonic milliseconds. */
  readonly now: () => number
}

/**
 * Passes over namespaces whose gate is open: together they have a share of the loop for what takes long, one at
 * a time, in the order in which they came. Those that have to wait are told how long and hold no worker meanwhile.
 */
export class JudgingPasses {
  readonly #turns: Turns
  readonly #now: () => number
  /** Namespace → when it may come. */
  readonly #slots = new Map<string, number>()
  #restUntilMs = 0
  #nextSlotMs = 0
  #usualMs = firstGuessMs

  constructor({ turns, now }: JudgingPassesDeps) {
    this.#turns = turns
    this.#now = now
  }

  /** Answers in how many milliseconds it is to come again; 0 = it is done. `isAwaited`: by a client, so it goes on. */
  async judge(
    conditions: Conditions,
    templates: readonly NamespaceTemplate[],
    { isAwaited, owner, check }: { readonly isAwaited: boolean; readonly owner: object; readonly check: () => void },
  ): Promise<number> {
    const name = nameOf(conditions.namespace.metadata)
    let tookMs = 0
    const work = timed(conditions.ahead(templates), this.#now, (ms) => (tookMs += ms))
    if (work.next().done) {
      this.#slots.delete(name)
      return 0
    }
    const waitMs = isAwaited ? 0 : this.#waitMs(name)
    if (waitMs > 0) return waitMs
    await runInSlices(work, await this.#turns.begin(owner, check))
    this.#rest(tookMs, isAwaited)
    return 0
  }

  forget(namespace: string): void {
    this.#slots.delete(namespace)
  }

  #waitMs(name: string): number {
    const now = this.#now()
    const slot = this.#slots.get(name)
    if (slot !== undefined && now < slot) return slot - now
    this.#slots.delete(name)
    if (now >= this.#restUntilMs && (slot !== undefined || this.#slots.size === 0)) {
      this.#restUntilMs = now + this.#spacingMs
      return 0
    }
    const next = Math.max(now + 1, this.#nextSlotMs, this.#restUntilMs)
    this.#slots.set(name, next)
    this.#nextSlotMs = next + this.#spacingMs
    return next - now
  }

  get #spacingMs(): number {
    return this.#usualMs * (1 + restShare)
  }

  #rest(tookMs: number, isAwaited: boolean): void {
    const until = this.#now() + tookMs * restShare
    this.#restUntilMs = isAwaited ? Math.max(this.#restUntilMs, until) : until
    // The next one mostly takes as long, but not always.
    this.#usualMs += (tookMs - this.#usualMs) / 4
  }
}

function* timed(work: Resumable<void>, now: () => number, took: (ms: number) => void): Resumable<void> {
  for (;;) {
    const began = now()
    const { done } = work.next()
    took(now() - began)
    if (done) return
    yield
  }
}
