/**
 * The ordered list of admission plugins, asked in rounds: `mutate`, `validate`, `accompany`, `decide`. Rounds in which
 * nobody has a say cost no promise.
 */
import type {
  Accountant,
  AdmissionPlugin,
  Attributes,
  Companions,
  ContentChange,
  DecidedWrite,
  Decision,
  DecisionView,
  MutationRound,
} from '../admission/admission.ts'
import type { KubeObject } from '../kube/types.ts'
import type { Guard } from '../storage/storage.ts'

export interface MergedDecision {
  readonly guards: readonly Guard[]
  readonly writes: readonly DecidedWrite[]
  readonly wait: Promise<unknown> | undefined
  readonly begin: Decision['begin'] | undefined
  readonly object: KubeObject | undefined
}

const noGuards: readonly Guard[] = []
const noWrites: readonly DecidedWrite[] = []
const nothing: MergedDecision = {
  guards: noGuards,
  writes: noWrites,
  wait: undefined,
  begin: undefined,
  object: undefined,
}

export class AdmissionChain {
  readonly #mutating: readonly AdmissionPlugin[]
  /** Behind it a second round begins, if one is asked for. */
  readonly #lastAsking: number
  readonly #validating: readonly AdmissionPlugin[]
  readonly #accompanying: readonly AdmissionPlugin[]
  readonly #deciding: readonly AdmissionPlugin[]
  readonly #accountants: readonly Accountant[]

  constructor(plugins: readonly AdmissionPlugin[], accountants: readonly Accountant[] = []) {
    this.#mutating = plugins.filter((p) => p.mutate)
    this.#lastAsking = this.#mutating.findLastIndex((p) => p.mayAskForSecond)
    this.#validating = plugins.filter((p) => p.validate)
    this.#accompanying = plugins.filter((p) => p.accompany)
    this.#deciding = plugins.filter((p) => p.decide)
    this.#accountants = accountants
  }

  /**
   * The object after all have had their say: the one in `attributes` if none changed it. A promise only where a plugin
   * waits for something. @throws StatusError, at once or in the promise
   */
  mutate(attributes: Attributes): KubeObject | undefined | Promise<KubeObject | undefined> {
    return this.#mutate(attributes, 0, new Round())
  }

  /** As `mutate`. */
  validate(attributes: Attributes): void | Promise<void> {
    return this.#validate(attributes, 0)
  }

  /** Of the first plugin that has any. */
  accompany(attributes: Attributes): Companions | undefined {
    for (const plugin of this.#accompanying) {
      const companions = handles(plugin, attributes) ? plugin.accompany?.(attributes) : undefined
      if (companions !== undefined) return companions
    }
    return undefined
  }

  /** Synchronous, see `AdmissionPlugin.decide`. @throws StatusError */
  decide(attributes: Attributes | undefined, change: ContentChange, view: DecisionView): MergedDecision {
    let merged = nothing
    if (attributes !== undefined) {
      for (const plugin of this.#deciding) {
        if (handles(plugin, attributes)) merged = merge(merged, plugin.decide?.(attributes, view))
      }
    }
    if (change.namespace !== '') {
      for (const accountant of this.#accountants) merged = merge(merged, accountant.account(change, view))
    }
    return merged
  }

  /** See `Accountant.owes`. */
  owes(change: ContentChange, view: DecisionView): boolean {
    return change.namespace !== '' && this.#accountants.some((accountant) => accountant.owes?.(change, view))
  }

  #mutate(given: Attributes, from: number, round: Round): KubeObject | undefined | Promise<KubeObject | undefined> {
    let attributes = given
    for (let i = from; i < this.#mutating.length; i = this.#after(i, round)) {
      const plugin = this.#mutating[i] as AdmissionPlugin
      if (!handles(plugin, attributes)) continue
      const answer = plugin.mutate?.(attributes, round)
      if (answer instanceof Promise) {
        const asked = attributes
        return answer.then((object) => this.#mutate(withObject(asked, object), this.#after(i, round), round))
      }
      attributes = withObject(attributes, answer)
    }
    return attributes.object
  }

  /** Whose turn it is after plugin `i`. Those behind all that may ask see what both rounds made. */
  #after(i: number, round: Round): number {
    return i === this.#lastAsking && round.beginSecond() ? 0 : i + 1
  }

  #validate(attributes: Attributes, from: number): void | Promise<void> {
    for (let i = from; i < this.#validating.length; i++) {
      const plugin = this.#validating[i] as AdmissionPlugin
      if (!handles(plugin, attributes)) continue
      const asked = plugin.validate?.(attributes)
      if (asked) return asked.then(() => this.#validate(attributes, i + 1))
    }
  }
}

const withObject = (attributes: Attributes, object: KubeObject | undefined): Attributes =>
  object && object !== attributes.object ? { ...attributes, object } : attributes

class Round implements MutationRound {
  #memory: Map<string, unknown> | undefined
  #isAsked = false
  isSecond = false

  askForSecond(): void {
    this.#isAsked = true
  }

  /** False if nobody asked for it, or it is over. */
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

const handles = (plugin: AdmissionPlugin, a: Attributes): boolean => plugin.handles(a.operation, a.type, a.subresource)

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
