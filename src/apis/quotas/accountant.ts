/**
 * Exact quota. Asked at every commit of content, it answers what must be charged in the same transaction: so
 * `status.used` equals a recount at every revision, whatever request caused the change, and all quotas of a namespace
 * hold or nothing is stored.
 *
 * It decides against the head of the queue (`DecisionView`), so many creators of one namespace charge one quota without
 * losing to each other. A quota that is stored, or whose spec changes, is recounted under the epoch (`epoch.ts`); a new
 * one at once, where all that is on its way into the namespace is known.
 *
 * In a namespace that is being deleted the quotas go first; once they are gone nothing is charged to them.
 */
import type {
  Accountant,
  ContentChange,
  DecidedWrite,
  Decision,
  DecisionView,
  Guard,
  QueuedChange,
  Seen,
} from '../../admission/admission.ts'
import { append } from '../../base/append.ts'
import type { GroupResource } from '../../kube/gvk.ts'
import { jsonEqual } from '../../kube/json-value.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import { forbidden } from '../../kube/status-error.ts'
import { encodeStored } from '../../kube/stored-form.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { Amounts } from '../pods/resources.ts'
import type { QuotaEpochs, SeenEpoch } from './epoch.ts'
import { chargeOf, findExceeded, Ledger, type Usages } from './ledger.ts'
import { type LimitedResource, requireCover } from './limited-resources.ts'
import { inScopes } from './scopes.ts'
import type { ResourceQuota, ScopeRequirement } from './types.ts'
import { countNames, isIgnored, isMeasured, isPods, unsaid, usageOf } from './usage.ts'

/** Each change of content is charged to all of them in one transaction, which holds a hundred operations. */
export const maxQuotas = 90

export interface CountedContent {
  /** What is in a namespace, by number. */
  contentOf(namespace: string): readonly { readonly type: ResourceType; readonly count: number }[]
  list(type: ResourceType, namespace: string): Iterable<KubeObject>
}

export interface AccountantDeps extends CountedContent {
  readonly quotaType: ResourceType
  readonly epochs: QuotaEpochs
  /** Names of the quotas of a namespace, ascending. */
  quotas(namespace: string): Iterable<string>
  /** What may be used only where a quota covers it, now. */
  limited(): readonly LimitedResource[]
  /** What all quotas of the namespace, of whatever kind, take of each transaction that changes its content. */
  operations(namespace: string, view: DecisionView): number
}

export function quotaAccountant(deps: AccountantDeps): Accountant {
  const { quotaType, epochs } = deps
  const isQuota = (type: GroupResource): boolean => type.group === '' && type.resource === quotaType.resource

  const charges = (change: ContentChange, view: DecisionView): Charged => {
    const { type, namespace, name } = change
    const writes: DecidedWrite[] = []
    const guards: Guard[] = []
    const present: ResourceQuota[] = []
    let usages: Usages | undefined
    for (const quotaName of deps.quotas(namespace)) {
      if (isQuota(type) && quotaName === name) continue
      const seen = view.see(quotaType, namespace, quotaName)
      if (seen.object === undefined) continue
      present.push(seen.object)
      usages ??= usagesOf(change)
      const updated = charge(seen.object, change, usages)
      if (updated) writes.push({ key: seen.key, value: encodeStored(updated), expect: seen.expect, object: updated })
      else append(guards, guardsOfQueued(seen))
    }
    const limited = deps.limited()
    if (limited.length > 0 && mustFit(change)) requireCover(limited, change, usages ?? usagesOf(change), present)
    return { writes, guards }
  }

  /** What is on its way into the namespace; undefined = it is not known, or too much to guard in one transaction. */
  const countable = (namespace: string, view: DecisionView): readonly QueuedChange[] | undefined => {
    const queued = view.queuedIn(namespace)
    return queued && queued.length + deps.operations(namespace, view) <= maxQuotas ? queued : undefined
  }

  const stored = (change: ContentChange, view: DecisionView, epoch: SeenEpoch): Decision => {
    const { namespace, before, after } = change
    const quota = after as ResourceQuota
    const isNew = before === undefined
    const queued = isNew && !epoch.recounting ? countable(namespace, view) : undefined
    if (!epoch.recounting && queued === undefined) return { begin: () => epochs.take(namespace, epoch) }
    const { writes, guards } = charges(change, view)
    return {
      object: withUsed(quota, recount(deps, quota, isNew, queued)),
      guards: [...(queued ?? []).map(({ key, expect }) => ({ key, expect })), ...guards],
      writes: [epochs.settled(namespace, epoch), ...writes],
    }
  }

  return {
    handles: (type) => type.namespaced && !isIgnored(type),
    account(change, view) {
      const { type, namespace, before, after } = change
      if (before !== undefined && isUncharged(change)) return {}
      const limits = isQuota(type)
      const removed = after === undefined
      const epoch = epochs.see(view, namespace)
      if (limits && !removed) {
        if (before === undefined && deps.operations(namespace, view) >= maxQuotas) {
          throw forbidden(type, change.name, `a namespace has at most ${maxQuotas} quotas`)
        }
        if (before === undefined || !jsonEqual(before['spec'], after['spec'])) return stored(change, view, epoch)
        return {}
      }
      if (limits) return quotaGone(change, view, epoch)
      if (epoch.recounting) return { wait: epochs.released(namespace) }
      const { writes, guards } = charges(change, view)
      return { guards: [epoch.guard, ...guards], writes }
    },
  }

  /**
   * Does not wait for a recount: the request that counts may be waiting for this quota, to charge it. Instead it writes
   * the epoch, which ends the recount; and of several that go at once each knows of those before it, so the last takes
   * the epoch along.
   */
  function quotaGone(change: ContentChange, view: DecisionView, epoch: SeenEpoch): Decision {
    const { namespace } = change
    const { writes, guards } = charges(change, view)
    if (!epoch.exists) return { guards: [epoch.guard, ...guards], writes }
    const isLast = deps.operations(namespace, view) <= 1
    return { guards, writes: [...writes, isLast ? epochs.removed(epoch) : epochs.settled(namespace, epoch)] }
  }
}

