/** The status of a quota, from what is recorded of it. Pure. */
import { printQuantity, zero } from '../../kube/quantity.ts'
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

/** `observedGeneration`: undefined = as the status says already. `parts`: the same ones each time. */
export function figuresShown(
  parts: LimitParts,
  quota: ClusterResourceQuota,
  parsed: Pick<ParsedQuota, 'per' | 'hard'>,
  { shares, counters, total }: QuotaRecordsSeen,
  observedGeneration: number | undefined = quota.status?.observedGeneration,
): ClusterResourceQuotaStatus {
  const hard: Printed = quota.spec?.quota?.hard ?? {}
  const names = Object.keys(hard)
  const figures = (used: Amounts): QuotaFigures => ({ hard, used: printed(names, used) })
  const namespaces = new Largest<Share>(parsed.hard, parts)
  for (const [name, share] of shares) namespaces.offer(name, share)
  const accounts = new Largest<Counter>(parsed.hard, parts)
  for (const counter of counters.values()) {
    const { holder = '' } = counter
    if (holder !== '') accounts.offer(holder, counter)
  }
  return {
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    total: figures(total),
    namespaceCount: shares.size,
    namespaces: fitting(
      namespaces.listed.map(({ name, one }) => ({ namespace: name, status: figures(usedIn(one.used)) })),
    ),
    ...(parsed.per === undefined
      ? {}
      : {
          accounts: fitting(
            accounts.listed.map(({ name, one: { namespaces: count = 0, used } }) => ({
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

interface Ranked<T> {
  readonly name: string
  readonly part: number
  readonly one: T
}

/**
 * Those that use most of the limit that they use most of, then by name. They are not put in order: each is held against
 * the last of the few that are listed, and what it uses of the limits is remembered, since a status is made each second
 * of what may be a hundred thousand.
 */
class Largest<T extends { readonly used?: Printed }> {
  readonly listed: Ranked<T>[] = []
  readonly #hard: Amounts
  readonly #parts: LimitParts

  constructor(hard: Amounts, parts: LimitParts) {
    this.#hard = hard
    this.#parts = parts
  }

  offer(name: string, one: T): void {
    const part = this.#parts.of(one.used, this.#hard)
    const last = this.listed.at(-1)
    const isFull = this.listed.length === mostListed
    if (isFull && last !== undefined && !isBefore(part, name, last)) return
    if (isFull) this.listed.pop()
    let from = 0
    for (let to = this.listed.length; from < to; ) {
      const middle = (from + to) >>> 1
      if (isBefore(part, name, this.listed[middle] as Ranked<T>)) to = middle
      else from = middle + 1
    }
    this.listed.splice(from, 0, { name, part, one })
  }
}

const isBefore = (part: number, name: string, other: Ranked<unknown>): boolean =>
  part === other.part ? name < other.name : part > other.part

/** What figures use of the limit that they use most of. Neither what is printed nor limits are changed in place. */
export class LimitParts {
  readonly #parts = new WeakMap<Printed, { readonly hard: Amounts; readonly part: number }>()

  of(used: Printed | undefined, hard: Amounts): number {
    if (used === undefined) return 0
    const known = this.#parts.get(used)
    if (known?.hard === hard) return known.part
    const part = largestPart(usedIn(used), hard)
    this.#parts.set(used, { hard, part })
    return part
  }
}

function largestPart(used: Amounts, hard: Amounts): number {
  let most = 0
  for (const [name, limit] of hard) {
    const amount = Number(used.get(name)?.nanos ?? 0n)
    most = Math.max(most, limit.nanos === 0n ? amount : amount / Number(limit.nanos))
  }
  return most
}
