/**
 * The ordered list of admission plugins, asked in three rounds: `mutate`, `validate`, `decide`. Rounds in which nobody
 * has a say cost no promise.
 */
import type {
  Accountant,
  AdmissionPlugin,
  Attributes,
  ContentChange,
  DecidedWrite,
  Decision,
  DecisionView,
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
  readonly #validating: readonly AdmissionPlugin[]
  readonly #deciding: readonly AdmissionPlugin[]
  readonly #accountant: Accountant | undefined

  constructor(plugins: readonly AdmissionPlugin[], accountant?: Accountant) {
    this.#mutating = plugins.filter((p) => p.mutate)
    this.#validating = plugins.filter((p) => p.validate)
    this.#deciding = plugins.filter((p) => p.decide)
    this.#accountant = accountant
  }

  /** The object after all have had their say: the one in `attributes` if none changed it. undefined = nobody asks. */
  mutate(attributes: Attributes): Promise<KubeObject | undefined> | undefined {
    const asked = handling(this.#mutating, attributes)
    return asked.length === 0 ? undefined : this.#mutate(asked, attributes)
  }

  validate(attributes: Attributes): Promise<void> | undefined {
    const asked = handling(this.#validating, attributes)
    return asked.length === 0 ? undefined : validateAll(asked, attributes)
  }

  /** Synchronous, see `AdmissionPlugin.decide`. @throws StatusError */
  decide(attributes: Attributes | undefined, change: ContentChange, view: DecisionView): MergedDecision {
    let merged = nothing
    if (attributes !== undefined) {
      for (const plugin of this.#deciding) {
        if (!plugin.handles(attributes.operation, attributes.type, attributes.subresource)) continue
        const decision = plugin.decide?.(attributes, view)
        if (decision) merged = merge(merged, decision)
      }
    }
    if (this.#accountant && change.namespace !== '') merged = merge(merged, this.#accountant.account(change, view))
    return merged
  }

  async #mutate(plugins: readonly AdmissionPlugin[], attributes: Attributes): Promise<KubeObject | undefined> {
    let { object } = attributes
    for (const plugin of plugins) object = (await plugin.mutate?.({ ...attributes, object })) ?? object
    return object
  }
}

function handling(plugins: readonly AdmissionPlugin[], a: Attributes): readonly AdmissionPlugin[] {
  return plugins.filter((p) => p.handles(a.operation, a.type, a.subresource))
}

async function validateAll(plugins: readonly AdmissionPlugin[], attributes: Attributes): Promise<void> {
  for (const plugin of plugins) await plugin.validate?.(attributes)
}

function merge(merged: MergedDecision, decision: Decision): MergedDecision {
  const { guards = noGuards, writes = noWrites, wait, begin, object } = decision
  const more = wait ?? begin ?? object
  if (guards.length === 0 && writes.length === 0 && more === undefined) return merged
  return {
    guards: merged.guards.length === 0 ? guards : [...merged.guards, ...guards],
    writes: merged.writes.length === 0 ? writes : [...merged.writes, ...writes],
    wait: merged.wait ?? wait,
    begin: merged.begin ?? begin,
    object: merged.object ?? object,
  }
}
