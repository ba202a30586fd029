/** Which rules an aggregated ClusterRole gathers from the others. */
import { jsonEqual } from '../../kube/json-value.ts'
import { labelSelectorOf, matchesLabels } from '../../kube/label-selector.ts'
import type { ClusterRole, PolicyRule } from '../../kube/rbac.ts'

export const isAggregated = (role: ClusterRole): boolean => role.aggregationRule !== undefined

/**
 * Selector by selector, the matching roles by name, their rules in order, each rule once; never the role itself.
 * @see k8s.io/kubernetes/pkg/controller/clusterroleaggregation v1.36
 */
export function aggregatedRules(role: ClusterRole, all: Iterable<ClusterRole>): PolicyRule[] {
  const byName = [...all].sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))
  const rules: PolicyRule[] = []
  for (const object of role.aggregationRule?.clusterRoleSelectors ?? []) {
    const selector = labelSelectorOf(object)
    for (const other of byName) {
      if (other.metadata.name === role.metadata.name || !matchesLabels(selector, other.metadata.labels)) continue
      for (const rule of other.rules ?? []) if (!rules.some((known) => jsonEqual(known, rule))) rules.push(rule)
    }
  }
  return rules
}
