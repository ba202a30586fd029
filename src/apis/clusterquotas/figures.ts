/**
 * What every quota shows, from the records as the cache has them: kept up to date change by change, so that a status
 * costs no look at all namespaces. What is stored already is read when it is first asked for, in slices of the loop: a
 * start waits for none of it, and what is enforced does not stand on it.
 */

import type { Eventual } from '../../base/eventual.ts'
import { type Resumable, runInSlices } from '../../base/resumable.ts'
import type { Turns } from '../../base/turns.ts'
import { addQuantities, type Quantity, subtractQuantities, zero } from '../../kube/quantity.ts'
import type { ObjectVersion, StoreView } from '../../registry/registry.ts'
import { type Amounts, amounts } from '../pods/resources.ts'
import { usedIn } from './charges.ts'
import { Largest, type Ranked } from './largest.ts'
import {
  type Account,
  accountFolder,
  type Counter,
  counterFolder,
  counterName,
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
  /** Those that use most of these limits; undefined = not before `Figures.rank`. */
  largest(hard: Amounts): LargestOfQuota | undefined
}

export interface LargestOfQuota {
  readonly namespaces: readonly Ranked<Share>[]
  /** By holder. */
  readonly accounts: readonly Ranked<Counter>[]
}

class Seen implements QuotaRecordsSeen {
  readonly shares = new Map<string, Share>()
  readonly counters = new Map<string, Counter>()
  readonly #total = new Map<string, Quantity>()
  readonly #namespaces = new Largest(this.shares, (name) => name)
  readonly #accounts = new Largest(this.counters, (_name, { holder = '' }) => holder)
  /** Until all are ranked, where that is under way. */
  #ranking: Promise<void> | undefined

  get total(): Amounts {
    return this.#total
  }

  largest(hard: Amounts): LargestOfQuota | undefined {
    const [namespaces, accounts] = [this.#namespaces.listed(hard), this.#accounts.listed(hard)]
    return namespaces && accounts && { namespaces, accounts }
  }

  /** Those of one after those of the other. */
  async rank(hard: Amounts, turns: Turns): Promise<void> {
    while (this.largest(hard) === undefined) {
      this.#ranking ??= inSlices(this.#rankMissing(hard), turns).finally(() => {
        this.#ranking = undefined
      })
      await this.#ranking
    }
  }

  *#rankMissing(hard: Amounts): Resumable<void> {
    for (const largest of [this.#namespaces, this.#accounts]) {
      if (largest.listed(hard) === undefined) yield* largest.rank(hard)
    }
  }

  share(namespace: string, share: Share | undefined): void {
    const before = this.shares.get(namespace)
    if (share === undefined) this.shares.delete(namespace)
    else this.shares.set(namespace, share)
    this.#namespaces.changed(namespace, before)
  }

  count(name: string, counter: Counter | undefined): void {
    const before = this.counters.get(name)
    for (const [resource, q] of usedIn(before?.used)) this.#add(resource, subtractQuantities(zero, q))
    // What is seen for the first time is mostly one of very many that do not change: it is parsed and not remembered.
    const used = before === undefined ? amounts(counter?.used) : usedIn(counter?.used)
    for (const [resource, q] of used) this.#add(resource, q)
    if (counter === undefined) this.counters.delete(name)
    else this.counters.set(name, counter)
    this.#accounts.changed(name, before)
  }

  #add(resource: string, q: Quantity): void {
    const sum = addQuantities(this.#total.get(resource) ?? zero, q)
    if (sum.nanos === 0n) this.#total.delete(resource)
    else this.#total.set(resource, sum)
  }
}

export interface FiguresDeps {
  readonly stored: Pick<StoreView, 'find' | 'glances' | 'followOne'>
  readonly records: QuotaRecords
  readonly turns: Turns
}

/** Records read at once. */
const readAtOnce = 64

export class Figures {
  readonly #deps: FiguresDeps
  readonly #byUid = new Map<string, Seen>()
  readonly #listeners = new Set<(uid: string) => void>()
  readonly #nothing = new Seen()
  #survey: Promise<void> | undefined
  #isSurveyed = false

  constructor(deps: FiguresDeps) {
    this.#deps = deps
  }

  /** From now on; what is there already is `surveyed`. */
  follow(): void {
    this.#deps.stored.followOne(recordStorage, (next, old) => this.#see(next, old))
  }

  /** Until `of` shows all that is stored. */
  surveyed(): Eventual<void> {
    if (this.#isSurveyed) return undefined
    this.#survey ??= inSlices(this.#lookAtAll(), this.#deps.turns).finally(() => {
      this.#survey = undefined
    })
    return this.#survey
  }

  /** What changes meanwhile is followed, and seen once more as it is then. */
  *#lookAtAll(): Resumable<void> {
    // Other records lie beside these, one for each populated namespace: they are not looked at.
    for (const folder of [accountFolder, counterFolder]) {
      for (const step of this.#deps.stored.glances(recordStorage, readAtOnce, folder)) {
        for (const version of step) this.#see(version, undefined)
        yield
      }
    }
    this.#isSurveyed = true
  }

  #see(next: ObjectVersion | undefined, old: ObjectVersion | undefined): void {
    const { accountType, counterType } = this.#deps.records
    const { namespace: folder, name = '' } = next ?? old ?? {}
    if (folder === accountFolder) {
      this.#accountChanged(name, next?.as(accountType).object, old?.as(accountType).object)
    } else if (folder === counterFolder) {
      this.#counterChanged(name, next?.as(counterType).object, old?.as(counterType).object)
    }
  }

  of(uid: string): QuotaRecordsSeen {
    return this.#byUid.get(uid) ?? this.#nothing
  }

  /** Until it is known which use most of what the quota limits. */
  async rank({ uid, hard }: Pick<ParsedQuota, 'uid' | 'hard'>): Promise<void> {
    await this.#byUid.get(uid)?.rank(hard, this.#deps.turns)
  }

  /** What a namespace uses, as it is stored: whether or not it is surveyed. */
  shareOf(uid: string, namespace: string): Share | undefined {
    const { stored, records } = this.#deps
    const account = sound(stored.find(recordStorage, accountFolder, namespace))?.as(records.accountType).object
    return account?.shares?.find(({ quota }) => quota === uid)
  }

  /** The same of an account. */
  counterOf(uid: string, holder: string): Counter | undefined {
    const { stored, records } = this.#deps
    return sound(stored.find(recordStorage, counterFolder, counterName(uid, holder)))?.as(records.counterType).object
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
      this.#byUid.get(quota)?.share(namespace, undefined)
      this.#changed(quota)
    }
    for (const share of next?.shares ?? []) {
      this.#seen(share.quota).share(namespace, share)
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

const sound = (version: ObjectVersion | undefined): ObjectVersion | undefined =>
  version?.damage === undefined ? version : undefined

async function inSlices(work: Resumable<void>, turns: Turns): Promise<void> {
  await runInSlices(work, await turns.begin())
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
