/**
 * What must hold of quotas after each commit, from what an etcd holds and nothing that the server counts with:
 *
 *   - What is counted of a namespace equals a recount of what is in it, as does a ResourceQuota's status.
 *   - A counter is the sum of its namespaces; from the generation on that a quota says it has observed, of exactly
 *     those that it selects, each on the account of its creator or owner.
 *   - No commit takes a counter beyond its limit but one that brings namespaces in line with a changed spec.
 */

import type { RawCommit, StoredObject } from './etcd-commits.ts'
import { type CountedState, capacityProblems } from './quota-capacity.ts'
import { type Amounts, printAmounts, recount } from './quota-recount.ts'
import type { ClusterQuota, Counter, Share } from './stored-quotas.ts'

const accountsAt = 'borough/quotaaccount/'
const countersAt = 'borough/quotacounter/'
const quotasAt = 'clusterresourcequotas.policy.borough.dev/'
const namespacesAt = 'namespaces/'

export class QuotaTruth {
  readonly namespaces: Map<string, StoredObject> = new Map()
  readonly quotas: Map<string, ClusterQuota> = new Map()
  readonly accounts: Map<string, readonly Share[]> = new Map()
  readonly counters: Map<string, Counter> = new Map()
  /** Namespace → resource → name. */
  readonly #content = new Map<string, Map<string, Map<string, StoredObject>>>()

  /** Answers what does not hold after it. */
  take({ changes }: RawCommit): string[] {
    const before = this.#state()
    const touched = new Set<string>()
    for (const change of changes) {
      const namespace = this.#store(change.key, change.object)
      if (namespace !== undefined) touched.add(namespace)
    }
    return [
      ...[...touched].flatMap((namespace) => this.#namespaceProblems(namespace)),
      ...this.#counterProblems(),
      ...[...this.quotas.values()].flatMap((quota) => this.#selectionProblems(quota)),
      ...capacityProblems(before, this.#state()),
    ]
  }

  contentOf(namespace: string): ReadonlyMap<string, ReadonlyMap<string, StoredObject>> {
    return this.#content.get(namespace) ?? new Map()
  }

  /** What all namespaces that it selects hold of what it limits, by account. */
  recountOf(quota: ClusterQuota): ReadonlyMap<string, { readonly namespaces: number; readonly used: Amounts }> {
    const byHolder = new Map<string, { namespaces: number; used: Amounts }>()
    for (const [name, namespace] of this.namespaces) {
      if (!selects(quota, namespace)) continue
      const holder = holderOf(quota, namespace)
      const one = byHolder.get(holder) ?? { namespaces: 0, used: new Map() }
      byHolder.set(holder, one)
      one.namespaces++
      const { hard, scopes = [] } = quota.spec.quota
      add(one.used, recount(this.contentOf(name), Object.keys(hard), scopes))
    }
    return byHolder
  }

  /** What has to be gone when all is quiet: records of quotas and namespaces that are. */
  leftovers(): string[] {
    const uids = new Set([...this.quotas.values()].map(({ metadata }) => metadata.uid))
    const shares = [...this.accounts].flatMap(([namespace, of]) =>
      of
        .filter(({ quota }) => !uids.has(quota))
        .map(({ quota }) => `${namespace} is counted for ${quota}, which is gone`),
    )
    const counters = [...this.counters].filter(([, { quota }]) => !uids.has(quota))
    return [...shares, ...counters.map(([name]) => `there is a counter ${name} of a quota that is gone`)]
  }

  #state(): CountedState {
    return { quotas: new Map(this.quotas), accounts: new Map(this.accounts), namespaces: new Map(this.namespaces) }
  }

  /** Answers the namespace that is looked at anew. */
  #store(key: string, object: StoredObject | undefined): string | undefined {
    const own = (at: string): string | undefined => (key.startsWith(at) ? key.slice(at.length) : undefined)
    const account = own(accountsAt)
    if (account !== undefined) {
      put(this.accounts, account, object && (object['shares'] as readonly Share[]))
      return account
    }
    const counter = own(countersAt)
    if (counter !== undefined) put(this.counters, counter, object as Counter | undefined)
    const quota = own(quotasAt)
    if (quota !== undefined) put(this.quotas, quota, object as ClusterQuota | undefined)
    const namespace = own(namespacesAt)
    if (namespace !== undefined) {
      put(this.namespaces, namespace, object)
      return namespace
    }
    const [resource = '', place = '', name] = key.split('/')
    if (name === undefined || resource === 'borough') return undefined
    const there = this.#content.get(place) ?? new Map<string, Map<string, StoredObject>>()
    this.#content.set(place, there)
    const ofResource = there.get(resource) ?? new Map<string, StoredObject>()
    there.set(resource, ofResource)
    put(ofResource, name, object)
    return place
  }

  #namespaceProblems(namespace: string): string[] {
    const problems: string[] = []
    const content = this.contentOf(namespace)
    const account = this.accounts.get(namespace)
    if (account !== undefined && !this.namespaces.has(namespace))
      problems.push(`an account without namespace ${namespace}`)
    const live = new Set([...this.quotas.values()].map(({ metadata }) => metadata.uid))
    for (const { quota, counted, used } of account ?? []) {
      if (!live.has(quota)) continue
      // Of an earlier spec, it is right by that one until it is counted again.
      const [names, scopes] = JSON.parse(counted) as [string[], { scopeName: string }[]]
      const there = printAmounts(
        recount(
          content,
          names,
          scopes.map(({ scopeName }) => scopeName),
        ),
      )
      const says = printAmounts(amountsIn(used))
      if (says !== there) problems.push(`${namespace} is counted for ${quota} as ${says}, a recount gives ${there}`)
    }
    for (const [name, { status, spec }] of content.get('resourcequotas') ?? []) {
      const { hard, used } = (status ?? {}) as { hard?: Record<string, string>; used?: Record<string, string> }
      const { scopes = [] } = spec as { scopes?: string[] }
      if (hard === undefined) continue
      const there = printAmounts(recount(content, Object.keys(hard), scopes))
      const says = printAmounts(amountsIn(used ?? {}))
      if (says !== there) problems.push(`ResourceQuota ${namespace}/${name} says ${says}, a recount gives ${there}`)
    }
    return problems
  }

