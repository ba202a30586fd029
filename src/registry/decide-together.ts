/**
 * Several writes decided as one transaction, each on what those before it leave. What they demand of each other holds
 * by itself, so it is no guard of the transaction.
 */
import type { DecidedWrite, Decision, DecisionView, QueuedChange } from '../admission/admission.ts'
import { objectKey } from '../kube/object-key.ts'
import { findStatusError } from '../kube/status-error.ts'
import { encodeStored } from '../kube/stored-form.ts'
import type { Expect, Guard, Write } from '../storage/storage.ts'
import type { AdmissionChain, MergedDecision } from './admission-chain.ts'
import type { ObjectWrite } from './object-write.ts'
import { leftBy, SeenValue } from './seen-value.ts'

export interface Together {
  readonly guards: readonly Guard[]
  /** What was asked for, as decisions completed it. */
  readonly own: readonly ObjectWrite[]
  readonly extra: readonly DecidedWrite[]
}

/** What else is known of writes that create a namespace and what is in it. */
export interface Besides {
  /** It is among what is written, so nothing else can be on its way into it, whoever else writes to the store. */
  readonly newNamespace: string
  /** What else must hold and is written; undefined = it does not hold. */
  decide(view: DecisionView): Decision | undefined
}

/** undefined = it can't be decided at once, or one of them is refused: one by one it is, in its own words. */
export function decideTogether(
  chain: AdmissionChain,
  view: DecisionView,
  wanted: readonly ObjectWrite[],
  besides?: Besides,
): Together | undefined {
  const round = new Round(view, besides?.newNamespace)
  const wantedKeys = new Set(wanted.map((w) => w.key))
  if (wantedKeys.size < wanted.length) return undefined
  for (const write of wanted) {
    let decision: MergedDecision
    try {
      decision = chain.decide(write.attributes, write.change, round)
    } catch (error) {
      if (findStatusError(error) === undefined) throw error
      return undefined
    }
    if (decision.wait !== undefined || decision.begin !== undefined) return undefined
    if (decision.object !== undefined && write.value === undefined) return undefined
    if (decision.writes.some(({ key }) => wantedKeys.has(key))) return undefined
    round.add(decision.object === undefined ? write : completed(write, decision.object), decision)
  }
  const more = besides?.decide(round)
  if (besides !== undefined && more === undefined) return undefined
  for (const extra of more?.writes ?? []) if (wantedKeys.has(extra.key)) return undefined
  return round.all(more ?? {})
}

/** As the decision filled it in. */
export function completed(write: ObjectWrite, object: NonNullable<Decision['object']>): ObjectWrite {
  return { ...write, value: encodeStored(object, write.change.type), change: { ...write.change, after: object } }
}

class Round implements DecisionView {
  readonly #view: DecisionView
  readonly #newNamespace: string | undefined
  readonly #guards = new Map<string, Guard>()
  readonly #own = new Map<string, ObjectWrite>()
  readonly #extra = new Map<string, DecidedWrite>()

  constructor(view: DecisionView, newNamespace: string | undefined) {
    this.#view = view
    this.#newNamespace = newNamespace
  }

  see: DecisionView['see'] = (type, namespace, name) => {
    const key = objectKey(type.storageName, namespace, name)
    const own = this.#own.get(key)
    if (own?.change.after !== undefined) return new SeenValue(key, own.expect, () => own.change.after)
    const extra = this.#extra.get(key)
    if (extra === undefined) return this.#view.see(type, namespace, name)
    return leftBy(extra, extra.expect, type)
  }

  queuedIn: DecisionView['queuedIn'] = (namespace) => {
    if (namespace !== this.#newNamespace) return undefined
    const changes: QueuedChange[] = []
    for (const { key, expect, change } of [...this.#own.values(), ...this.#extra.values()]) {
      if (change?.namespace === namespace) changes.push({ key, expect, change })
    }
    return changes
  }

  add(write: ObjectWrite, { guards, writes }: MergedDecision): void {
    for (const guard of guards) this.#guards.set(guard.key, guard)
    for (const extra of writes) this.#extra.set(extra.key, extra)
    this.#own.set(write.key, write)
  }

  /** undefined = something is expected in two ways. */
  all({ guards: also = [], writes = [] }: Pick<Decision, 'guards' | 'writes'>): Together | undefined {
    for (const extra of writes) this.#extra.set(extra.key, extra)
    const guards: Guard[] = []
    for (const guard of [...this.#guards.values(), ...also]) {
      const write: Write | undefined = this.#own.get(guard.key) ?? this.#extra.get(guard.key)
      if (write === undefined) guards.push(guard)
      else if (!isSame(write.expect, guard.expect)) return undefined
    }
    return { guards, own: [...this.#own.values()], extra: [...this.#extra.values()] }
  }
}

function isSame(a: Expect, b: Expect): boolean {
  if (typeof a !== 'object' || typeof b !== 'object') return a === b
  return a.asLeftBy.id === b.asLeftBy.id
}