/** What comes of a charge. */
export type Charged = Required<Pick<Decision, 'guards' | 'writes'>>

/**
 * What was seen as a queued write will leave it, and is not written, is guarded: another replica may be faster than
 * that write, and the cache may show already what that one made of everything else.
 */
export const guardsOfQueued = ({ key, expect }: Pick<Seen, 'key' | 'expect'>): readonly Guard[] =>
  typeof expect === 'object' ? [{ key, expect }] : []

/** `isNew`: the quota itself is not there yet. */
function recount(
  deps: AccountantDeps,
  quota: ResourceQuota,
  isNew: boolean,
  queued: readonly QueuedChange[] = [],
): Amounts {
  const { hard, scopes } = Ledger.of(quota)
  const total = countContent(deps, quota.metadata.namespace ?? '', { hard, scopes }, queued)
  if (isNew && scopes.length === 0) addUsage(total, hard, usageOf(deps.quotaType, quota))
  return total
}

/** The quota after the change; undefined = the change is none of its business. @throws StatusError Forbidden */
function charge(quota: ResourceQuota, change: ContentChange, usages: Usages): ResourceQuota | undefined {
  const { type, name, before, after } = change
  const ledger = Ledger.of(quota)
  const counts = (object: KubeObject | undefined): object is KubeObject =>
    object !== undefined && inScopes(ledger.scopes, type, object)
  const counted = counts(after)
  if (counted && before === undefined && isPods(type)) {
    const missing = unsaid(after, (resource) => ledger.hard.has(resource))
    if (missing !== '') throw forbidden(type, name, `failed quota: ${quota.metadata.name}: must specify ${missing}`)
  }
  const charge = chargeOf(ledger, counts(before) ? usages.before : undefined, counted ? usages.after : undefined)
  if (charge.size === 0) return undefined
  if (mustFit(change)) {
    const problem = findExceeded(ledger, charge)
    if (problem !== undefined) throw forbidden(type, name, `exceeded quota: ${quota.metadata.name}, ${problem}`)
  }
  return ledger.after(charge)
}

function withUsed(quota: ResourceQuota, used: Amounts): ResourceQuota {
  const { hard = {} } = quota.spec ?? {}
  return new Ledger({ ...quota, status: { ...quota.status, hard } }, Ledger.of(quota).hard, used).after(new Map())
}

export interface CountedBy {
  /** What is limited, by name. */
  readonly hard: Pick<Amounts, 'has'>
  readonly scopes: readonly ScopeRequirement[]
}

/** All that is in the namespace. `more`: changes that `content` does not show yet. */
export function countContent(
  content: CountedContent,
  namespace: string,
  { hard, scopes }: CountedBy,
  more: readonly Pick<QueuedChange, 'change'>[],
): Amounts {
  const total: Amounts = new Map()
  for (const { type, count } of content.contentOf(namespace)) {
    if (isIgnored(type)) continue
    if (isMeasured(type)) {
      for (const object of content.list(type, namespace)) {
        if (inScopes(scopes, type, object)) addUsage(total, hard, usageOf(type, object))
      }
    } else if (scopes.length === 0 && countNames(type).some((name) => hard.has(name))) {
      addUsage(total, hard, usageOf(type, { metadata: {} }), count)
    }
  }
  for (const { change } of more) {
    const { type, before, after } = change
    if (isIgnored(type) || isUncharged(change)) continue
    if (before && inScopes(scopes, type, before)) addUsage(total, hard, usageOf(type, before), -1)
    if (after && inScopes(scopes, type, after)) addUsage(total, hard, usageOf(type, after))
  }
  return total
}

/** Adds to `total` what `hard` limits of it. */
export function addUsage(total: Amounts, hard: Pick<Amounts, 'has'>, usage: Amounts, times = 1): void {
  for (const [name, q] of usage) {
    if (!hard.has(name)) continue
    const had = total.get(name)
    total.set(name, { nanos: (had?.nanos ?? 0n) + q.nanos * BigInt(times), format: had?.format ?? q.format })
  }
}

/** An update of what is only counted. Told without looking into the objects. */
export const isUncharged = ({ type, before, after }: ContentChange): boolean =>
  before !== undefined && after !== undefined && !isMeasured(type) && type.resource !== 'resourcequotas'

/**
 * A status is a report and is stored even if it exceeds a quota, but for that of a pod: a client that may write it
 * could have its pods end, create others, and then have the first ones run again.
 */
export const mustFit = ({ type, subresource }: ContentChange): boolean => subresource !== 'status' || isPods(type)

export const usagesOf = ({ type, before, after }: ContentChange): Usages => ({
  before: before && usageOf(type, before),
  after: after && usageOf(type, after),
})
