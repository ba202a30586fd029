/**
 * What is kept beside the quotas, as keys of the store below `/registry/borough/`:
 *
 *   quotaaccount/<namespace>        what the namespace uses of each quota that counts it, and whose account it is on
 *   quotacounter/<quota>.<holder>   what all namespaces of one account use: the sum of their figures
 *   clusterquotaepoch/specs         written by every change of a spec, guarded by what was decided on the specs
 *
 * The first says which quotas count a namespace. It is written with the namespace, so that no selector is looked at
 * when content changes.
 */
import { createHash } from 'node:crypto'
import type { DecidedWrite, DecisionView, Seen } from '../../admission/admission.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import { encodeStored } from '../../kube/stored-form.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { Printed } from './types.ts'

export interface Share {
  /** The quota's uid: one that is made again under its name counts anew. */
  readonly quota: string
  /** `ParsedQuota.counted` when it was counted. */
  readonly counted: string
  readonly holder: string
  readonly used: Printed
}

export interface Account extends KubeObject {
  readonly shares?: readonly Share[]
}

export interface Counter extends KubeObject {
  readonly quota?: string
  readonly holder?: string
  readonly namespaces?: number
  readonly used?: Printed
}

export const recordStorage = 'borough'
export const accountFolder = 'quotaaccount'
export const counterFolder = 'quotacounter'
const epochFolder = 'clusterquotaepoch'
const epochName = 'specs'

type RecordType<T extends KubeObject> = ResourceType<T>

export class QuotaRecords {
  readonly accountType: RecordType<Account>
  readonly counterType: RecordType<Counter>
  readonly #epochType: ResourceType

  /** `like`: any type; only where records lie and how they are read is taken. */
  constructor(like: ResourceType) {
    const type = { ...like, storageName: recordStorage }
    this.accountType = type as unknown as RecordType<Account>
    this.counterType = type as unknown as RecordType<Counter>
    this.#epochType = type
  }

  account(view: DecisionView, namespace: string): Seen<Account> {
    return view.see(this.accountType, accountFolder, namespace)
  }

  counter(view: DecisionView, quota: string, holder: string): Seen<Counter> {
    return view.see(this.counterType, counterFolder, counterName(quota, holder))
  }

  epoch(view: DecisionView): Pick<Seen, 'key' | 'expect'> {
    const { key, expect } = view.see(this.#epochType, epochFolder, epochName)
    return { key, expect }
  }

  /** A spec itself can't be seen before it is durable, so neither may this. */
  nextEpoch(view: DecisionView): DecidedWrite {
    return { ...this.epoch(view), value: encodeStored({ metadata: { name: epochName } }), hidden: true }
  }

  accountWrite({ key, expect }: Pick<Seen, 'key' | 'expect'>, object: Account): DecidedWrite {
    return { key, expect, value: encodeStored(object), object, type: this.accountType }
  }

  counterWrite({ key, expect }: Pick<Seen, 'key' | 'expect'>, object: Counter): DecidedWrite {
    return { key, expect, value: encodeStored(object), object, type: this.counterType }
  }
}

/** What a change of content takes of its transaction: account, guard of the specs, and each quota's counter. */
export const operationsOf = ({ shares = [] }: Account = { metadata: {} }): number =>
  shares.length === 0 ? 0 : shares.length + sharedOperations

export const sharedOperations = 2

/** Names of users hold any character and any number of them: one that is no part of a key stands by its digest. */
export function counterName(quota: string, holder: string): string {
  if (/^[A-Za-z0-9_.@-]{1,80}$/.test(holder)) return `${quota}.n.${holder}`
  return holder === '' ? `${quota}.all` : `${quota}.d.${createHash('sha256').update(holder).digest('hex')}`
}
