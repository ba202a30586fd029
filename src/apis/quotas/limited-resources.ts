/**
 * `limitedResources` of the operator's configuration: what may be used only where a quota of the namespace covers it.
 * @see CheckRequest in k8s.io/apiserver/pkg/admission/plugin/resourcequota/controller.go v0.36
 */
import type { ContentChange } from '../../admission/admission.ts'
import type { GroupResource } from '../../kube/gvk.ts'
import { forbidden, StatusError } from '../../kube/status-error.ts'
import { chargeOf, Ledger, type Usages } from './ledger.ts'
import { inScopes } from './scopes.ts'
import type { ResourceQuota, ScopeRequirement } from './types.ts'

export interface LimitedResource extends GroupResource {
  /** Parts of the names that must be covered: `.storageclass.storage.k8s.io/requests.storage`. */
  readonly matchContains: readonly string[]
  /** What is in one of these scopes must be in a quota of that scope. */
  readonly matchScopes: readonly ScopeRequirement[]
}

const everything = { hard: { has: () => true } }

/** @throws StatusError for a change that uses what no quota of the namespace covers */
export function requireCover(
  limited: readonly LimitedResource[],
  { type, name, before, after }: ContentChange,
  usages: Usages,
  quotas: readonly ResourceQuota[],
): void {
  if (after === undefined) return
  const ledgers = quotas.map((quota) => Ledger.of(quota))
  const covering = ledgers.filter(({ scopes }) => inScopes(scopes, type, after))
  const isMoved = before !== undefined && !covering.every(({ scopes }) => inScopes(scopes, type, before))
  const more = chargeOf(everything, isMoved ? undefined : usages.before, usages.after)
  if (![...more.values()].some(({ nanos }) => nanos > 0n)) return
  const uncovered = namesOf(limited, type, usages).filter((used) => !covering.some(({ hard }) => hard.has(used)))
  if (uncovered.length > 0) throw forbidden(type, name, `insufficient quota to consume: ${uncovered.join(',')}`)
  const contains = (scope: ScopeRequirement): boolean => inScopes([scope], type, after)
  const covered = new Set(ledgers.flatMap(({ scopes }) => scopes.filter(contains)).map(({ scopeName }) => scopeName))
  const missing = limited
    .flatMap(({ matchScopes }) => matchScopes.filter(contains))
    .filter(({ scopeName }) => !covered.has(scopeName))
  // Upstream answers this one without a reason.
  if (missing.length > 0) {
    throw new StatusError(`insufficient quota to match these scopes: [${missing.map(printScope).join(' ')}]`)
  }
}

/** What is used and limited, by name. */
function namesOf(limited: readonly LimitedResource[], type: GroupResource, { after }: Usages): readonly string[] {
  const parts = limited
    .filter(({ group, resource }) => group === type.group && resource === type.resource)
    .flatMap(({ matchContains }) => matchContains)
  return [...(after ?? [])]
    .filter(([name, { nanos }]) => nanos > 0n && parts.some((part) => name.includes(part)))
    .map(([name]) => name)
    .sort()
}

/** As Go prints a structure. */
const printScope = ({ scopeName = '', operator = '', values = [] }: ScopeRequirement): string =>
  `{${scopeName} ${operator} [${values.join(' ')}]}`
