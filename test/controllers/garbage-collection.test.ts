/** The collector on a real server: the memory engine, the registry, the pipeline, the in-process client. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ownershipFeed } from '../../src/apis/garbage-collection/ownership-feed.ts'
import { garbageCollector, garbageCollectorName } from '../../src/apis/garbage-collection/reconcile.ts'
import { defaultConfig } from '../../src/app/config.ts'
import { type ControlPlane, createControlPlane } from '../../src/app/control-plane.ts'
import { systemClock } from '../../src/base/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import type { Client, DeleteOptions } from '../../src/client/client.ts'
import { runController } from '../../src/controller/run-controller.ts'
import { isNotFound } from '../../src/kube/status-error.ts'
import type { KubeObject, OwnerReference } from '../../src/kube/types.ts'
import { CacheStoreView } from '../../src/registry/cache-store-view.ts'

const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const clusterRoles = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterroles' }

interface EventSeen {
  readonly reason: string
  readonly message: string
  readonly name: string | undefined
}

let plane: ControlPlane
let client: Client
let stop: AbortController
let running: Promise<void>
let recorded: EventSeen[]

beforeEach(async () => {
  await start(() => false)
  stop = new AbortController()
  recorded = []
  running = Promise.resolve()
})

afterEach(async () => {
  stop.abort()
  await running
  await plane[Symbol.asyncDispose]()
})

async function start(controllers: (name: string) => boolean): Promise<void> {
  plane = await createControlPlane({ ...defaultConfig, controllers, population: false })
  client = plane.client()
}

function collect(): void {
  const spec = garbageCollector({
    client,
    feed: ownershipFeed(new CacheStoreView(plane.core.cache), plane.core.catalog.types),
    events: {
      async record({ reason, message, object }) {
        recorded.push({ reason, message, name: object.metadata.name })
      },
    },
  })
  running = runController(spec, { clock: systemClock, log: silentLog }, stop.signal)
}

const ownerOf = (owner: KubeObject, more: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name: owner.metadata.name ?? '',
  uid: owner.metadata.uid ?? '',
  ...more,
})

const make = (name: string, owners: OwnerReference[] = [], namespace = 'default'): Promise<KubeObject> =>
  client.create(configMaps, { metadata: { name, namespace, ...(owners.length ? { ownerReferences: owners } : {}) } })

const remove = (name: string, propagationPolicy: NonNullable<DeleteOptions['propagationPolicy']>): Promise<unknown> =>
  client.delete(configMaps, { namespace: 'default', name }, { propagationPolicy })

async function find(name: string, namespace = 'default'): Promise<KubeObject | undefined> {
  try {
    return await client.get(configMaps, { namespace, name })
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

/** Waits for a change of config maps that makes it true. */
async function until(condition: () => Promise<boolean>): Promise<void> {
  const end = new AbortController()
  const changes = client.watch(configMaps, { signal: end.signal, sendInitialEvents: true, allowWatchBookmarks: true })
  try {
    for await (const _ of changes) if (await condition()) return
  } finally {
    end.abort()
  }
  throw new Error('the watch ended first')
}

const names = async (): Promise<(string | undefined)[]> =>
  (await client.list(configMaps, { namespace: 'default' })).items
    .map((item) => item.metadata.name)
    .filter((name) => name !== 'kube-root-ca.crt')

const left = (...want: string[]): Promise<void> =>
  until(async () => JSON.stringify(await names()) === JSON.stringify(want))

