/**
 * The rules of one role, compiled once and then asked per request: a rule is looked up by the resource it names, so a
 * role of forty rules costs about as much as a role of one.
 * @see k8s.io/kubernetes/pkg/apis/rbac/v1/evaluation_helpers.go v1.36
 */
import type { PolicyRule } from '../kube/rbac.ts'
import type { NonResourceRule, ResourceRule } from './authz.ts'

/** A request in the form rules are compared with; made once per request. */
export interface RuleRequest {
  readonly verb: string
  readonly group: string
  /** `pods`, `pods/log` */
  readonly resource: string
  /** '*' + '/log'; undefined for a request without sub-resource. */
  readonly anySubresource: string | undefined
  readonly name: string
}

interface CompiledRule {
  readonly verbs: ReadonlySet<string>
  readonly groups: ReadonlySet<string>
  /** Empty = any object, also requests that name none. */
  readonly names: ReadonlySet<string>
}

interface CompiledPathRule {
  readonly verbs: ReadonlySet<string>
  readonly paths: ReadonlySet<string>
  /** What stands before a trailing `*`. */
  readonly prefixes: readonly string[]
}

export class CompiledRules {
  readonly resourceRules: readonly ResourceRule[]
  readonly nonResourceRules: readonly NonResourceRule[]
  readonly #byResource = new Map<string, CompiledRule[]>()
  readonly #anyResource: readonly CompiledRule[]
  readonly #byPath: readonly CompiledPathRule[]

  constructor(rules: readonly PolicyRule[]) {
    this.resourceRules = rules.map(resourceRule).filter(({ resources }) => resources.length > 0)
    this.nonResourceRules = rules.map(nonResourceRule).filter(({ nonResourceURLs }) => nonResourceURLs.length > 0)
    for (const rule of this.resourceRules) {
      const compiled = compile(rule)
      for (const resource of new Set(rule.resources)) {
        const same = this.#byResource.get(resource)
        if (same) same.push(compiled)
        else this.#byResource.set(resource, [compiled])
      }
    }
    this.#anyResource = this.#byResource.get('*') ?? []
    this.#byPath = this.nonResourceRules.map(compilePaths)
  }

  allowsResource(request: RuleRequest): boolean {
    const named = this.#byResource.get(request.resource)
    if (named && some(named, request)) return true
    if (some(this.#anyResource, request)) return true
    if (request.anySubresource === undefined) return false
    const subresource = this.#byResource.get(request.anySubresource)
    return subresource !== undefined && some(subresource, request)
  }

  /** Which objects it allows `verb` on, by name; undefined = every one. */
  objectsOf(verb: string, group: string, resource: string): ReadonlySet<string> | undefined {
    const names = new Set<string>()
    for (const rule of [...(this.#byResource.get(resource) ?? []), ...this.#anyResource]) {
      if (!appliesTo(rule, group, verb)) continue
      if (rule.names.size === 0) return undefined
      for (const name of rule.names) if (name !== '') names.add(name)
    }
    return names
  }

  allowsPath(verb: string, path: string): boolean {
    return this.#byPath.some(
      (rule) =>
        (rule.verbs.has(verb) || rule.verbs.has('*')) &&
        (rule.paths.has(path) || rule.prefixes.some((prefix) => path.startsWith(prefix))),
    )
  }
}

function some(rules: readonly CompiledRule[], request: RuleRequest): boolean {
  for (const rule of rules) {
    if (
      appliesTo(rule, request.group, request.verb) &&
      (rule.names.size === 0 || (request.name !== '' && rule.names.has(request.name)))
    ) {
      return true
    }
  }
  return false
}

const appliesTo = ({ groups, verbs }: CompiledRule, group: string, verb: string): boolean =>
  (groups.has(group) || groups.has('*')) && (verbs.has(verb) || verbs.has('*'))

const compile = (rule: ResourceRule): CompiledRule => ({
  verbs: new Set(rule.verbs),
  groups: new Set(rule.apiGroups),
  names: new Set(rule.resourceNames),
})

const compilePaths = (rule: NonResourceRule): CompiledPathRule => ({
  verbs: new Set(rule.verbs),
  paths: new Set(rule.nonResourceURLs),
  prefixes: rule.nonResourceURLs.filter((url) => url.endsWith('*')).map(withoutStars),
})

/** A loop, because `/\*+$/` takes quadratic time on a hostile pattern. */
function withoutStars(url: string): string {
  let end = url.length
  while (url[end - 1] === '*') end--
  return url.slice(0, end)
}

/** Rules may be those of another cluster, where a list that is empty is null. */
const resourceRule = (rule: PolicyRule): ResourceRule => {
  const names = rule.resourceNames ?? []
  return {
    verbs: rule.verbs ?? [],
    apiGroups: rule.apiGroups ?? [],
    resources: rule.resources ?? [],
    ...(names.length > 0 ? { resourceNames: names } : {}),
  }
}

const nonResourceRule = (rule: PolicyRule): NonResourceRule => ({
  verbs: rule.verbs ?? [],
  nonResourceURLs: rule.nonResourceURLs ?? [],
})
