/**
 * What must hold of quotas over several namespaces after each commit, by hand from what the store holds: the account of
 * every namespace equals a recount of what is in it, every counter is the sum of its accounts, and from the generation
 * on that a quota says it has observed, exactly what it selects is counted. Nothing of what the server counts with.
 */
import type { ClusterResourceQuota } from '../../src/apis/clusterquotas/types.ts'
import type { KubeObject } from '../../src/kube/types.ts'

interface Share {
  readonly quota: string
  readonly holder: string
  readonly counted: string
  readonly used: Record<string, string>
}

interface Counter {
  readonly quota: string
  readonly holder: string
  readonly namespaces: number
  readonly used: Record<string, string>
}

type Amounts = Record<string, number>

const registry = '/registry/'
const accounts = `${registry}borough/quotaaccount/`
const counters = `${registry}borough/quotacounter/`
const epochs = `${registry}borough/quotaepoch/`
const quotas = `${registry}clusterresourcequotas.policy.borough.dev/`
const namespaces = `${registry}namespaces/`

export class ClusterQuotaAccounts {
  readonly #objects = new Map<string, KubeObject>()
  /** Namespaces whose epoch has gone since it was asked last. */
  readonly #withoutEpoch = new Set<string>()

  store(key: string, object: KubeObject | undefined): void {
    if (object === undefined && key.startsWith(epochs)) this.#withoutEpoch.add(key.slice(epochs.length))
    if (object === undefined) this.#objects.delete(key)
    else this.#objects.set(key, object)
  }

  problems(): string[] {
    const byUid = new Map<string, ClusterResourceQuota>()
    for (const [, quota] of this.#under(quotas)) byUid.set(quota.metadata.uid ?? '', quota)
    const sums = new Map<string, Amounts>()
    const problems: string[] = []
    for (const [namespace, account] of this.#under(accounts)) {
      if (!this.#objects.has(namespaces + namespace))
        problems.push(`there is an account without namespace ${namespace}`)
      for (const share of sharesOf(account)) {
        const quota = byUid.get(share.quota)
        if (quota === undefined) continue
        problems.push(...this.#shareProblems(namespace, share, quota))
        const sum = sums.get(`${share.quota} ${share.holder}`) ?? {}
        sums.set(`${share.quota} ${share.holder}`, sum)
        sum['namespaces'] = (sum['namespaces'] ?? 0) + 1
        for (const [name, amount] of Object.entries(share.used)) sum[name] = (sum[name] ?? 0) + Number(amount)
      }
    }
    problems.push(...this.#counterProblems(byUid, sums))
    for (const quota of byUid.values()) problems.push(...this.#selectionProblems(quota))
    for (const namespace of this.#withoutEpoch) {
      // Nothing would tell who has not seen the account that there is one.
      if (this.#objects.has(accounts + namespace)) problems.push(`the epoch of ${namespace} went before its account`)
    }
    this.#withoutEpoch.clear()
    return problems
  }

  #counterProblems(byUid: ReadonlyMap<string, unknown>, sums: Map<string, Amounts>): string[] {
    const problems: string[] = []
    for (const [, record] of this.#under(counters)) {
      const { quota, holder, namespaces: count, used } = record as unknown as Counter
      if (!byUid.has(quota)) continue
      const name = `${quota} ${holder}`
      const says = printed({ ...numbers(used), namespaces: count })
      const sum = printed(sums.get(name) ?? {})
      if (says !== sum) problems.push(`the counter ${name} says ${says}, its accounts come to ${sum}`)
      sums.delete(name)
    }
    return [...problems, ...[...sums.keys()].map((name) => `there is no counter ${name}`)]
  }

  #shareProblems(namespace: string, { counted, used }: Share, { metadata }: ClusterResourceQuota): string[] {
    // Of an earlier spec, it is right by that one, until it is counted again.
    const [names] = JSON.parse(counted) as [string[]]
    const there = printed(Object.fromEntries(names.map((name) => [name, this.#count(namespace, name)])))
    const says = printed(numbers(used))
    return says === there ? [] : [`in ${namespace} ${metadata.name} has counted ${says} of ${there}`]
  }

  #count(namespace: string, name: string): number {
    if (name === 'count/namespaces') return 1
    const objects = (resource: string): KubeObject[] =>
      [...this.#under(`${registry}${resource}/${namespace}/`)].map(([, object]) => object)
    if (name !== 'pods' && name !== 'requests.cpu') return objects(name.replace('count/', '')).length
    const running = objects('pods').filter((pod) => !hasEnded(pod))
    return name === 'pods' ? running.length : running.reduce((sum, pod) => sum + cpuOf(pod), 0)
  }

  /** What it says it has observed it counts, and nothing else. */
  #selectionProblems({ metadata, spec, status }: ClusterResourceQuota): string[] {
    if (status?.observedGeneration !== metadata.generation) return []
    return [...this.#under(namespaces)].flatMap(([name, { metadata: its }]) => {
      const { matchLabels, matchExpressions } = spec?.selector?.labels ?? {}
      const kind = its.labels?.['kind']
      const isSelected = matchLabels
        ? kind === matchLabels['kind']
        : matchExpressions !== undefined && kind !== undefined
      const creator = its.annotations?.['authorization.k8s.io/creator'] ?? ''
      const owner = its.annotations?.['borough.dev/owner'] ?? creator
      const holder = spec?.perCreator ? creator : spec?.perOwner ? owner : ''
      const shares = sharesOf(this.#objects.get(accounts + name)).filter(({ quota }) => quota === metadata.uid)
      const says = JSON.stringify(shares.map((share) => share.holder))
      const wanted = JSON.stringify(isSelected ? [holder] : [])
      if (says === wanted) return []
      return [`${metadata.name} has observed its spec, and counts ${name}, of kind ${kind}, for ${says}, not ${wanted}`]
    })
  }

  *#under(prefix: string): Generator<[name: string, object: KubeObject]> {
    for (const [key, object] of this.#objects) if (key.startsWith(prefix)) yield [key.slice(prefix.length), object]
  }
}

const sharesOf = (account: KubeObject | undefined): readonly Share[] =>
  (account as { readonly shares?: readonly Share[] } | undefined)?.shares ?? []

const numbers = (used: Readonly<Record<string, string>>): Amounts =>
  Object.fromEntries(Object.entries(used).map(([name, amount]) => [name, Number(amount)]))

/** What comes to nothing may be left out. */
const printed = (all: Amounts): string =>
  JSON.stringify(
    Object.fromEntries(
      Object.entries(all)
        .filter(([, n]) => n !== 0)
        .sort(),
    ),
  )

const hasEnded = (pod: KubeObject): boolean => {
  const { phase } = (pod['status'] ?? {}) as { readonly phase?: string }
  return phase === 'Succeeded' || phase === 'Failed'
}

interface Containers {
  readonly containers: readonly { readonly resources?: { readonly requests?: { readonly cpu?: string } } }[]
}

/** In whole cores, as the tests ask for them. */
const cpuOf = (pod: KubeObject): number =>
  (pod as unknown as { readonly spec: Containers }).spec.containers.reduce(
    (sum, { resources }) => sum + Number(resources?.requests?.cpu ?? 0),
    0,
  )
