/** What one decision adds to the counters of quotas, and whether their limits allow it. */
import type { DecidedWrite, DecisionView, Guard } from '../../admission/admission.ts'
import { addQuantities, printQuantity, zero } from '../../kube/quantity.ts'
import { type Amounts, amounts } from '../pods/resources.ts'
import type { Charged } from '../quotas/accountant.ts'
import { findExceeded } from '../quotas/ledger.ts'
import { counterName, type QuotaRecords } from './records.ts'
import { countedOver, isLimited, type ParsedQuota } from './selection.ts'
import type { Printed } from './types.ts'

/** What is printed is never changed in place, so what was parsed of it stays true. */
const parsed = new WeakMap<Printed, Amounts>()

export function usedIn(used: Printed | undefined): Amounts {
  if (used === undefined) return new Map()
  let found = parsed.get(used)
  if (found === undefined) parsed.set(used, (found = amounts(used)))
  return found
}

/** What `used` is after the charge; what comes to nothing and is not limited is left out. */
export function chargedTo(used: Printed | undefined, charge: Amounts, hard: Pick<Amounts, 'has'>): Printed {
  const before = usedIn(used)
  const next: Amounts = new Map(before)
  for (const [name, q] of charge) next.set(name, addQuantities(before.get(name) ?? zero, q))
  const printed: Printed = {}
  for (const [name, q] of next) {
    if (q.nanos === 0n && !hard.has(name)) next.delete(name)
    else printed[name] = printQuantity(q)
  }
  parsed.set(printed, next)
  return printed
}

interface Charge {
  readonly quota: ParsedQuota
  readonly holder: string
  readonly amounts: Amounts
  namespaces: number
}

export class Charges {
  readonly #byCounter = new Map<string, Charge>()

  /** `times`: 1 or -1; `namespaces`: by how many more the account has. */
  add(
    quota: ParsedQuota,
    holder: string,
    more: Amounts,
    { times = 1n, namespaces = 0 }: { readonly times?: bigint; readonly namespaces?: number } = {},
  ): void {
    const key = counterName(quota.uid, holder)
    let charge = this.#byCounter.get(key)
    if (charge === undefined) {
      this.#byCounter.set(key, (charge = { quota, holder, amounts: new Map(), namespaces: 0 }))
    }
    charge.namespaces += namespaces
    for (const [name, { nanos, format }] of more) {
      const total = (charge.amounts.get(name)?.nanos ?? 0n) + times * nanos
      charge.amounts.set(name, { nanos: total, format })
    }
  }

  get size(): number {
    return this.#byCounter.size
  }

  /** What upstream says of the first quota by name whose limit does not allow it; undefined = all do. */
  refusal(view: DecisionView, records: QuotaRecords): string | undefined {
    const charges = [...this.#byCounter.values()].sort((a, b) => (a.quota.name < b.quota.name ? -1 : 1))
    for (const { quota, holder, amounts: charge } of charges) {
      if (!isLimited(quota, holder)) continue
      const used = usedIn(records.counter(view, quota.uid, holder).object?.used)
      const problem = findExceeded({ hard: quota.hard, used }, charge)
      if (problem !== undefined) return `exceeded quota: ${quota.name}, ${problem}, ${countedOver(quota, holder)}`
    }
    return undefined
  }

  /** A counter goes with the last namespace on it. */
  decision(view: DecisionView, records: QuotaRecords): Charged {
    const writes: DecidedWrite[] = []
    const guards: Guard[] = []
    for (const { quota, holder, amounts: charge, namespaces: more } of this.#byCounter.values()) {
      const seen = records.counter(view, quota.uid, holder)
      const { used, namespaces = 0 } = seen.object ?? {}
      const name = counterName(quota.uid, holder)
      if (namespaces + more > 0) {
        const counter = { metadata: { name }, quota: quota.uid, holder, namespaces: namespaces + more }
        writes.push(records.counterWrite(seen, { ...counter, used: chargedTo(used, charge, quota.hard) }))
      } else if (seen.object !== undefined) writes.push({ key: seen.key, expect: seen.expect, value: undefined })
      // An account without its counter: a queued write removes the counter, and will not come to it.
      else guards.push({ key: seen.key, expect: seen.expect })
    }
    return { guards, writes }
  }
}
