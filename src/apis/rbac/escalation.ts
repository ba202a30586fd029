/**
 * No user grants rights they do not hold: compares the rules that a request grants with those of its user.
 * @see k8s.io/kubernetes/pkg/registry/rbac/validation/rule.go v1.36
 */
import type { Authorizer, RuleSet } from '../../authz/authz.ts'
import { quote } from '../../kube/go-quote.ts'
import type { PolicyRule } from '../../kube/rbac.ts'
import type { UserInfo } from '../../kube/user.ts'
import { HeldPermissions, maxHeldSteps } from './held-permissions.ts'
import { compactRules, countPermissions, listText, maxPermissions, permissionsMissing, ruleText } from './rule-cover.ts'

/** Single permissions that a refusal names: a request of a few kilobytes may lack 50,000. Our choice. */
const maxTold = 1000

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
  const owner = HeldPermissions.of(policyRulesOf(held), rules, maxHeldSteps)
  if (owner === undefined) return `your own permissions are too many to compare with: at most ${maxHeldSteps}`
  const missing = firstOf(permissionsMissing(owner, rules), maxTold + 1)
  if (missing.length === 0) return undefined
  const texts = [...new Set(compactRules(missing.slice(0, maxTold)).map(ruleText))].sort()
  if (missing.length > maxTold) texts.push('and more')
  const who = `user ${quote(user.username)} (groups=${listText(user.groups)})`
  const what = `${who} is attempting to grant RBAC permissions not currently held:\n${texts.join('\n')}`
  return held.evaluationError ? `${what}; resolution errors: [${held.evaluationError}]` : what
}

function firstOf<T>(items: Iterable<T>, count: number): T[] {
  const first: T[] = []
  for (const item of items) {
    first.push(item)
    if (first.length === count) break
  }
  return first
}

/** The lists are shared: a user may hold any number of rules. */
const policyRulesOf = (held: RuleSet): PolicyRule[] => [
  ...(held.resourceRules as readonly PolicyRule[]),
  ...(held.nonResourceRules as readonly PolicyRule[]),
]
