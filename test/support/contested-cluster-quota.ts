/**
 * Many who create, relabel and delete namespaces, change what is in them, name their owners and edit the quotas over
 * them, on one replica or several. What the store holds is then followed commit by commit (`ClusterQuotaAccounts`).
 */
import * as fc from 'fast-check'
import { expect } from 'vitest'
import { type ClusterResourceQuotaSpec, clusterQuotaResource } from '../../src/apis/clusterquotas/types.ts'
import type { Client } from '../../src/client/client.ts'
import { findStatusError } from '../../src/kube/status-error.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { positionsPerCommit, prefixSpan, type Storage } from '../../src/storage/storage.ts'
import { ClusterQuotaAccounts } from './cluster-quota-accounts.ts'

const core = (resource: string): { group: string; version: string; resource: string } => ({
  group: '',
  version: 'v1',
  resource,
})

export interface ClusterQuotaStep {
  readonly actor: number
  readonly act:
    | 'create'
    | 'delete'
    | 'secret'
    | 'limit'
    | 'namespace'
    | 'unnamespace'
    | 'relabel'
    | 'own'
    | 'quota'
    | 'unquota'
    | 'edit'
  readonly name: number
  readonly where: number
}

const actors = 8
const common = ['create', 'create', 'secret', 'delete', 'relabel', 'namespace'] as const
const rare = ['limit', 'unnamespace', 'own', 'quota', 'unquota', 'edit'] as const

export const clusterQuotaSteps: fc.Arbitrary<ClusterQuotaStep[]> = fc.array(
  fc.record({
    actor: fc.nat(actors - 1),
    act: fc.constantFrom(...common, ...rare),
    name: fc.nat(5),
    where: fc.nat(3),
  }),
  { minLength: 40, maxLength: 120 },
)

const specs: readonly ClusterResourceQuotaSpec[] = [
  {
    selector: { labels: { matchLabels: { kind: 'team' } } },
    quota: { hard: { configmaps: '9', 'count/namespaces': '3' } },
  },
  {
    selector: { labels: { matchLabels: { kind: 'team' } } },
    perOwner: true,
    quota: { hard: { configmaps: '5', secrets: '3', 'count/namespaces': '2' } },
  },
  {
    selector: { labels: { matchExpressions: [{ key: 'kind', operator: 'Exists' }] } },
    perCreator: true,
    quota: { hard: { secrets: '4', resourcequotas: '2' } },
  },
]

const labelsOf = (name: number): Record<string, string | null> => ({
  kind: [null, 'team', 'other'][name % 3] as string | null,
})

async function act(client: Client, { act: what, name, where }: ClusterQuotaStep): Promise<unknown> {
  const namespace = `ns-${where}`
  const metadata = { name: `n-${name}`, namespace }
  const quota = { name: `q-${where % 2}` }
  const spec = specs[name % specs.length] ?? {}
  const kind = labelsOf(name)['kind']
  switch (what) {
    case 'create':
      return client.create(core('configmaps'), { metadata })
    case 'secret':
      return client.create(core('secrets'), { metadata: { generateName: 's-', namespace } })
    case 'delete':
      return client.delete(core('configmaps'), metadata)
    case 'limit':
      return name % 2 === 0
        ? client.create(core('resourcequotas'), { metadata, spec: { hard: { configmaps: '6' } } })
        : client.delete(core('resourcequotas'), metadata)
    case 'namespace':
      return client.create(core('namespaces'), {
        metadata: { name: namespace, ...(kind === null || kind === undefined ? {} : { labels: { kind } }) },
      })
    case 'unnamespace':
      return client.delete(core('namespaces'), { name: namespace })
    case 'relabel':
      return client.patch(core('namespaces'), { name: namespace }, { metadata: { labels: labelsOf(name) } })
    case 'own':
      return client.patch(
        core('namespaces'),
        { name: namespace },
        { metadata: { annotations: { 'borough.dev/owner': `owner-${name % 2}` } } },
      )
    case 'quota':
      return client.create(clusterQuotaResource, { metadata: quota, spec })
    case 'unquota':
      return client.delete(clusterQuotaResource, quota)
    case 'edit':
      return client.update(clusterQuotaResource, { ...(await client.get(clusterQuotaResource, quota)), spec })
  }
}

/** Refusals are part of the game; anything else is not, but where a replica may be killed while it answers. */
async function attempt(work: () => Promise<unknown>, mayBeLost = false): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (mayBeLost) return
    if (![403, 404, 409, 422].includes(findStatusError(error)?.code ?? 0)) throw error
  }
}

/** `clients`: each an actor's, of whichever replica. `mayBeLost`: replicas are killed meanwhile. */
export async function contestClusterQuotas(
  clients: readonly Client[],
  storage: Pick<Storage, 'currentRevision' | 'watch' | 'range'>,
  steps: readonly ClusterQuotaStep[],
  mayBeLost = false,
): Promise<void> {
  const history = await StoreHistory.from(storage)
  await Promise.all(
    clients.map(async (client, i) => {
      for (const step of steps.filter(({ actor }) => actor % clients.length === i))
        await attempt(() => act(client, step), mayBeLost)
    }),
  )
  await history.verify(await storage.currentRevision())
}

