/**
 * Exact quota over several namespaces. What a change of content uses is charged in its own transaction: to the account
 * of its namespace, and to the counter of each quota that counts the namespace. So each counter equals a recount of
 * what is in its namespaces, at every revision and on any number of replicas.
 *
 *   namespace created, relabelled, gone ──▶ account and counters, guarded by the epoch of the specs   (`align.ts`)
 *   content changed                     ──▶ account and counters, guarded by the epoch of the specs
 *   spec stored, changed, gone          ──▶ the epoch of the specs; the controller brings accounts in line
 *
 * That a namespace has no account needs no guard of its own: one that is given an account has the epoch of its
 * ResourceQuotas written in that transaction, and every change of content guards that.
 */
import type { Accountant, ContentChange, DecidedWrite, Decision, DecisionView } from '../../admission/admission.ts'
import type { GroupResource } from '../../kube/gvk.ts'
import { jsonEqual } from '../../kube/json-value.ts'
import { forbidden } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { Amounts } from '../pods/resources.ts'
import { type CountedBy, guardsOfQueued, isUncharged, mustFit, usagesOf } from '../quotas/accountant.ts'
import { chargeOf, type Usages } from '../quotas/ledger.ts'
import { inScopes } from '../quotas/scopes.ts'
import { isIgnored, isPods, unsaid } from '../quotas/usage.ts'
import { type AlignDeps, alignNamespace } from './align.ts'
import { Charges, chargedTo } from './charges.ts'
import type { Share } from './records.ts'
import { countedBy, type ParsedQuota } from './selection.ts'
import { clusterQuotaResource } from './types.ts'

export interface ClusterAccountantDeps extends AlignDeps {
  /** Whether there is a quota, or was one. */
  isInUse(): boolean
  onUse(listener: () => void): void
  /** Other processes write to the store: they may store the first quota at any moment. */
  readonly isShared: boolean
}

const isNamespaces = (type: GroupResource): boolean => type.group === '' && type.resource === 'namespaces'
const isClusterQuotas = (type: GroupResource): boolean =>
  type.resource === clusterQuotaResource.resource && type.group === clusterQuotaResource.group

export function clusterQuotaAccountant(deps: ClusterAccountantDeps): Accountant {
  return {
    handles(type) {
      if (isClusterQuotas(type)) return true
      if (isNamespaces(type)) return deps.isInUse() || deps.isShared
      return type.namespaced && !isIgnored(type) && deps.isInUse()
    },
    onHandlesChange: (listener) => deps.onUse(listener),
    account(change, view, along) {
      if (isClusterQuotas(change.type)) return specChanged(deps, change, view)
      if (isNamespaces(change.type)) return namespaceChanged(deps, change, view, along)
      return contentChanged(deps, change, view)
    },
  }
}

/** Decisions that stand on what the specs were lose their guard. */
function specChanged({ records }: AlignDeps, { before, after }: ContentChange, view: DecisionView): Decision {
  if (before !== undefined && after !== undefined && jsonEqual(before['spec'], after['spec'])) return {}
  return { writes: [records.nextEpoch(view)] }
}

/** @throws StatusError Forbidden */
function namespaceChanged(
  deps: AlignDeps,
  { type, name, before, after }: ContentChange,
  view: DecisionView,
  along: readonly DecidedWrite[],
): Decision {
  if (before !== undefined && after !== undefined && !isMoved(before, after)) return {}
  const content =
    before === undefined ? along.flatMap(({ change }) => (change === undefined ? [] : { change })) : undefined
  const aligned = alignNamespace(deps, view, { name, object: after, content }, true)
  if ('problem' in aligned) throw forbidden(type, name, aligned.problem)
  return aligned
}

const isMoved = ({ metadata: a }: KubeObject, { metadata: b }: KubeObject): boolean =>
  !jsonEqual(a.labels ?? {}, b.labels ?? {}) || !jsonEqual(a.annotations ?? {}, b.annotations ?? {})

/** @throws StatusError Forbidden */
function contentChanged({ records, quotas }: AlignDeps, change: ContentChange, view: DecisionView): Decision {
  const { type, namespace, name } = change
  if (isUncharged(change)) return {}
  const seen = records.account(view, namespace)
  const shares = seen.object?.shares ?? []
  if (shares.length === 0) return { guards: guardsOfQueued(seen) }
  const usages = usagesOf(change)
  const charges = new Charges()
  const charged = shares.map((share): Share => {
    const quota = quotas.byUid(share.quota)
    if (quota === undefined) return share
    const by = countedBy(quota, share.counted)
    if (change.before === undefined) checkSaid(quota, change)
    const charge = chargeTo(by, change, usages)
    if (charge.size === 0) return share
    charges.add(quota, share.holder, charge)
    return { ...share, used: chargedTo(share.used, charge, by.hard) }
  })
  if (charges.size === 0) return { guards: guardsOfQueued(seen) }
  if (mustFit(change)) {
    const problem = charges.refusal(view, records)
    if (problem !== undefined) throw forbidden(type, name, problem)
  }
  const counters = charges.decision(view, records)
  return {
    guards: [records.epoch(view), ...counters.guards],
    writes: [records.accountWrite(seen, { metadata: { name: namespace }, shares: charged }), ...counters.writes],
  }
}

/** What changes, of what is counted. */
function chargeTo(by: CountedBy, { type, before, after }: ContentChange, usages: Usages): Amounts {
  const counts = (object: KubeObject | undefined): boolean => object !== undefined && inScopes(by.scopes, type, object)
  return chargeOf(by, counts(before) ? usages.before : undefined, counts(after) ? usages.after : undefined)
}

/** @throws StatusError Forbidden if a new pod does not say what it must */
function checkSaid(quota: ParsedQuota, { type, name, after }: ContentChange): void {
  if (!isPods(type) || after === undefined || !inScopes(quota.scopes, type, after)) return
  const missing = unsaid(after, (resource) => quota.hard.has(resource))
  if (missing !== '') throw forbidden(type, name, `failed quota: ${quota.name}: must specify ${missing}`)
}
