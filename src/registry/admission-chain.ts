/**
 * The ordered list of admission plugins, asked in rounds: `mutate`, `validate`, `createAlso`, `decide`. A round in
 * which no plugin has a say costs no promise.
 */
import type {
  Accountant,
  AdmissionPlugin,
  AlsoCreate,
  Attributes,
  ContentChange,
  DecidedWrite,
  Decision,
  DecisionView,
  MutationRound,
} from '../admission/admission.ts'
import { type Eventual, isPending } from '../base/eventual.ts'
import type { KubeObject, Unvalidated } from '../kube/types.ts'
import type { Guard } from '../storage/storage.ts'
import { type AdmissionPlan, AdmissionPlans } from './admission-plan.ts'

export interface MergedDecision {
  readonly guards: readonly Guard[]
  readonly writes: readonly DecidedWrite[]
  readonly wait: Promise<unknown> | undefined
  readonly begin: Decision['begin'] | undefined
  readonly object: KubeObject | undefined
}

const noGuards: readonly Guard[] = []
const noWrites: readonly DecidedWrite[] = []
const noObjects: readonly AlsoCreate[] = []
const nothing: MergedDecision = {
  guards: noGuards,
  writes: noWrites,
  wait: undefined,
  begin: undefined,
  object: undefined,
}

export class AdmissionChain {
  readonly #plans: AdmissionPlans

  constructor(plugins: readonly AdmissionPlugin[], accountants: readonly Accountant[] = []) {
    this.#plans = new AdmissionPlans(plugins, accountants)
  }

  /**
   * The object after all have had their say: the one in `attributes` if none changed it. A promise only where a plugin
   * waits for something. @throws StatusError, at once or in the promise
   */
  mutate(attributes: Attributes<Unvalidated>): Eventual<Unvalidated | undefined> {
    const plan = this.#plans.of(attributes)
    if (plan.mutating.length === 0) return attributes.object
    return mutate(plan, attributes, 0, plan.lastAsking < 0 ? onlyRound : new Round())
  }

  /** As `mutate`. */
  validate(attributes: Attributes): void | Promise<void> {
    return validate(this.#plans.of(attributes), attributes, 0)
  }

  /** What is created in the same transaction. As best effort: of the first plugin that has any. */
  createAlso(attributes: Attributes): readonly AlsoCreate[] {
    const { creatingMore } = this.#plans.of(attributes)
    if (creatingMore.length === 0) return noObjects
    const all: AlsoCreate[] = []
    let hasBestEffort = false
    for (const plugin of creatingMore) {
      const also = plugin.createAlso?.(attributes)
      if (also === undefined || (also.bestEffort !== undefined && hasBestEffort)) continue
      hasBestEffort ||= also.bestEffort !== undefined
      all.push(also)
    }
    return all
  }

  /** Synchronous, see `AdmissionPlugin.decide`. @throws StatusError */
  decide(attributes: Attributes | undefined, change: ContentChange, view: DecisionView): MergedDecision {
    let merged = nothing
    if (attributes !== undefined) {
      for (const plugin of this.#plans.of(attributes).deciding)
        merged = merge(merged, plugin.decide?.(attributes, view))
    }
    for (const accountant of this.#plans.accountants(change.type)) {
      merged = merge(merged, accountant.account(change, view, merged.writes))
    }
    return merged
  }

  /** See `Accountant.owes`. */
  owes(change: ContentChange, view: DecisionView): boolean {
    return this.#plans.accountants(change.type).some((accountant) => accountant.owes?.(change, view))
  }
}

function mutate(
  plan: AdmissionPlan,
  given: Attributes<Unvalidated>,
  from: number,
  round: OwnRound,
): Eventual<Unvalidated | undefined> {
  let attributes = given
  for (let i = from; i < plan.mutating.length; i = i === plan.lastAsking ? after(plan, i, round) : i + 1) {
    const answer = plan.mutating[i]?.mutate?.(attributes, round)
    if (isPending(answer)) {
      const asked = attributes
      return answer.then((object) => mutate(plan, withObject(asked, object), after(plan, i, round), round))
    }
    if (answer !== undefined) attributes = withObject(attributes, answer)
  }
  return attributes.object
}

/** Whose turn it is after plugin `i`. Those behind all that may ask see what both rounds made. */
const after = ({ lastAsking }: AdmissionPlan, i: number, round: OwnRound): number =>
  i === lastAsking && round.beginSecond() ? 0 : i + 1

function validate(plan: AdmissionPlan, attributes: Attributes, from: number): void | Promise<void> {
  for (let i = from; i < plan.validating.length; i++) {
    const asked = plan.validating[i]?.validate?.(attributes)
    if (asked) return asked.then(() => validate(plan, attributes, i + 1))
  }
}

const withObject = (attributes: Attributes<Unvalidated>, object: Unvalidated | undefined): Attributes<Unvalidated> =>
  object && object !== attributes.object ? { ...attributes, object } : attributes

interface OwnRound extends MutationRound {
  /** False if no plugin asked for it, or it is over. */
  beginSecond(): boolean
}

/** Of a plan in which no plugin may ask for a second. */
const onlyRound: OwnRound = {
  isSecond: false,
  askForSecond() {},
  beginSecond: () => false,
  memory: (_plugin, make) => make(),
}

class Round implements OwnRound {
  #memory: Map<string, unknown> | undefined
  #isAsked = false
  isSecond = false

  askForSecond(): void {
    this.#isAsked = true
  }

  /** False if no plugin asked for it, or it is over. */
  beginSecond(): boolean {
    if (!this.#isAsked || this.isSecond) return false
    this.isSecond = true
    return true
  }

  memory<T>(plugin: string, make: () => T): T {
    this.#memory ??= new Map()
    if (!this.#memory.has(plugin)) this.#memory.set(plugin, make())
    return this.#memory.get(plugin) as T
  }
}

/** Few decisions say anything, and mostly one alone: then nothing is copied. */
function merge(merged: MergedDecision, decision: Decision | undefined): MergedDecision {
  if (decision === undefined) return merged
  const { guards = noGuards, writes = noWrites, wait, begin, object } = decision
  const more = wait ?? begin ?? object
  if (guards.length === 0 && writes.length === 0 && more === undefined) return merged
  if (merged === nothing) return { guards, writes, wait, begin, object }
  return {
    guards: joined(merged.guards, guards),
    writes: joined(merged.writes, writes),
    wait: merged.wait ?? wait,
    begin: merged.begin ?? begin,
    object: merged.object ?? object,
  }
}

function joined<T>(a: readonly T[], b: readonly T[]): readonly T[] {
  if (a.length === 0) return b
  return b.length === 0 ? a : [...a, ...b]
}
