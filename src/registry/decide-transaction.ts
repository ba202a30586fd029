/**
 * Several writes decided as one transaction, each on what those before it leave. What they demand of each other holds
 * by itself, so it is no guard of the transaction.
 */

import type { BestEffort, DecidedWrite, Decision, DecisionView, QueuedChange } from '../admission/admission.ts'
import { objectKey } from '../kube/object-key.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import { encodeStored } from '../kube/stored-form.ts'
import type { KubeObject } from '../kube/types.ts'
import type { Expect, Guard, Write } from '../storage/storage.ts'
import type { AdmissionChain, MergedDecision } from './admission-chain.ts'
import type { ObjectWrite } from './object-write.ts'
import { leftBy, SeenValue } from './seen-value.ts'

export interface DecidedTransaction {
  readonly guards: readonly Guard[]
  /** What was asked for, as decisions completed it. */
  readonly own: readonly ObjectWrite[]
  readonly extra: readonly DecidedWrite[]
}

/** Something must settle, or be done, before it can be decided. */
export interface Postponed {
  readonly wait: Decision['wait'] | undefined
  readonly begin: Decision['begin'] | undefined
}

export type TransactionDecision = DecidedTransaction | Postponed | 'contradiction'

export interface TransactionOptions {
  /**
   * The namespace that the first write opens: nothing can be on its way into it but what is in this transaction,
   * whichever process writes to the store.
   */
  readonly opens?: string | undefined
  /** Of what some of the writes are made. */
  readonly bestEffort?: BestEffort | undefined
}

/** 'contradiction': what one of them expects or writes, another contradicts. @throws StatusError of one refused */
export function decideTransaction(
  chain: AdmissionChain,
  view: DecisionView,
  writes: readonly ObjectWrite[],
  options: TransactionOptions = {},
): TransactionDecision {
  const transaction = new TransactionView(view, options.opens)
  const keys = new Set(writes.map((w) => w.key))
  if (keys.size < writes.length) return 'contradiction'
  for (const write of writes) {
    const decision = chain.decide(write.attributes, write.change, transaction)
    if (decision.wait !== undefined || decision.begin !== undefined) return decision
    if (decision.object !== undefined && write.value === undefined) return 'contradiction'
    if (decision.writes.some(({ key }) => keys.has(key))) return 'contradiction'
    transaction.add(decision.object === undefined ? write : completeWrite(write, decision.object), decision)
  }
  const more = options.bestEffort === undefined ? {} : options.bestEffort.decide(transaction)
  if (more === undefined) return 'contradiction'
  for (const { key } of more.writes ?? []) if (keys.has(key)) return 'contradiction'
  return transaction.finish(more) ?? 'contradiction'
}

/** As the decision filled it in. */
export function completeWrite(write: ObjectWrite, object: NonNullable<Decision['object']>): ObjectWrite {
  return { ...write, value: encodeStored(object, write.change.type), change: { ...write.change, after: object } }
}

/** What is there once the writes before have been made. */
class TransactionView implements DecisionView {
  readonly #view: DecisionView
  readonly #opens: string | undefined
  readonly #guards = new Map<string, Guard>()
  readonly #own = new Map<string, ObjectWrite>()
  readonly #extra = new Map<string, DecidedWrite>()

  constructor(view: DecisionView, opens: string | undefined) {
    this.#view = view
    this.#opens = opens
  }

  see: DecisionView['see'] = <T extends KubeObject>(type: ResourceType<T>, namespace: string, name: string) => {
    const key = objectKey(type.storageName, namespace, name)
    const own = this.#own.get(key)
    if (own?.change.after !== undefined) return new SeenValue<T>(key, own.expect, () => own.change.after)
    const extra = this.#extra.get(key)
    if (extra === undefined) return this.#view.see(type, namespace, name)
    return leftBy(extra, extra.expect, type)
  }

  queuedIn: DecisionView['queuedIn'] = (namespace) => {
    if (namespace !== this.#opens) return undefined
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
  finish({ guards: also = [], writes = [] }: Decision): DecidedTransaction | undefined {
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
