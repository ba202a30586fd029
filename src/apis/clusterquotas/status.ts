/** The status of a quota, from what is recorded of it. Pure. */
import { addQuantities, printQuantity, zero } from '../../kube/quantity.ts'
import type { Amounts } from '../pods/resources.ts'
import { usedIn } from './charges.ts'
import type { QuotaRecordsSeen } from './figures.ts'
import type { Counter, Share } from './records.ts'
import type { ParsedQuota } from './selection.ts'
import {
  type ClusterResourceQuota,
  type ClusterResourceQuotaStatus,
  mostListed,
  mostListedBytes,
  type Printed,
  type QuotaFigures,
} from './types.ts'

/** `observedGeneration`: undefined = as the status says already. */
export function figuresShown(
  quota: ClusterResourceQuota,
  parsed: Pick<ParsedQuota, 'per' | 'hard'>,
  { shares, counters }: QuotaRecordsSeen,
  observedGeneration: number | undefined = quota.status?.observedGeneration,
): ClusterResourceQuotaStatus {
  const hard: Printed = quota.spec?.quota?.hard ?? {}
  const names = Object.keys(hard)
  const total: Amounts = new Map()
  for (const { used } of counters.values()) {
    for (const [name, q] of usedIn(used)) total.set(name, addQuantities(total.get(name) ?? zero, q))
  }
  const figures = (used: Amounts): QuotaFigures => ({ hard, used: printed(names, used) })
  const namespaces = largest(
    [...shares].map(([namespace, { used }]) => ({ name: namespace, used: usedIn(used) })),
    parsed.hard,
  )
  const accounts = largest(
    [...counters.values()].flatMap(({ holder = '', namespaces: count = 0, used }) =>
      holder === '' ? [] : [{ name: holder, used: usedIn(used), count }],
    ),
    parsed.hard,
  )
  return {
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    total: figures(total),
    namespaceCount: shares.size,
    namespaces: fitting(namespaces.map(({ name, used }) => ({ namespace: name, status: figures(used) }))),
    ...(parsed.per === undefined
      ? {}
      : {
          accounts: fitting(
            accounts.map(({ name, count, used }) => ({ name, namespaces: count, used: printed(names, used) })),
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

/** By what they use of the limit that they use most of, then by name. */
function largest<T extends { readonly name: string; readonly used: Amounts }>(all: readonly T[], hard: Amounts): T[] {
  const ranked = all.map((one) => ({ one, part: largestPart(one.used, hard) }))
  ranked.sort((a, b) => b.part - a.part || (a.one.name < b.one.name ? -1 : 1))
  return ranked.slice(0, mostListed).map(({ one }) => one)
}

function largestPart(used: Amounts, hard: Amounts): number {
  let most = 0
  for (const [name, limit] of hard) {
    const amount = Number(used.get(name)?.nanos ?? 0n)
    most = Math.max(most, limit.nanos === 0n ? amount : amount / Number(limit.nanos))
  }
  return most
}
