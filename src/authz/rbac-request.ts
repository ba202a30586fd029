/** From what is asked to what rules are compared with. */
import type { AuthzAttributes, ResourceAttributes } from './authz.ts'
import type { CompiledRules, RuleRequest } from './rbac-rules.ts'

/** Whether a role's rules allow this request; made once per request. */
export function ruleTest(attributes: AuthzAttributes): (rules: CompiledRules) => boolean {
  if (attributes.path !== undefined) {
    const { verb, path } = attributes
    return (rules) => rules.allowsPath(verb, path)
  }
  const request = ruleRequest(attributes)
  return (rules) => rules.allowsResource(request)
}

/**
 * Whose bindings count, besides the cluster's; '' = none. `kubectl delete namespace x` waits with a list and a
 * watch of namespaces by `metadata.name=x`. Such a request shows x alone, so rights inside x count for it as they count
 * for GET, where the path itself makes x the namespace. Upstream looks at cluster-wide rights only. Our choice.
 */
export function namespaceOf(a: AuthzAttributes): string {
  if (a.path !== undefined) return ''
  if (a.namespace === '' && a.resource === 'namespaces' && a.group === '' && isRead(a.verb)) return a.name
  return a.namespace
}

export const isRead = (verb: string): boolean => verb === 'get' || verb === 'list' || verb === 'watch'

function ruleRequest(a: ResourceAttributes): RuleRequest {
  const { verb, group, name, subresource } = a
  if (!subresource) return { verb, group, resource: a.resource, anySubresource: undefined, name }
  return { verb, group, resource: `${a.resource}/${subresource}`, anySubresource: `*/${subresource}`, name }
}
