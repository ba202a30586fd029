/**
 * Ways by which content of a namespace comes, goes or comes to use something else, tried under quotas over several
 * namespaces: after each commit every account equals a recount.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { type ClusterResourceQuota, clusterQuotaResource } from '../../src/apis/clusterquotas/types.ts'
import { defaultConfig } from '../../src/app/config.ts'
import { type ControlPlane, createControlPlane } from '../../src/app/control-plane.ts'
import type { Client } from '../../src/client/client.ts'
import type { GroupVersionResource } from '../../src/kube/gvk.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { StoreHistory } from '../support/contested-cluster-quota.ts'
import { waitFor } from '../support/wait-for.ts'

const core = (resource: string): GroupVersionResource => ({ group: '', version: 'v1', resource })
const [namespaces, configMaps, secrets, pods] = [core('namespaces'), core('configmaps'), core('secrets'), core('pods')]
const widgets = { group: 'example.com', version: 'v1', resource: 'widgets' }
const definitions = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' }
const templates = { group: 'policy.borough.dev', version: 'v1alpha1', resource: 'namespacetemplates' }
const hold = 'example.com/hold'

const definition = {
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    names: { plural: 'widgets', kind: 'Widget' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
}
const hard = {
  ...{ 'count/configmaps': '20', secrets: '20', pods: '20', 'count/pods': '20', 'requests.cpu': '20' },
  ...{ 'count/widgets.example.com': '20', 'count/namespaces': '20' },
}
const selector = { labels: { matchLabels: { kind: 'team' } } }
const team = { kind: 'team' }

const podOf = (name: string, cpu: string, namespace = 'a'): KubeObject => ({
  metadata: { name, namespace },
  spec: { containers: [{ name: 'main', image: 'app', resources: { requests: { cpu } } }] },
})

let dataDir: string
let plane: ControlPlane
let client: Client
let history: StoreHistory

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'borough-uncounted-'))
  plane = await createControlPlane({ ...defaultConfig, storage: { engine: 'sqlite' }, dataDir })
  client = plane.client({ username: 'alice', groups: ['system:masters', 'system:authenticated'] })
  history = await StoreHistory.from(plane.core.storage)
  await client.create(definitions, definition)
  await waitFor(client, definitions, { name: 'widgets.example.com' }, (found) => {
    const { conditions } = (found?.['status'] ?? {}) as { conditions?: { type: string; status: string }[] | null }
    return conditions?.some(({ type, status }) => type === 'Established' && status === 'True') === true
  })
  for (const [name, per] of Object.entries({ all: {}, each: { perCreator: true } }))
    await client.create(clusterQuotaResource, { metadata: { name }, spec: { selector, quota: { hard }, ...per } })
  for (const name of ['a', 'b']) await client.create(namespaces, { metadata: { name, labels: team } })
}, 60_000)

afterAll(async () => {
  await plane?.[Symbol.asyncDispose]()
  await rm(dataDir, { recursive: true, force: true })
})

const used = async (name: string): Promise<Readonly<Record<string, string>>> => {
  const { status } = (await client.get(clusterQuotaResource, { name })) as ClusterResourceQuota
  return Object.fromEntries(Object.entries(status?.total?.used ?? {}).map(([what, amount]) => [what, String(amount)]))
}

const observed = async (name: string): Promise<void> => {
  await waitFor(client, clusterQuotaResource, { name }, (found) => {
    const { status, metadata } = (found ?? { metadata: {} }) as ClusterResourceQuota
    return status?.observedGeneration !== undefined && status.observedGeneration === metadata.generation
  })
}

interface Way {
  readonly way: string
  run(): Promise<unknown>
  /** Of what both quotas say is used: by how much it is more then. */
  readonly more: Readonly<Record<string, number>>
}

const inA = (name: string): { readonly name: string; readonly namespace: string } => ({ name, namespace: 'a' })

