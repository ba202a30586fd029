/** One quota as numbers: what it allows, what is used, and what a change makes of it. */
import { addQuantities, printQuantity, type Quantity, zero } from '../../kube/quantity.ts'
import { type Amounts, amounts } from '../pods/resources.ts'
import { scopesOf } from './scopes.ts'
import type { ResourceQuota, ScopeRequirement } from './types.ts'

/** Of one object, before and after a change; undefined = it is not there. */
export interface Usages {
  readonly before: Amounts | undefined
  readonly after: Amounts | undefined
}

/** Quotas are never changed in place, so what was parsed stays true. */
const parsed = new WeakMap<ResourceQuota, Ledger>()

export class Ledger {
  readonly quota: ResourceQuota
  readonly hard: Amounts
  readonly used: Amounts
  readonly scopes: readonly ScopeRequirement[]

  constructor(quota: ResourceQuota, hard: Amounts, used: Amounts) {
    this.quota = quota
    this.hard = hard
    this.used = used
    this.scopes = scopesOf(quota)
  }

  static of(quota: ResourceQuota): Ledger {
    const known = parsed.get(quota)
    if (known) return known
    const made = new Ledger(quota, amounts(quota.spec?.hard), amounts(quota.status?.used))
    parsed.set(quota, made)
    return made
  }

  /** The quota with the charge on its account, its own ledger remembered. */
  after(charge: Amounts): ResourceQuota {
    const used: Amounts = new Map()
    const printed: Record<string, string> = {}
    for (const name of this.hard.keys()) {
      const had = this.used.get(name) ?? zero
      const more = charge.get(name)
      const now = more ? addQuantities(had, more) : had
      used.set(name, now)
      printed[name] = printQuantity(now)
    }
    const quota: ResourceQuota = {
      ...this.quota,
      status: { ...this.quota.status, hard: this.quota.spec?.hard ?? {}, used: printed },
    }
    parsed.set(quota, new Ledger(quota, this.hard, used))
    return quota
  }
}

/** What changes, of what the quota limits; may be negative. Empty = nothing. */
export function chargeOf(
  { hard }: { readonly hard: Pick<Amounts, 'has'> },
  before: Amounts | undefined,
  after: Amounts | undefined,
): Amounts {
  const charge: Amounts = new Map()
  const note = (name: string, q: Quantity, sign: bigint): void => {
    if (!hard.has(name)) return
    const nanos = (charge.get(name)?.nanos ?? 0n) + sign * q.nanos
    if (nanos === 0n) charge.delete(name)
    else charge.set(name, { nanos, format: q.format })
  }
  for (const [name, q] of after ?? []) note(name, q, 1n)
  for (const [name, q] of before ?? []) note(name, q, -1n)
  return charge
}

/** `requested: …, used: …, limited: …` of the names that would be over their limit; undefined if none is. */
export function findExceeded({ hard, used }: Pick<Ledger, 'hard' | 'used'>, charge: Amounts): string | undefined {
  const over: string[] = []
  for (const [name, q] of charge) {
    const limit = hard.get(name)
    if (limit && q.nanos > 0n && (used.get(name)?.nanos ?? 0n) + q.nanos > limit.nanos) over.push(name)
  }
  if (over.length === 0) return undefined
  over.sort()
  const print = (of: Amounts): string => over.map((name) => `${name}=${printQuantity(of.get(name) ?? zero)}`).join(',')
  return `requested: ${print(charge)}, used: ${print(used)}, limited: ${print(hard)}`
}
