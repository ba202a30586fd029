/**
 * Which webhooks are asked about an operation on a resource. What rules say depends on nothing else, so the answer is
 * remembered.
 *
 * Configurations are in force when their write is acknowledged.
 */
import type { Operation } from '../../admission/admission.ts'
import type { GroupVersionKind } from '../../kube/gvk.ts'
import type { ResourceType, ResourceTypes } from '../../kube/resource-type.ts'
import type { Lister } from '../../registry/registry.ts'
import { type Hook, hooksOf } from './hook.ts'
import { RememberedMatches } from './remembered-matches.ts'
import type { RuleWithOperations } from './types.ts'

/** The type as which a webhook wants to see the object of a request. */
export interface SeenAs {
  /** Another than that of the request, where the rules name an equivalent one. */
  readonly type: ResourceType
  /** Of what is sent: the sub-resource's where it has a kind of its own. */
  readonly kind: GroupVersionKind
}

/** A webhook that wants to be asked, and as what it wants to see the object. */
export interface HookInvocation extends SeenAs {
  readonly hook: Hook
  /** Place among all webhooks of its phase. */
  readonly position: number
}

export interface HookIndexDeps {
  readonly lister: Lister
  readonly types: ResourceTypes
  readonly configurationType: ResourceType
  /** A configuration in the store makes no sense; the others are in force. */
  onFault(configuration: string, error: unknown): void
}

const none: readonly HookInvocation[] = []

export class HookIndex {
  readonly #deps: HookIndexDeps
  readonly #byConfiguration = new Map<string, readonly Hook[]>()
  #hooks: readonly Hook[] = []
  readonly #found = new RememberedMatches<HookInvocation>((operation, type, subresource) =>
    this.#match(operation, type, subresource),
  )
  readonly #listeners: (() => void)[] = []
  #started = false

  constructor(deps: HookIndexDeps) {
    this.#deps = deps
    deps.lister.subscribe(deps.configurationType, (next, old) => {
      const name = next?.name ?? old?.name ?? ''
      this.#byConfiguration.delete(name)
      try {
        if (next) this.#byConfiguration.set(name, hooksOf(next.object))
      } catch (error) {
        deps.onFault(name, error)
      }
      // Configurations by name, webhooks in the order of each.
      this.#hooks = [...this.#byConfiguration.keys()].sort().flatMap((n) => this.#byConfiguration.get(n) ?? [])
      this.#forget()
    })
    deps.types.onChange(() => this.#forget())
  }

  /** From now on webhooks are asked. What the server must write before it serves clients does not depend on them. */
  start(): void {
    this.#started = true
    this.#forget()
  }

  /** Called when `matching` may answer something else from now on. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener)
  }

  matching(operation: Operation, type: ResourceType, subresource: string): readonly HookInvocation[] {
    if (this.#hooks.length === 0 || !this.#started) return none
    return this.#found.of(operation, type, subresource)
  }

  #forget(): void {
    this.#found.forget()
    for (const listener of this.#listeners) listener()
  }

  #match(operation: Operation, type: ResourceType, subresource: string): readonly HookInvocation[] {
    const kind = kindOf(type, subresource)
    if (kind === undefined || isExempt(type)) return none
    // What is written through a sub-resource of another kind (a binding, an eviction) is asked about when it is sent.
    if (operation === 'UPDATE' && kind.kind !== type.kind && subresource !== 'scale') return none
    const matched: HookInvocation[] = []
    const equivalents = [...this.#deps.types.all()].filter(
      (t) => t !== type && t.storageName === type.storageName && t.stored && kindOf(t, subresource) !== undefined,
    )
    for (const [position, hook] of this.#hooks.entries()) {
      const { rules = [], matchPolicy } = hook.webhook
      const wants = (t: ResourceType) => (rule: RuleWithOperations) => ruleMatches(rule, operation, t, subresource)
      if (rules.some(wants(type))) {
        matched.push({ hook, position, type, kind })
        continue
      }
      if (matchPolicy === 'Exact') continue
      for (const rule of rules) {
        const equivalent = equivalents.find((t) => wants(t)(rule))
        if (equivalent === undefined) continue
        matched.push({ hook, position, type: equivalent, kind: kindOf(equivalent, subresource) ?? equivalent })
        break
      }
    }
    return matched.length === 0 ? none : matched
  }
}

/** Undefined = the type has no such sub-resource. */
export const kindOf = (type: ResourceType, subresource: string): GroupVersionKind | undefined =>
  subresource === '' ? type : type.subresources.get(subresource)?.kind

/** A webhook that could refuse changes of its own configuration could never be removed. */
const exemptKinds = new Set([
  'ValidatingWebhookConfiguration',
  'MutatingWebhookConfiguration',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
])

export const isExempt = ({ group, kind }: ResourceType): boolean =>
  group === 'admissionregistration.k8s.io' && exemptKinds.has(kind)

export function ruleMatches(
  rule: RuleWithOperations,
  operation: Operation,
  type: ResourceType,
  subresource: string,
): boolean {
  return (
    scopeMatches(rule.scope, type) &&
    has(rule.operations, operation) &&
    has(rule.apiGroups, type.group) &&
    has(rule.apiVersions, type.version) &&
    (rule.resources ?? []).some((text) => resourceMatches(text, type.resource, subresource))
  )
}

const has = (items: readonly string[] | undefined, wanted: string): boolean =>
  items?.some((item) => item === '*' || item === wanted) ?? false

/** Namespaces are cluster-scoped, whatever else about them looks namespaced. */
const scopeMatches = (scope: string | undefined, { namespaced }: ResourceType): boolean =>
  scope === undefined || scope === '*' || (scope === 'Namespaced') === namespaced

// `pods`, `pods/log`, `pods/*`, `*`, `*/scale`, `*/*`
function resourceMatches(text: string, resource: string, subresource: string): boolean {
  const slash = text.indexOf('/')
  const main = slash < 0 ? text : text.slice(0, slash)
  const sub = slash < 0 ? '' : text.slice(slash + 1)
  return (main === '*' || main === resource) && (sub === '*' || sub === subresource)
}
