/** The status of a quota, from what is recorded of it. Pure. */
import { printQuantity, zero } from '../../kube/quantity.ts'
import type { Amounts } from '../pods/resources.ts'
import { usedIn } from './charges.ts'
import type { LargestOfQuota, QuotaRecordsSeen } from './figures.ts'
import type { Counter, Share } from './records.ts'
import type { ParsedQuota } from './selection.ts'
import {
  type ClusterResourceQuota,
  type ClusterResourceQuotaStatus,
  mostListedBytes,
  type Printed,
  type QuotaFigures,
} from './types.ts'

/** `observedGeneration`: undefined = as the status says already. */
export function figuresShown(
  quota: ClusterResourceQuota,
  per: ParsedQuota['per'],
  { shares, total, largest }: Pick<QuotaRecordsSeen, 'shares' | 'total'> & { readonly largest: LargestOfQuota },
  observedGeneration: number | undefined = quota.status?.observedGeneration,
): ClusterResourceQuotaStatus {
  const hard: Printed = quota.spec?.quota?.hard ?? {}
  const names = Object.keys(hard)
  const figures = (used: Amounts): QuotaFigures => ({ hard, used: printed(names, used) })
  return {
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    total: figures(total),
    namespaceCount: shares.size,
    namespaces: fitting(
      largest.namespaces.map(({ name, one }) => ({ namespace: name, status: figures(usedIn(one.used)) })),
    ),
    ...(per === undefined
      ? {}
      : {
          accounts: fitting(
            largest.accounts.map(({ name, one: { namespaces: count = 0, used } }) => ({
              ...{ name, namespaces: count, used: printed(names, usedIn(used)) },
            })),
          ),
        }),
  }
}

/**
 * The same of one namespace: what it uses, and of the account that it is on what all namespaces use together. Without a
 * share it is not counted yet.
 */
export function figuresApplied({
  quota,
  per,
  name,
  share,
  counter,
  observed,
}: {
  readonly quota: ClusterResourceQuota
  readonly per: ParsedQuota['per']
  readonly name: string
  readonly share: Share | undefined
  readonly counter: Counter | undefined
  readonly observed: number | undefined
}): ClusterResourceQuotaStatus {
  const hard: Printed = quota.spec?.quota?.hard ?? {}
  const names = Object.keys(hard)
  if (share === undefined) return observed === undefined ? {} : { observedGeneration: observed }
  const used = printed(names, usedIn(counter?.used))
  const account = { name: share.holder, namespaces: counter?.namespaces ?? 0, used }
  return {
    ...(observed === undefined ? {} : { observedGeneration: observed }),
    total: { hard, used },
    namespaceCount: account.namespaces,
    namespaces: [{ namespace: name, status: { hard, used: printed(names, usedIn(share.used)) } }],
    ...(per === undefined || share.holder === '' ? {} : { accounts: [account] }),
  }
}

/** The first of them, as many as fit: a quota of many resources says a lot of each namespace. */
function fitting<T>(listed: readonly T[]): T[] {
  let left = mostListedBytes
  const end = listed.findIndex((one) => (left -= Buffer.byteLength(JSON.stringify(one))) < 0)
  return listed.slice(0, end < 0 ? listed.length : end)
}

const printed = (names: readonly string[], used: Amounts): Printed =>
  Object.fromEntries(names.map((name) => [name, printQuantity(used.get(name) ?? zero)]))
