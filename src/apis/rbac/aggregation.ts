/** Which rules an aggregated ClusterRole gathers from the others. */
import { labelSelectorOf, matchesLabels } from '../../kube/label-selector.ts'
import type { ClusterRole, PolicyRule } from '../../kube/rbac.ts'

export const isAggregated = (role: ClusterRole): boolean => role.aggregationRule !== undefined

/**
 * Selector by selector, the matching roles by name, their rules in order, each rule once; never the role itself.
 * @see k8s.io/kubernetes/pkg/controller/clusterroleaggregation v1.36
 */
export function aggregatedRules(role: ClusterRole, all: Iterable<ClusterRole>): PolicyRule[] {
  const byName = [...all].sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))
  const rules = new Map<string, PolicyRule>()
  for (const object of role.aggregationRule?.clusterRoleSelectors ?? []) {
    const selector = labelSelectorOf(object)
    for (const other of byName) {
      if (other.metadata.name === role.metadata.name || !matchesLabels(selector, other.metadata.labels)) continue
      for (const rule of other.rules ?? []) {
        const text = textOf(rule)
        if (!rules.has(text)) rules.set(text, rule)
      }
    }
  }
  return [...rules.values()]
}

/** The same for rules that are equal: compared with each other, those of three large roles take half a minute. */
const textOf = ({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): string =>
  JSON.stringify([verbs, apiGroups, resources, resourceNames, nonResourceURLs])