describe('dependents', () => {
  it('follow their owner in the background, to any depth', async () => {
    const a = await make('a')
    const b = await make('b', [ownerOf(a)])
    await make('c', [ownerOf(b)])
    await make('other')
    collect()
    await remove('a', 'Background')
    await left('other')
  })

  it('that lost their owner before the collector started are found', async () => {
    const a = await make('a')
    await make('b', [ownerOf(a)])
    await remove('a', 'Background')
    expect(await names()).toEqual(['b'])
    collect()
    await left()
  })

  it('with another owner stay, without the reference to the one that went', async () => {
    const [a, b] = [await make('a'), await make('b')]
    await make('c', [ownerOf(a), ownerOf(b)])
    collect()
    await remove('a', 'Background')
    await until(async () => (await find('c'))?.metadata.ownerReferences?.length === 1)
    expect((await find('c'))?.metadata.ownerReferences).toEqual([ownerOf(b)])
    await remove('b', 'Background')
    await left()
  })

  it('naming an owner of another incarnation are collected', async () => {
    const a = await make('a')
    collect()
    await make('b', [ownerOf(a, { uid: '00000000-0000-4000-8000-000000000000' })])
    await left('a')
    expect(recorded).toEqual([])
  })

  it('naming an owner in another namespace are collected, and an event says why', async () => {
    await client.create(namespaces, { metadata: { name: 'elsewhere' } })
    const owner = await make('owner', [], 'elsewhere')
    collect()
    await make('lost', [ownerOf(owner)])
    await left()
    expect(recorded).toEqual([
      {
        reason: 'OwnerRefInvalidNamespace',
        message:
          `ownerRef [v1/ConfigMap, namespace: default, name: owner, uid: ${owner.metadata.uid}] does not exist ` +
          'in namespace "default"',
        name: 'lost',
      },
    ])
    expect(await find('owner', 'elsewhere')).toBeDefined()
  })

  it('may be owned across the whole cluster, by objects without a namespace', async () => {
    const role = await client.create(clusterRoles, { metadata: { name: 'r' }, rules: [] })
    const owner = ownerOf(role, { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' })
    await make('b', [owner])
    collect()
    await client.delete(clusterRoles, { name: 'r' })
    await left()
  })

  it('without a namespace never go for an owner that has one', async () => {
    const a = await make('a')
    await client.create(clusterRoles, { metadata: { name: 'r', ownerReferences: [ownerOf(a)] }, rules: [] })
    await make('b', [ownerOf(a)])
    collect()
    await remove('a', 'Background')
    await left()
    await client.get(clusterRoles, { name: 'r' })
    expect(new Set(recorded.map((event) => event.name))).toEqual(new Set(['r']))
  })

  it('of a kind of owner that nobody serves are kept, not taken for orphans', async () => {
    const [a, gone] = [await make('a'), await make('gone')]
    await make('b', [ownerOf(a, { apiVersion: 'ex.io/v1', kind: 'Widget' })])
    await make('c', [ownerOf(gone)])
    collect()
    await remove('gone', 'Background')
    await left('a', 'b')
  })
})

describe('foreground deletion', () => {
  it('lets the owner go last, after all that block it', async () => {
    const a = await make('a')
    const b = await make('b', [ownerOf(a, { blockOwnerDeletion: true })])
    await make('c', [ownerOf(b, { blockOwnerDeletion: true })])
    const gone: string[] = []
    const end = new AbortController()
    const from = (await client.list(configMaps)).metadata.resourceVersion ?? ''
    const changes = client.watch(configMaps, { resourceVersion: from, signal: end.signal })
    collect()
    await remove('a', 'Foreground')
    for await (const event of changes) {
      if (event.type === 'DELETED') gone.push(event.object.metadata.name ?? '')
      if (gone.length === 3) break
    }
    end.abort()
    expect(gone).toEqual(['c', 'b', 'a'])
  })

  it('waits for a dependent that something else holds', async () => {
    const a = await make('a')
    await client.create(configMaps, {
      metadata: {
        name: 'b',
        namespace: 'default',
        finalizers: ['ex.io/hold'],
        ownerReferences: [ownerOf(a, { blockOwnerDeletion: true })],
      },
    })
    collect()
    await remove('a', 'Foreground')
    await until(async () => (await find('b'))?.metadata.deletionTimestamp !== undefined)
    expect(await names()).toEqual(['a', 'b'])
    await client.patch(configMaps, { namespace: 'default', name: 'b' }, { metadata: { finalizers: null } })
    await left()
  })

  it('does not wait for a dependent that does not block', async () => {
    const a = await make('a')
    await client.create(configMaps, {
      metadata: { name: 'b', namespace: 'default', finalizers: ['ex.io/hold'], ownerReferences: [ownerOf(a)] },
    })
    collect()
    await remove('a', 'Foreground')
    await left('b')
  })

  it('of a dependent with another owner takes only the reference away', async () => {
    const [a, b] = [await make('a'), await make('b')]
    await make('c', [ownerOf(a, { blockOwnerDeletion: true }), ownerOf(b)])
    collect()
    await remove('a', 'Foreground')
    await left('b', 'c')
    expect((await find('c'))?.metadata.ownerReferences).toEqual([ownerOf(b)])
  })

  it('comes to an end in a circle', async () => {
    const a = await make('a')
    const b = await make('b', [ownerOf(a, { blockOwnerDeletion: true })])
    const c = await make('c', [ownerOf(b, { blockOwnerDeletion: true })])
    await client.patch(
      configMaps,
      { namespace: 'default', name: 'a' },
      { metadata: { ownerReferences: [ownerOf(c, { blockOwnerDeletion: true })] } },
    )
    collect()
    await remove('a', 'Foreground')
    await left()
  })

  it('is not held up by dependents elsewhere, nor by references that name another owner', async () => {
    await client.create(namespaces, { metadata: { name: 'stranger' } })
    const a = await make('a')
    const block = { blockOwnerDeletion: true }
    const held = (name: string, namespace: string, owner: OwnerReference): Promise<KubeObject> =>
      client.create(configMaps, {
        metadata: { name, namespace, finalizers: ['attack.example/held'], ownerReferences: [owner] },
      })
    await held('foreign', 'stranger', ownerOf(a, block))
    await held('misnamed', 'default', ownerOf(a, { ...block, name: 'other' }))
    await held('miskind', 'default', ownerOf(a, { ...block, kind: 'Secret' }))
    await held('misgroup', 'default', ownerOf(a, { ...block, apiVersion: 'apps/v1', kind: 'Deployment' }))
    collect()
    await remove('a', 'Foreground')
    await until(async () => (await find('a')) === undefined)
    expect(await find('foreign', 'stranger')).toBeDefined()
  })

  it('of an object that owns itself comes to an end', async () => {
    const a = await make('a')
    const self = { metadata: { ownerReferences: [ownerOf(a, { blockOwnerDeletion: true })] } }
    await client.patch(configMaps, { namespace: 'default', name: 'a' }, self)
    collect()
    await remove('a', 'Foreground')
    await left()
  })
})

describe('orphaning', () => {
  it('frees all dependents, then lets the owner go', async () => {
    const a = await make('a')
    for (let i = 0; i < 20; i++) await make(`d${String(i).padStart(2, '0')}`, [ownerOf(a)])
    collect()
    await remove('a', 'Orphan')
    await until(async () => (await find('a')) === undefined)
    const { items } = await client.list(configMaps, { namespace: 'default' })
    const dependents = items.filter((item) => item.metadata.name?.startsWith('d'))
    expect(dependents).toHaveLength(20)
    expect(dependents.filter((item) => item.metadata.ownerReferences !== undefined)).toEqual([])
  })
})

describe('the collector of the house', () => {
  it('runs under its own rights', async () => {
    await plane[Symbol.asyncDispose]()
    await start((name) => name === garbageCollectorName)
    const a = await make('a')
    await make('b', [ownerOf(a, { blockOwnerDeletion: true })])
    await make('c', [ownerOf(a)])
    await remove('a', 'Foreground')
    await left()
    const d = await make('d')
    await make('e', [ownerOf(d)])
    await remove('d', 'Orphan')
    await until(async () => (await find('d')) === undefined)
    expect((await find('e'))?.metadata).not.toHaveProperty('ownerReferences')
  })
})