  #counterProblems(): string[] {
    const sums = new Map<string, { namespaces: number; used: Amounts }>()
    const live = new Set([...this.quotas.values()].map(({ metadata }) => metadata.uid ?? ''))
    for (const shares of this.accounts.values()) {
      for (const { quota, holder, used } of shares) {
        if (!live.has(quota)) continue
        const key = `${quota} ${holder}`
        const sum = sums.get(key) ?? { namespaces: 0, used: new Map() }
        sums.set(key, sum)
        sum.namespaces++
        add(sum.used, amountsIn(used))
      }
    }
    const problems: string[] = []
    for (const { quota, holder, namespaces, used } of this.counters.values()) {
      if (!live.has(quota)) continue
      const key = `${quota} ${holder}`
      const sum = sums.get(key)
      const says = `${namespaces} ${printAmounts(amountsIn(used))}`
      const wanted = `${sum?.namespaces ?? 0} ${printAmounts(sum?.used ?? new Map())}`
      if (says !== wanted) problems.push(`the counter ${key} says ${says}, its accounts come to ${wanted}`)
      sums.delete(key)
    }
    return [...problems, ...[...sums.keys()].map((key) => `there is no counter ${key}`)]
  }

  /** What it says it has observed it counts, and nothing else. */
  #selectionProblems(quota: ClusterQuota): string[] {
    const { metadata, status } = quota
    if (status?.observedGeneration !== metadata.generation) return []
    const problems: string[] = []
    for (const [name, namespace] of this.namespaces) {
      const holders = (this.accounts.get(name) ?? []).filter((s) => s.quota === metadata.uid).map((s) => s.holder)
      const wanted = selects(quota, namespace) ? [holderOf(quota, namespace)] : []
      if (JSON.stringify(holders) === JSON.stringify(wanted)) continue
      problems.push(`${metadata.name} has observed its spec, and counts ${name} for ${holders}, not for ${wanted}`)
    }
    const counted = [...this.counters.values()].filter((c) => c.quota === metadata.uid)
    for (const [holder, { used }] of this.recountOf(quota)) {
      const counter = counted.find((c) => c.holder === holder)
      const says = printAmounts(amountsIn(counter?.used ?? {}))
      const there = printAmounts(used)
      if (says !== there) problems.push(`${metadata.name} counts ${says} for '${holder}', a recount gives ${there}`)
    }
    return problems
  }
}

export const amountsIn = (used: Readonly<Record<string, string>>): Amounts =>
  new Map(Object.entries(used).map(([name, amount]) => [name, Number(amount)]))

export function add(total: Amounts, more: Amounts): void {
  for (const [name, amount] of more) total.set(name, (total.get(name) ?? 0) + amount)
}

function put<T>(into: Map<string, T>, name: string, value: T | undefined): void {
  if (value === undefined) into.delete(name)
  else into.set(name, value)
}

export function selects({ spec }: ClusterQuota, { metadata }: StoredObject): boolean {
  const { labels = {}, annotations = {} } = metadata
  const { matchLabels = {}, matchExpressions = [] } = spec.selector.labels ?? {}
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    // In, where values are given; else Exists. The storm asks for no other.
    matchExpressions.every(({ key, values }) => labels[key] !== undefined && (values?.includes(labels[key]) ?? true)) &&
    Object.entries(spec.selector.annotations ?? {}).every(([key, value]) => annotations[key] === value)
  )
}

function holderOf({ spec }: ClusterQuota, { metadata }: StoredObject): string {
  const creator = metadata.annotations?.['authorization.k8s.io/creator'] ?? ''
  if (spec.perCreator) return creator
  return spec.perOwner ? (metadata.annotations?.['borough.dev/owner'] ?? creator) : ''
}
