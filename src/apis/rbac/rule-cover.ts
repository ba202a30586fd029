/**
 * Which of some rules are not covered by others: the arithmetic of the escalation check. Rules are
 * taken apart into single permissions (one verb on one resource, or on one path), and each must be covered whole by one
 * rule of the owner.
 * @see k8s.io/component-helpers/auth/rbac/validation/policy_comparator.go, k8s.io/kubernetes/pkg/apis/rbac/v1 v1.36
 */
import { append } from '../../base/append.ts'
import { quote } from '../../kube/go-quote.ts'
import type { PolicyRule } from '../../kube/rbac.ts'
import { HeldPermissions } from './held-permissions.ts'

/** More single permissions than this are not compared: the work would block all other requests. Our choice. */
export const maxPermissions = 50_000

/** How many single permissions the rules are, at most; cheap. */
export function countPermissions(rules: readonly PolicyRule[]): number {
  let count = 0
  for (const rule of rules) {
    const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule
    count +=
      verbs.length * (apiGroups.length * resources.length * Math.max(1, resourceNames.length) + nonResourceURLs.length)
  }
  return count
}

/** Single permissions in `wanted` that no rule of `held` covers. */
export function missingPermissions(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  const owner = HeldPermissions.of(held, wanted, Number.POSITIVE_INFINITY)
  return owner ? [...permissionsMissing(owner, wanted)] : []
}

/** The same, one by one. */
export function* permissionsMissing(held: HeldPermissions, wanted: readonly PolicyRule[]): Generator<PolicyRule> {
  for (const rule of wanted) {
    const { verbs = [], apiGroups = [], resources = [], nonResourceURLs = [] } = rule
    for (const group of apiGroups) {
      for (const resource of resources) {
        for (const verb of verbs) yield* objectsMissing(held, group, resource, verb, rule.resourceNames ?? [])
      }
    }
    for (const url of nonResourceURLs) {
      for (const verb of verbs) if (!held.holdsPath(url, verb)) yield { nonResourceURLs: [url], verbs: [verb] }
    }
  }
}

function* objectsMissing(
  held: HeldPermissions,
  group: string,
  resource: string,
  verb: string,
  names: readonly string[],
): Generator<PolicyRule> {
  const heldNames = held.namesOf(group, resource, verb)
  if (heldNames === undefined) return
  const permission = { apiGroups: [group], resources: [resource], verbs: [verb] }
  if (names.length === 0) yield permission
  for (const name of names) {
    if (!heldNames.some((some) => some.has(name))) yield { ...permission, resourceNames: [name] }
  }
}

/** Joins the verbs of single permissions on the same thing. */
export function compactRules(permissions: readonly PolicyRule[]): PolicyRule[] {
  const compacted: PolicyRule[] = []
  const byThing = new Map<string, PolicyRule>()
  for (const rule of permissions) {
    if ((rule.nonResourceURLs ?? []).length > 0) {
      compacted.push(rule)
      continue
    }
    const thing = JSON.stringify([rule.apiGroups, rule.resources, rule.resourceNames])
    const same = byThing.get(thing)
    if (same) append(same.verbs, rule.verbs)
    else {
      const copy = { ...rule, verbs: [...rule.verbs] }
      byThing.set(thing, copy)
      compacted.push(copy)
    }
  }
  return compacted
}

/** `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}` */
export function ruleText(rule: PolicyRule): string {
  const parts: string[] = []
  const add = (label: string, items: readonly string[] | undefined): void => {
    if (items && items.length > 0) parts.push(`${label}:${listText(items)}`)
  }
  add('APIGroups', rule.apiGroups)
  add('Resources', rule.resources)
  add('NonResourceURLs', rule.nonResourceURLs)
  add('ResourceNames', rule.resourceNames)
  add('Verbs', rule.verbs)
  return `{${parts.join(', ')}}`
}

/** `["a" "b"]` */
export const listText = (items: readonly string[]): string => `[${items.map(quote).join(' ')}]`