/**
 * What can overtake what: in each round a namespace is relabelled while it is written to, and a quota comes while
 * namespaces that it selects are made and relabelled.
 */
export async function contestMoves(
  clients: readonly Client[],
  storage: Pick<Storage, 'currentRevision' | 'watch' | 'range'>,
  rounds: number,
): Promise<void> {
  const history = await StoreHistory.from(storage)
  const client = (i: number): Client => clients[i % clients.length] as Client
  const selector = { labels: { matchLabels: { kind: 'team' } } }
  const quota = { name: 'q' }
  for (let round = 0; round < rounds; round++) {
    const namespace = `moved-${round}`
    const label = (i: number, name: string, kind: string | null): Promise<void> =>
      attempt(() => client(i).patch(core('namespaces'), { name }, { metadata: { labels: { kind } } }))
    const write = (from: number): Promise<void>[] =>
      Array.from({ length: 16 }, (_, i) =>
        attempt(() =>
          i % 4 === 3
            ? client(i).delete(core('configmaps'), { name: `c-${from + i - 2}`, namespace })
            : client(i).create(core('configmaps'), { metadata: { name: `c-${from + i}`, namespace } }),
        ),
      )
    await attempt(() => client(round).create(core('namespaces'), { metadata: { name: namespace } }))
    const make = (i: number): Promise<void> => {
      const labels = i % 2 === 0 ? { kind: 'team' } : {}
      return attempt(() => client(i).create(core('namespaces'), { metadata: { name: `${namespace}-${i}`, labels } }))
    }
    await Promise.all([
      ...write(0),
      attempt(() =>
        client(round).create(clusterQuotaResource, {
          metadata: quota,
          spec: { selector, quota: { hard: { configmaps: '9999', 'count/namespaces': '9999' } } },
        }),
      ),
      ...[0, 1, 2, 3].map(make),
      label(round + 1, namespace, 'team'),
    ])
    await Promise.all([
      ...write(20),
      label(round + 2, namespace, null),
      ...[0, 1, 2, 3].map((i) => label(i, `${namespace}-${i}`, i % 2 === 0 ? null : 'team')),
    ])
    await Promise.all([
      ...write(40),
      label(round, namespace, 'team'),
      attempt(() => client(round + 1).delete(core('namespaces'), { name: `${namespace}-1` })),
    ])
    await Promise.all([...write(60), attempt(() => client(round).delete(clusterQuotaResource, quota))])
  }
  await history.verify(await storage.currentRevision())
}

/** What the store held after each commit since it was asked. */
export class StoreHistory {
  readonly #storage: Pick<Storage, 'watch'>
  /** Followed so far. */
  #from: number
  readonly #accounts = new ClusterQuotaAccounts()
  /** The newest last: what a failure is told with. */
  readonly #changes: string[] = []

  constructor(storage: Pick<Storage, 'watch'>, from: number) {
    this.#storage = storage
    this.#from = from
  }

  static async from(storage: Pick<Storage, 'currentRevision' | 'watch' | 'range'>): Promise<StoreHistory> {
    const { entries, revision } = await storage.range(prefixSpan('/registry/'))
    const history = new StoreHistory(storage, revision)
    for (const { key, value } of entries) history.#store(key, value, revision)
    history.#check()
    return history
  }

  /** Follows what has happened until `revision`. */
  async verify(revision: number): Promise<void> {
    const stop = new AbortController()
    let commit = 0
    for await (const batch of this.#storage.watch(prefixSpan('/registry/'), this.#from, stop.signal)) {
      if (batch.type === 'progress') {
        this.#from = Math.max(this.#from, batch.revision)
        if (batch.revision >= revision) break
        continue
      }
      for (const change of batch.changes) {
        const next = Math.floor(change.revision / positionsPerCommit)
        if (next !== commit) this.#check()
        commit = next
        this.#store(change.key, change.value, change.revision)
      }
      this.#check()
      this.#from = batch.changes.at(-1)?.revision ?? this.#from
      if (this.#from >= revision) break
    }
    stop.abort()
  }

  #store(key: string, value: Uint8Array | undefined, revision: number): void {
    const text = value && Buffer.from(value).toString()
    this.#accounts.store(key, text === undefined ? undefined : (JSON.parse(text) as KubeObject))
    const at = `${Math.floor(revision / positionsPerCommit)}+${revision % positionsPerCommit}`
    this.#changes.push(`${at} ${key} ${text?.slice(0, told) ?? 'is gone'}`)
    if (this.#changes.length > toldChanges) this.#changes.shift()
  }

  #check(): void {
    const problems = this.#accounts.problems()
    expect(problems, problems.length === 0 ? '' : `after\n${this.#changes.join('\n')}`).toEqual([])
  }
}

/** Changes that lead up to a failure, and characters of each. */
const toldChanges = 60
const told = 400
