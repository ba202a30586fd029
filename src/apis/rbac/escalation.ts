/**
 * No user grants rights they do not hold: compares the rules that a request grants with those of its user.
 * @see k8s.io/kubernetes/pkg/registry/rbac/validation/rule.go v1.36
 */
import type { Authorizer, RuleSet } from '../../authz/authz.ts'
import { quote } from '../../kube/go-quote.ts'
import type { PolicyRule } from '../../kube/rbac.ts'
import type { UserInfo } from '../../kube/user.ts'
import { compactRules, countPermissions, listText, maxPermissions, missingPermissions, ruleText } from './rule-cover.ts'

/**
 * Why the user may not grant `rules` in `namespace` ('' = cluster-wide); undefined if they may. The text is upstream's
 * and stands behind `… is forbidden: `.
 */
export function escalationRefusal(
  authorizer: Authorizer,
  user: UserInfo,
  namespace: string,
  rules: readonly PolicyRule[],
): string | undefined {
  const count = countPermissions(rules)
  if (count > maxPermissions)
    return `${count} permissions are too many to compare with your own: at most ${maxPermissions}`
  const held = authorizer.rulesFor(user, namespace)
  const missing = missingPermissions(policyRulesOf(held), rules)
  if (missing.length === 0) return undefined
  const texts = [...new Set(compactRules(missing).map(ruleText))].sort()
  const who = `user ${quote(user.username)} (groups=${listText(user.groups)})`
  const what = `${who} is attempting to grant RBAC permissions not currently held:\n${texts.join('\n')}`
  return held.evaluationError ? `${what}; resolution errors: [${held.evaluationError}]` : what
}

const policyRulesOf = (held: RuleSet): PolicyRule[] => [
  ...held.resourceRules.map((rule) => ({
    verbs: [...rule.verbs],
    apiGroups: [...rule.apiGroups],
    resources: [...rule.resources],
    ...(rule.resourceNames ? { resourceNames: [...rule.resourceNames] } : {}),
  })),
  ...held.nonResourceRules.map((rule) => ({ verbs: [...rule.verbs], nonResourceURLs: [...rule.nonResourceURLs] })),
]