const ways: readonly Way[] = [
  { way: 'a create', run: () => client.create(configMaps, { metadata: inA('c') }), more: { 'count/configmaps': 1 } },
  {
    way: 'names that the server gives',
    run: () =>
      Promise.all([1, 2, 3].map(() => client.create(secrets, { metadata: { generateName: 's-', namespace: 'a' } }))),
    more: { secrets: 3 },
  },
  {
    way: 'an apply of what is not there, and of what is',
    run: async () => {
      const configuration = { apiVersion: 'v1', kind: 'ConfigMap', metadata: inA('applied') }
      for (const data of [{}, { a: 'b' }]) {
        await client.apply(configMaps, { ...configuration, data }, { fieldManager: 'test' })
      }
    },
    more: { 'count/configmaps': 1 },
  },
  {
    way: 'dry runs of every verb',
    run: async () => {
      const dryRun = { dryRun: true }
      await client.create(secrets, { metadata: inA('dry') }, dryRun)
      await client.delete(configMaps, inA('c'), dryRun)
      await client.deleteCollection(configMaps, { namespace: 'a' }, dryRun)
      await client.patch(namespaces, { name: 'a' }, { metadata: { labels: { kind: null } } }, dryRun)
    },
    more: {},
  },
  {
    way: 'objects that finalizers hold',
    run: async () => {
      await client.create(configMaps, { metadata: { ...inA('held'), finalizers: [hold] } })
      await client.delete(configMaps, inA('held'))
    },
    more: { 'count/configmaps': 1 },
  },
  {
    way: 'the last finalizer',
    run: () => client.patch(configMaps, inA('held'), { metadata: { finalizers: null } }),
    more: { 'count/configmaps': -1 },
  },
  {
    way: 'pods, one of which ends',
    run: async () => {
      for (const name of ['p', 'q']) await client.create(pods, podOf(name, '2'))
      await client.patch(pods, inA('q'), { status: { phase: 'Succeeded' } }, { subresource: 'status' })
    },
    more: { pods: 1, 'count/pods': 2, 'requests.cpu': 2 },
  },
  {
    way: 'a pod that is resized',
    run: () => client.patch(pods, inA('p'), { spec: podOf('p', '5')['spec'] as object }, { subresource: 'resize' }),
    more: { 'requests.cpu': 3 },
  },
  {
    way: 'a collection that is deleted, some of it held',
    run: async () => {
      await client.create(secrets, { metadata: { ...inA('held'), finalizers: [hold] } })
      await client.deleteCollection(secrets, { namespace: 'a' })
    },
    more: { secrets: -2 },
  },
  {
    way: 'custom resources',
    run: async () => {
      for (const name of ['w', 'v']) {
        await client.create(widgets, { apiVersion: 'example.com/v1', kind: 'Widget', metadata: inA(name) })
      }
      await client.delete(widgets, inA('v'))
    },
    more: { 'count/widgets.example.com': 1 },
  },
  {
    way: 'content of a template, in the transaction of a namespace',
    run: async () => {
      await client.create(templates, {
        metadata: { name: 't' },
        spec: {
          namespaces: { nameSelector: { include: ['born-*'] } },
          templates: [
            { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'made' } },
            { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'own' }, spec: { hard: { secrets: '5' } } },
          ],
        },
      })
      await client.create(namespaces, { metadata: { name: 'born-1', labels: team } })
    },
    more: { secrets: 1, 'count/configmaps': 1, 'count/namespaces': 1 },
  },
  {
    way: 'content of a template, in a namespace that comes in later',
    run: async () => {
      await client.create(namespaces, { metadata: { name: 'born-2' } })
      await client.patch(namespaces, { name: 'born-2' }, { metadata: { labels: team } })
    },
    more: { secrets: 1, 'count/configmaps': 1, 'count/namespaces': 1 },
  },
  {
    way: 'a namespace that ends, and is held by what is in it',
    run: async () => {
      await client.create(configMaps, { metadata: { name: 'held', namespace: 'born-2', finalizers: [hold] } })
      await client.delete(namespaces, { name: 'born-2' })
      await waitFor(client, secrets, { name: 'made', namespace: 'born-2' }, (found) => found === undefined)
      await waitFor(client, configMaps, { name: 'kube-root-ca.crt', namespace: 'born-2' }, (found) => !found)
    },
    more: { secrets: -1 },
  },
  {
    way: 'a namespace that ends and is relabelled meanwhile, out and in',
    run: async () => {
      for (const labels of [{ kind: null }, team])
        await client.patch(namespaces, { name: 'born-2' }, { metadata: { labels } })
    },
    more: {},
  },
  {
    way: 'a namespace that is gone',
    run: async () => {
      await client.patch(configMaps, { name: 'held', namespace: 'born-2' }, { metadata: { finalizers: null } })
      await waitFor(client, namespaces, { name: 'born-2' }, (found) => found === undefined)
    },
    more: { 'count/namespaces': -1, 'count/configmaps': -1 },
  },
  {
    way: 'what is restored as it was, with its uid and time',
    run: () =>
      client.create(configMaps, {
        metadata: { ...inA('restored'), uid: 'u', creationTimestamp: '2020-01-01T00:00:00Z' },
      }),
    more: { 'count/configmaps': 1 },
  },
  {
    way: 'a definition that goes, with its objects',
    run: async () => {
      await client.delete(definitions, { name: 'widgets.example.com' })
      await waitFor(client, definitions, { name: 'widgets.example.com' }, (found) => found === undefined)
    },
    more: { 'count/widgets.example.com': -1 },
  },
]

describe('counted is', () => {
  test.each(ways)('$way', async ({ run, more }) => {
    const before = [await used('all'), await used('each')]
    await run()
    const after = (was: Readonly<Record<string, string>>): object =>
      Object.fromEntries(
        Object.entries(was).map(([name, amount]) => [name, String(Number(amount) + (more[name] ?? 0))]),
      )
    expect([await used('all'), await used('each')]).toEqual(before.map(after))
    await history.verify(await plane.core.storage.currentRevision())
  })
})

describe('what is counted stays what is there', () => {
  const edit = async (spec: object): Promise<void> => {
    await client.patch(clusterQuotaResource, { name: 'each' }, { spec })
    await observed('each')
    await history.verify(await plane.core.storage.currentRevision())
  }

  it('while accounts are of creators, of owners, and of none', async () => {
    const was = await used('each')
    for (const spec of [{ perCreator: null }, { perOwner: true }, { perOwner: null }, { perCreator: true }]) {
      await edit(spec)
      expect(await used('each')).toEqual(was)
    }
  })

  it('while the selector selects nothing, and then all again', async () => {
    const was = await used('each')
    await edit({ selector: { labels: { matchLabels: { kind: 'none' } } } })
    expect(Object.values(await used('each')).every((amount) => amount === '0')).toBe(true)
    await edit({ selector })
    expect(await used('each')).toEqual(was)
  })

  it('where a quota is deleted, content comes, and it is made again by the same name', async () => {
    const was = await used('all')
    await client.delete(clusterQuotaResource, { name: 'all' })
    await client.create(configMaps, { metadata: inA('between') })
    await client.create(clusterQuotaResource, { metadata: { name: 'all' }, spec: { selector, quota: { hard } } })
    await client.create(configMaps, { metadata: inA('after') })
    await observed('all')
    const there = Number(was['count/configmaps']) + 2
    expect(await used('all')).toEqual({ ...was, 'count/configmaps': String(there) })
    await history.verify(await plane.core.storage.currentRevision())
  })
})
