/**
 * Which of some rules are not covered by others: the arithmetic of the escalation check. Rules are
 * taken apart into single permissions (one verb on one resource, or on one path), and each must be covered whole by one
 * rule of the owner.
 * @see k8s.io/component-helpers/auth/rbac/validation/policy_comparator.go, k8s.io/kubernetes/pkg/apis/rbac/v1 v1.36
 */
import { append } from '../../base/append.ts'
import { quote } from '../../kube/go-quote.ts'
import type { PolicyRule } from '../../kube/rbac.ts'

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
  const owner = held.map(heldRule)
  const missing: PolicyRule[] = []
  for (const rule of wanted) {
    if (owner.some((h) => covers(h, rule))) continue
    for (const permission of permissionsOf(rule)) {
      if (!owner.some((h) => covers(h, permission))) missing.push(permission)
    }
  }
  return missing
}

function* permissionsOf(rule: PolicyRule): Iterable<PolicyRule> {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule
  for (const group of apiGroups) {
    for (const resource of resources) {
      for (const verb of verbs) {
        const permission = { apiGroups: [group], resources: [resource], verbs: [verb] }
        if (resourceNames.length === 0) yield permission
        for (const name of resourceNames) yield { ...permission, resourceNames: [name] }
      }
    }
  }
  for (const url of nonResourceURLs) for (const verb of verbs) yield { nonResourceURLs: [url], verbs: [verb] }
}

interface HeldRule {
  readonly verbs: ReadonlySet<string>
  readonly groups: ReadonlySet<string>
  readonly resources: ReadonlySet<string>
  readonly names: ReadonlySet<string>
  readonly urls: readonly string[]
}

const heldRule = (rule: PolicyRule): HeldRule => ({
  verbs: new Set(rule.verbs),
  groups: new Set(rule.apiGroups),
  resources: new Set(rule.resources),
  names: new Set(rule.resourceNames),
  urls: rule.nonResourceURLs ?? [],
})

function covers(held: HeldRule, wanted: PolicyRule): boolean {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = wanted
  return (
    hasAll(held.verbs, verbs) &&
    hasAll(held.groups, apiGroups) &&
    resources.every((resource) => coversResource(held.resources, resource)) &&
    nonResourceURLs.every((url) => held.urls.some((h) => coversUrl(h, url))) &&
    (held.names.size === 0 || (resourceNames.length > 0 && resourceNames.every((name) => held.names.has(name))))
  )
}

const hasAll = (held: ReadonlySet<string>, wanted: readonly string[]): boolean =>
  held.has('*') || wanted.every((item) => held.has(item))

function coversResource(held: ReadonlySet<string>, resource: string): boolean {
  if (held.has('*') || held.has(resource)) return true
  const slash = resource.indexOf('/')
  return slash >= 0 && held.has(`*${resource.slice(slash)}`)
}

const coversUrl = (held: string, url: string): boolean =>
  held === url || (held.endsWith('*') && url.startsWith(held.slice(0, -1)))

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
