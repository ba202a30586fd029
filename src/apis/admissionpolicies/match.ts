/** Does a policy, or a binding, want a request? And as what does it want to see the object? */
import type { Attributes, Operation } from '../../admission/admission.ts'
import { type LabelSelector, labelSelectorOf, matchesLabels } from '../../kube/label-selector.ts'
import type { ResourceType, ResourceTypes } from '../../kube/resource-type.ts'
import type { KubeObject } from '../../kube/types.ts'
import { kindOf, ruleMatches, type SeenAs } from '../webhooks/hook-index.ts'
import type { MatchResources, NamedRule } from './types.ts'

export class ResourceMatcher {
  readonly namespaceSelector: LabelSelector
  readonly #objectSelector: LabelSelector
  readonly #given: MatchResources

  /** @throws Error if it makes no sense: it did not come through validation */
  constructor(given: MatchResources) {
    this.#given = given
    this.namespaceSelector = labelSelectorOf(given.namespaceSelector ?? {})
    this.#objectSelector = labelSelectorOf(given.objectSelector ?? {})
  }

  /** By what rules say of operation and resource; they may still ask for certain names. Undefined = none wants it. */
  seenAs(
    operation: Operation,
    type: ResourceType,
    subresource: string,
    types: ResourceTypes,
    name?: string,
  ): SeenAs | undefined {
    const kind = kindOf(type, subresource)
    if (kind === undefined) return undefined
    const { resourceRules = [], excludeResourceRules = [], matchPolicy } = this.#given
    const equivalents =
      matchPolicy === 'Exact'
        ? []
        : [...types.all()].filter(
            (t) => t !== type && t.storageName === type.storageName && t.stored && kindOf(t, subresource) !== undefined,
          )
    const wanted = (rules: readonly NamedRule[], named: boolean): ResourceType | undefined => {
      const isNamed = ({ resourceNames = [] }: NamedRule): boolean =>
        resourceNames.length === 0 || (named && (name === undefined || resourceNames.includes(name)))
      return [type, ...equivalents].find((t) =>
        rules.some((rule) => ruleMatches(rule, operation, t, subresource) && isNamed(rule)),
      )
    }
    // Exclusions by name can only be told of a request.
    if (wanted(excludeResourceRules, name !== undefined)) return undefined
    if (resourceRules.length === 0) return { type, kind }
    const found = wanted(resourceRules, true)
    return found && { type: found, kind: kindOf(found, subresource) ?? found }
  }

  get hasNames(): boolean {
    const { resourceRules = [], excludeResourceRules = [] } = this.#given
    return [...resourceRules, ...excludeResourceRules].some((r) => (r.resourceNames?.length ?? 0) > 0)
  }

  selectsObject({ object, oldObject }: Attributes): boolean {
    const selector = this.#objectSelector
    const has = (o: KubeObject | undefined): boolean => o !== undefined && matchesLabels(selector, o.metadata.labels)
    return selector.length === 0 || has(object) || has(oldObject)
  }

  /** `labels` of the namespace; undefined for what is in none, which is never spared. */
  selectsNamespace(labels: Readonly<Record<string, string>> | undefined): boolean {
    return labels === undefined || this.namespaceSelector.length === 0 || matchesLabels(this.namespaceSelector, labels)
  }
}
