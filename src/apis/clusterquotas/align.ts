/**
 * Which quotas count a namespace, and on whose account: brought in line with its labels, annotations and owner and with
 * the specs, in one transaction with the namespace or, after a change of a spec, by itself.
 *
 * What a namespace takes out of a quota is known from its account. What it brings into one is counted while nothing can
 * come or go (the epoch of its ResourceQuotas, `quotas/epoch.ts`): a namespace that no quota selects keeps no figures.
 */
import type { DecidedWrite, Decision, DecisionView, QueuedChange } from '../../admission/admission.ts'
import { wholeQuantity } from '../../kube/quantity.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { Amounts } from '../pods/resources.ts'
import { type CountedContent, countContent } from '../quotas/accountant.ts'
import type { QuotaEpochs, SeenEpoch } from '../quotas/epoch.ts'
import { Charges, chargedTo, usedIn } from './charges.ts'
import type { QuotaIndex } from './quota-index.ts'
import { type QuotaRecords, type Share, sharedOperations } from './records.ts'
import type { ParsedQuota } from './selection.ts'
import { namespacesName } from './types.ts'

export interface AlignDeps extends CountedContent {
  readonly quotas: QuotaIndex
  readonly records: QuotaRecords
  epochs(): QuotaEpochs
  /** ResourceQuotas in a namespace. */
  limitsIn(namespace: string): number
}

/** A change of content is charged to all that count its namespace in one transaction of a hundred operations. */
const mostOperations = 90

export interface AlignedNamespace {
  readonly name: string
  /** As it will be; undefined = it is removed. */
  readonly object: Pick<KubeObject, 'metadata'> | undefined
  /** Of one that is new: what is created with it. undefined = what is there and on its way. */
  readonly content: readonly Pick<QueuedChange, 'change'>[] | undefined
}

/** Why it can't be so. */
export interface Misfit {
  readonly problem: string
}

/** @returns what to write, with a guard of the specs; a misfit where a limit would be exceeded and `limited` */
export function alignNamespace(
  deps: AlignDeps,
  view: DecisionView,
  { name, object, content }: AlignedNamespace,
  limited: boolean,
): Decision | Misfit {
  const { quotas, records } = deps
  const epochOfSpecs = records.epoch(view)
  const seen = records.account(view, name)
  const shares = seen.object?.shares ?? []
  const selecting = object === undefined ? [] : [...quotas.all()].filter((quota) => quota.selects(object))
  const charges = new Charges()
  const next: Share[] = []
  for (const share of shares) {
    const quota = quotas.byUid(share.quota)
    if (quota === undefined) continue
    const holder = object && selecting.includes(quota) ? quota.holderOf(object) : undefined
    if (holder === share.holder && share.counted === quota.counted) next.push(share)
    else charges.add(quota, share.holder, usedIn(share.used), { times: -1n, namespaces: -1 })
    if (holder === undefined || holder === share.holder || share.counted !== quota.counted) continue
    charges.add(quota, holder, usedIn(share.used), { namespaces: 1 })
    next.push({ ...share, holder })
  }
  const toCount = selecting.filter(({ uid }) => !next.some((share) => share.quota === uid))
  const isAligned = toCount.length === 0 && next.length === shares.length && next.every((s) => shares.includes(s))
  if (isAligned) {
    // The controller may be about to give it an account, or it is that of a namespace that was there before.
    return { guards: [epochOfSpecs, { key: seen.key, expect: seen.expect }] }
  }
  const taken = next.length + toCount.length + sharedOperations + deps.limitsIn(name)
  if (toCount.length > 0 && taken > mostOperations) return { problem: tooMany }

  const epoch = deps.epochs().see(view, name)
  const queued = content !== undefined || epoch.recounting ? [] : countable(view, name, taken)
  for (const quota of toCount) {
    const holder = object === undefined ? '' : quota.holderOf(object)
    const used = countContent(content === undefined ? deps : empty, name, quota, content ?? queued ?? [])
    for (const [what, amount] of usageOfItself(quota)) used.set(what, amount)
    charges.add(quota, holder, used, { namespaces: 1 })
    next.push({ quota: quota.uid, counted: quota.counted, holder, used: chargedTo(undefined, used, quota.hard) })
  }
  const problem = limited ? charges.refusal(view, records) : undefined
  if (problem !== undefined) return { problem }
  const isCounted = toCount.length > 0 && content === undefined
  if (isCounted && queued === undefined) return { begin: () => deps.epochs().take(name, epoch) }
  const counters = charges.decision(view, records)
  return {
    guards: [
      epochOfSpecs,
      ...(isCounted ? (queued ?? []) : []).map(({ key, expect }) => ({ key, expect })),
      ...counters.guards,
    ],
    writes: [
      accountWrite(records, seen, name, next),
      ...counters.writes,
      ...(isCounted ? [deps.epochs().settled(name, epoch)] : leftEpoch(deps, name, next, epoch)),
    ],
  }
}

const tooMany = `a namespace is counted by at most ${mostOperations} quotas`

/** What is on its way into the namespace; undefined = it is not known, or too much to guard in one transaction. */
function countable(view: DecisionView, namespace: string, taken: number): readonly QueuedChange[] | undefined {
  const queued = view.queuedIn(namespace)
  return queued && queued.length + taken <= mostOperations ? queued : undefined
}

const empty: CountedContent = { contentOf: () => [], list: () => [] }

const usageOfItself = ({ hard, scopes }: Pick<ParsedQuota, 'hard' | 'scopes'>): Amounts =>
  new Map(scopes.length === 0 && hard.has(namespacesName) ? [[namespacesName, wholeQuantity(1)]] : [])

/** Where it is to be without shares, it has had some. */
function accountWrite(
  records: QuotaRecords,
  seen: ReturnType<QuotaRecords['account']>,
  name: string,
  shares: readonly Share[],
): DecidedWrite {
  if (shares.length === 0) return { key: seen.key, expect: seen.expect, value: undefined }
  return records.accountWrite(seen, { metadata: { name }, shares })
}

/** The epoch of a namespace goes with the last that counts it. */
function leftEpoch(deps: AlignDeps, name: string, shares: readonly Share[], epoch: SeenEpoch): DecidedWrite[] {
  const isLeft = shares.length === 0 && deps.limitsIn(name) === 0 && epoch.exists && !epoch.recounting
  return isLeft ? [deps.epochs().removed(epoch)] : []
}
