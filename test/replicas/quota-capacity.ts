/**
 * Whether a commit took what is counted beyond a limit. It may be there already: a limit was lowered, or a spec came or
 * changed while more was there than it allows. Then nothing is added to it but by the controller, which brings one
 * namespace after the other in line with the spec and asks no limit.
 */
import type { StoredObject } from './etcd-commits.ts'
import type { ClusterQuota, Share } from './stored-quotas.ts'

export interface CountedState {
  readonly quotas: ReadonlyMap<string, ClusterQuota>
  readonly accounts: ReadonlyMap<string, readonly Share[]>
  readonly namespaces: ReadonlyMap<string, StoredObject>
}

export function capacityProblems(before: CountedState, after: CountedState): string[] {
  return [...after.quotas].flatMap(([name, quota]) => {
    const former = before.quotas.get(name)
    if (former === undefined || former.metadata.uid !== quota.metadata.uid) return []
    const isPer = quota.spec.perCreator === true || quota.spec.perOwner === true
    const [had, has] = [usedBy(before, quota), usedBy(after, quota)]
    const holders = new Set([...has.keys()].map((key) => key.split(' ')[0] ?? ''))
    return [...holders].flatMap((holder) => {
      // Who has no recorded creator or owner has no limit.
      if (isPer && holder === '') return []
      return Object.entries(quota.spec.quota.hard).flatMap(([what, hard]) => {
        const formerHard = former.spec.quota.hard[what]
        if (formerHard === undefined) return []
        const key = `${holder} ${what}`
        const [now, earlier] = [has.get(key) ?? 0, had.get(key) ?? 0]
        const allowed = Math.max(Number(hard), Number(formerHard), earlier) + broughtInLine(before, after, quota, key)
        return now <= allowed
          ? []
          : [`${name} allowed ${hard} of ${what} to '${holder}', and went from ${earlier} to ${now}`]
      })
    })
  })
}

/** Account and resource → amount. */
function usedBy({ accounts }: CountedState, { metadata }: ClusterQuota): Map<string, number> {
  const used = new Map<string, number>()
  for (const shares of accounts.values()) {
    for (const share of shares) {
      if (share.quota !== metadata.uid) continue
      for (const [what, amount] of Object.entries(share.used)) {
        const key = `${share.holder} ${what}`
        used.set(key, (used.get(key) ?? 0) + Number(amount))
      }
    }
  }
  return used
}

/** Of namespaces that have come to be counted, or are counted anew, without having been changed. */
function broughtInLine(before: CountedState, after: CountedState, { metadata }: ClusterQuota, key: string): number {
  let sum = 0
  for (const [namespace, shares] of after.accounts) {
    if (isMoved(before.namespaces.get(namespace), after.namespaces.get(namespace))) continue
    const was = before.accounts.get(namespace)?.find(({ quota }) => quota === metadata.uid)
    for (const { quota, holder, counted, used } of shares) {
      if (quota !== metadata.uid || (was?.holder === holder && was.counted === counted)) continue
      for (const [what, amount] of Object.entries(used)) if (`${holder} ${what}` === key) sum += Number(amount)
    }
  }
  return sum
}

const isMoved = (before: StoredObject | undefined, after: StoredObject | undefined): boolean =>
  JSON.stringify(placeOf(before)) !== JSON.stringify(placeOf(after))

const placeOf = (namespace: StoredObject | undefined): unknown =>
  namespace && [namespace.metadata.uid, namespace.metadata.labels, namespace.metadata.annotations]
