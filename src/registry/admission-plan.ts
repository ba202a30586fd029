/**
 * Which admission plugins and accountants concern an operation on a type: worked out once and kept, so that a request
 * enters none that has nothing to say. All of it is forgotten when one of them says that what it handles has changed.
 */
import type { Accountant, AdmissionHalf, AdmissionPlugin, Attributes, Operation } from '../admission/admission.ts'
import type { ResourceType } from '../kube/resource-type.ts'

/** Each list in the order of admission. */
export interface AdmissionPlan {
  readonly mutating: readonly AdmissionPlugin[]
  /** Position in `mutating` behind which a second round begins, if one is asked for; -1 = none may ask. */
  readonly lastAsking: number
  readonly validating: readonly AdmissionPlugin[]
  readonly creatingMore: readonly AdmissionPlugin[]
  readonly deciding: readonly AdmissionPlugin[]
}

export class AdmissionPlans {
  readonly #plugins: readonly AdmissionPlugin[]
  readonly #accountants: readonly Accountant[]
  #plans = new WeakMap<ResourceType, Map<string, AdmissionPlan>>()
  #accounting = new WeakMap<ResourceType, readonly Accountant[]>()

  constructor(plugins: readonly AdmissionPlugin[], accountants: readonly Accountant[]) {
    this.#plugins = plugins
    this.#accountants = accountants
    for (const plugin of plugins) {
      plugin.onHandlesChange?.(() => {
        this.#plans = new WeakMap()
      })
    }
    for (const accountant of accountants) {
      accountant.onHandlesChange?.(() => {
        this.#accounting = new WeakMap()
      })
    }
  }

  of({ operation, type, subresource }: Pick<Attributes, 'operation' | 'type' | 'subresource'>): AdmissionPlan {
    let ofType = this.#plans.get(type)
    if (ofType === undefined) this.#plans.set(type, (ofType = new Map<string, AdmissionPlan>()))
    const key = subresource === '' ? operation : `${operation} ${subresource}`
    let plan = ofType.get(key)
    if (plan === undefined) ofType.set(key, (plan = this.#make(operation, type, subresource)))
    return plan
  }

  accountants(type: ResourceType): readonly Accountant[] {
    let found = this.#accounting.get(type)
    if (found === undefined) {
      found = this.#accountants.filter((accountant) => accountant.handles(type))
      this.#accounting.set(type, found)
    }
    return found
  }

  #make(operation: Operation, type: ResourceType, subresource: string): AdmissionPlan {
    const handled = new Map<AdmissionPlugin, boolean | readonly AdmissionHalf[]>()
    for (const plugin of this.#plugins) handled.set(plugin, plugin.handles(operation, type, subresource))
    const those = (half: AdmissionHalf): readonly AdmissionPlugin[] =>
      this.#plugins.filter((plugin) => {
        const halves = handled.get(plugin)
        return plugin[half] !== undefined && (typeof halves === 'object' ? halves.includes(half) : halves)
      })
    const mutating = those('mutate')
    return {
      mutating,
      lastAsking: mutating.findLastIndex((plugin) => plugin.mayAskForSecond),
      validating: those('validate'),
      creatingMore: those('createAlso'),
      deciding: those('decide'),
    }
  }
}
