/**
 * What every quota shows, from the records as the cache has them: kept up to date change by change, so that a status
 * costs no look at all namespaces.
 */
import { addQuantities, type Quantity, subtractQuantities, zero } from '../../kube/quantity.ts'
import type { ObjectVersion, StoreView } from '../../registry/registry.ts'
import type { Amounts } from '../pods/resources.ts'
import { usedIn } from './charges.ts'
import {
  type Account,
  accountFolder,
  type Counter,
  counterFolder,
  type QuotaRecords,
  recordStorage,
  type Share,
} from './records.ts'
import type { ParsedQuota } from './selection.ts'

/** Of one quota. */
export interface QuotaRecordsSeen {
  readonly shares: ReadonlyMap<string, Share>
  readonly counters: ReadonlyMap<string, Counter>
  /** Of all counters together. */
  readonly total: Amounts
}

class Seen implements QuotaRecordsSeen {
  readonly shares = new Map<string, Share>()
  readonly counters = new Map<string, Counter>()
  readonly #total = new Map<string, Quantity>()

  get total(): Amounts {
    return this.#total
  }

  count(name: string, counter: Counter | undefined): void {
    const before = this.counters.get(name)
    for (const [resource, q] of usedIn(before?.used)) this.#add(resource, subtractQuantities(zero, q))
    for (const [resource, q] of usedIn(counter?.used)) this.#add(resource, q)
    if (counter === undefined) this.counters.delete(name)
    else this.counters.set(name, counter)
  }

  #add(resource: string, q: Quantity): void {
    const sum = addQuantities(this.#total.get(resource) ?? zero, q)
    if (sum.nanos === 0n) this.#total.delete(resource)
    else this.#total.set(resource, sum)
  }
}

const nothing: QuotaRecordsSeen = new Seen()

export class Figures {
  readonly #byUid = new Map<string, Seen>()
  readonly #listeners = new Set<(uid: string) => void>()

  follow(stored: Pick<StoreView, 'versions' | 'followOne'>, { accountType, counterType }: QuotaRecords): void {
    const tell = (next: ObjectVersion | undefined, old: ObjectVersion | undefined): void => {
      const folder = (next ?? old)?.namespace
      if (folder === accountFolder) {
        this.#accountChanged((next ?? old)?.name ?? '', next?.as(accountType).object, old?.as(accountType).object)
      } else if (folder === counterFolder) {
        this.#counterChanged((next ?? old)?.name ?? '', next?.as(counterType).object, old?.as(counterType).object)
      }
    }
    // Other records lie beside these, one for each populated namespace: they are not looked at.
    for (const folder of [accountFolder, counterFolder]) {
      for (const version of stored.versions(recordStorage, folder)) {
        if (version.damage === undefined) tell(version, undefined)
      }
    }
    stored.followOne(recordStorage, tell)
  }

  of(uid: string): QuotaRecordsSeen {
    return this.#byUid.get(uid) ?? nothing
  }

  /** Of all quotas that have records. */
  uids(): Iterable<string> {
    return this.#byUid.keys()
  }

  /** Told of each quota whose figures change. */
  onChange(listener: (uid: string) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #accountChanged(namespace: string, next: Account | undefined, old: Account | undefined): void {
    for (const { quota } of old?.shares ?? []) {
      if (next?.shares?.some((share) => share.quota === quota)) continue
      this.#byUid.get(quota)?.shares.delete(namespace)
      this.#changed(quota)
    }
    for (const share of next?.shares ?? []) {
      this.#seen(share.quota).shares.set(namespace, share)
      this.#changed(share.quota)
    }
  }

  #counterChanged(name: string, next: Counter | undefined, old: Counter | undefined): void {
    const uid = (next ?? old)?.quota ?? ''
    if (next === undefined) this.#byUid.get(uid)?.count(name, undefined)
    else this.#seen(uid).count(name, next)
    this.#changed(uid)
  }

  #seen(uid: string): Seen {
    let seen = this.#byUid.get(uid)
    if (seen === undefined) this.#byUid.set(uid, (seen = new Seen()))
    return seen
  }

  #changed(uid: string): void {
    const seen = this.#byUid.get(uid)
    if (seen?.shares.size === 0 && seen.counters.size === 0) this.#byUid.delete(uid)
    for (const listener of this.#listeners) listener(uid)
  }
}

/** Whether the quota counts the namespace as its spec and the namespace say. */
export function isInLine(
  quota: ParsedQuota,
  share: Share | undefined,
  namespace: Parameters<ParsedQuota['selects']>[0],
): boolean {
  if (!quota.selects(namespace)) return share === undefined
  return share !== undefined && share.counted === quota.counted && share.holder === quota.holderOf(namespace)
}
