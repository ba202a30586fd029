/** The namespace controller at work: order, conditions, what is created with a namespace and comes back. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { Wire } from '../support/wire.ts'

const core = (resource: string): { group: string; version: string; resource: string } => ({
  group: '',
  version: 'v1',
  resource,
})
const namespaces = core('namespaces')
const rbac = (resource: string): { group: string; version: string; resource: string } => ({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  resource,
})

let plane: TestControlPlane
let client: Client
let wire: Wire

beforeAll(async () => {
  plane = await startControlPlane({ population: false })
  client = plane.client
  wire = new Wire(plane)
})

afterAll(() => plane[Symbol.asyncDispose]())

interface Condition {
  type: string
  status: string
  reason: string
  message: string
}

const conditionsOf = (o: KubeObject): Map<string, Condition> =>
  new Map(((o['status'] as { conditions?: Condition[] }).conditions ?? []).map((c) => [c.type, c]))

/** The namespace as soon as `enough` holds of it; undefined = it is gone. */
async function until(name: string, enough: (o: KubeObject) => boolean): Promise<KubeObject | undefined> {
  const stop = new AbortController()
  const { items, metadata } = await client.list(namespaces, { fieldSelector: `metadata.name=${name}` })
  if (!items[0] || enough(items[0])) return items[0]
  const { resourceVersion = '' } = metadata
  const events = client.watch(namespaces, {
    fieldSelector: `metadata.name=${name}`,
    resourceVersion,
    signal: stop.signal,
  })
  try {
    for await (const { type, object } of events) {
      if (type === 'DELETED') return undefined
      if (enough(object)) return object
    }
  } finally {
    stop.abort()
  }
  throw new Error('the watch ended first')
}

const gone = (name: string): Promise<KubeObject | undefined> => until(name, () => false)
const reported = (name: string): Promise<KubeObject | undefined> => until(name, (o) => conditionsOf(o).size > 0)
const unfinalized = (resource: string, namespace: string, name: string): Promise<unknown> =>
  client.patch(core(resource), { namespace, name }, { metadata: { finalizers: null } })

async function make(name: string, ...configMaps: (string | { name: string; finalizers: string[] })[]): Promise<void> {
  await client.create(namespaces, { metadata: { name } })
  for (const given of configMaps) {
    const own = typeof given === 'string' ? { name: given } : given
    await client.create(core('configmaps'), { metadata: { namespace: name, ...own } })
  }
}

describe('a namespace that is deleted', () => {
  it('goes with all its content, and nothing of it is left anywhere', async () => {
    await make('whole', 'a', 'b')
    await client.create(rbac('roles'), { metadata: { name: 'r', namespace: 'whole' }, rules: [] })
    await wire.must('POST', '/apis/apps/v1/namespaces/whole/deployments', deployment)
    await client.delete(namespaces, { name: 'whole' })
    expect(await gone('whole')).toBeUndefined()
    for (const path of [
      '/api/v1/configmaps',
      '/api/v1/serviceaccounts',
      '/apis/rbac.authorization.k8s.io/v1/roles',
      '/apis/apps/v1/deployments',
    ]) {
      const { items } = await wire.must('GET', path)
      expect(items.filter((o) => o.metadata.namespace === 'whole')).toEqual([])
    }
  })

  it('is shown to watchers as Terminating, then as deleted, with nothing in between if nothing holds it', async () => {
    await make('plain')
    const seen = wire.events(
      `/api/v1/namespaces?watch=1&fieldSelector=metadata.name=plain`,
      (events) => events.at(-1)?.type === 'DELETED',
      () => void client.delete(namespaces, { name: 'plain' }),
    )
    expect((await seen).map((e) => `${e.type} ${String(e.object.status?.['phase'])}`)).toEqual([
      'ADDED Active',
      'MODIFIED Terminating',
      'DELETED Terminating',
    ])
  })

  it('loses its pods first, then the rest, and RoleBindings and Roles right before it goes itself', async () => {
    await make('ordered', 'a')
    await wire.must('POST', '/api/v1/namespaces/ordered/pods', { metadata: { name: 'p' }, ...podSpec })
    await client.create(rbac('roles'), { metadata: { name: 'r', namespace: 'ordered' }, rules: [] })
    await client.create(rbac('rolebindings'), {
      metadata: { name: 'b', namespace: 'ordered' },
      subjects: [],
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
    })
    const { resourceVersion = '' } = (await client.list(namespaces)).metadata
    await client.delete(namespaces, { name: 'ordered' })
    await gone('ordered')
    const removals: { kind: string; version: number }[] = []
    for (const path of [
      '/api/v1/namespaces/ordered/pods',
      '/api/v1/namespaces/ordered/configmaps',
      '/api/v1/namespaces/ordered/serviceaccounts',
      '/apis/rbac.authorization.k8s.io/v1/namespaces/ordered/roles',
      '/apis/rbac.authorization.k8s.io/v1/namespaces/ordered/rolebindings',
    ]) {
      const lost = path.endsWith('configmaps') ? 2 : 1
      const events = await wire.events(
        `${path}?watch=1&resourceVersion=${resourceVersion}`,
        (seen) => seen.filter((e) => e.type === 'DELETED').length === lost,
      )
      for (const { object } of events) {
        removals.push({ kind: String(object.kind), version: Number(object.metadata.resourceVersion) })
      }
    }
    const order = removals.sort((a, b) => a.version - b.version).map((r) => r.kind)
    expect(order[0]).toBe('Pod')
    expect(new Set(order.slice(1, -2))).toEqual(new Set(['ConfigMap', 'ServiceAccount']))
    expect(new Set(order.slice(-2))).toEqual(new Set(['Role', 'RoleBinding']))
  })

  it('keeps all but its pods while a pod is left', async () => {
    await make('pods-first', 'a')
    const metadata = { name: 'p', finalizers: ['ex.io/wait'] }
    await wire.must('POST', '/api/v1/namespaces/pods-first/pods', { metadata, ...podSpec })
    await client.delete(namespaces, { name: 'pods-first' })
    const state = await reported('pods-first')
    expect((await wire.must('GET', '/api/v1/namespaces/pods-first/pods/p')).metadata.deletionTimestamp).toBeDefined()
    const kept = await wire.must('GET', '/api/v1/namespaces/pods-first/configmaps/a')
    expect(kept.metadata.deletionTimestamp).toBeUndefined()
    // Upstream reports False here; what remains is what remains.
    expect(conditionsOf(state ?? { metadata: {} }).get('NamespaceContentRemaining')?.status).toBe('True')
    await unfinalized('pods', 'pods-first', 'p')
    await gone('pods-first')
  })

  it('says what blocks it, by name, with its finalizers', async () => {
    await make('blocked', 'a', { name: 'held', finalizers: ['ex.io/one', 'ex.io/two'] })
    await client.create(core('secrets'), { metadata: { name: 's', namespace: 'blocked', finalizers: ['ex.io/one'] } })
    await client.delete(namespaces, { name: 'blocked' })
    const conditions = conditionsOf((await reported('blocked')) ?? { metadata: {} })
    expect([...conditions].map(([type, c]) => [type, c.status, c.reason, c.message])).toEqual([
      ['NamespaceDeletionDiscoveryFailure', 'False', 'ResourcesDiscovered', 'All resources successfully discovered'],
      [
        'NamespaceDeletionGroupVersionParsingFailure',
        'False',
        'ParsedGroupVersions',
        'All legacy kube types successfully parsed',
      ],
      [
        'NamespaceDeletionContentFailure',
        'False',
        'ContentDeleted',
        'All content successfully deleted, may be waiting on finalization',
      ],
      [
        'NamespaceContentRemaining',
        'True',
        'SomeResourcesRemain',
        'Some resources are remaining: configmaps. has 1 resource instances, secrets. has 1 resource ' +
          'instances: configmaps/held, secrets/s',
      ],
      [
        'NamespaceFinalizersRemaining',
        'True',
        'SomeFinalizersRemain',
        'Some content in the namespace has finalizers remaining: ex.io/one in 2 resource instances, ' +
          'ex.io/two in 1 resource instances: configmaps/held, secrets/s',
      ],
    ])
    expect((await wire.must('GET', '/api/v1/namespaces/blocked/configmaps/held')).metadata).toMatchObject({
      deletionTimestamp: expect.any(String) as string,
      deletionGracePeriodSeconds: 0,
    })
    await unfinalized('configmaps', 'blocked', 'held')
    await until('blocked', (o) => !conditionsOf(o).get('NamespaceContentRemaining')?.message.includes('configmaps'))
    await unfinalized('secrets', 'blocked', 's')
    expect(await gone('blocked')).toBeUndefined()
  })

  it('names ten of the objects that block it, and how many more there are', async () => {
    const held = Array.from({ length: 13 }, (_, i) => ({ name: `c-${10 + i}`, finalizers: ['ex.io/wait'] }))
    await make('crowded', ...held)
    await client.delete(namespaces, { name: 'crowded' })
    const message = conditionsOf((await reported('crowded')) ?? { metadata: {} }).get(
      'NamespaceContentRemaining',
    )?.message
    expect(message).toBe(
      `Some resources are remaining: configmaps. has 13 resource instances: ${held
        .slice(0, 10)
        .map((h) => `configmaps/${h.name}`)
        .join(', ')} and 3 more`,
    )
    for (const { name } of held) await unfinalized('configmaps', 'crowded', name)
    await gone('crowded')
  })

  it('as soon as its last foreign finalizer goes, without another DELETE', async () => {
    await client.create(namespaces, { metadata: { name: 'foreign' }, spec: { finalizers: ['ex.io/a', 'kubernetes'] } })
    await client.delete(namespaces, { name: 'foreign' })
    const waiting = await until('foreign', (o) => JSON.stringify(o['spec']) === '{"finalizers":["ex.io/a"]}')
    await client.update(
      namespaces,
      { ...waiting, metadata: waiting?.metadata ?? {}, spec: {} },
      { subresource: 'finalize' },
    )
    expect(await gone('foreign')).toBeUndefined()
  })

  it('can be made again at once, and is another one', async () => {
    await make('again', 'old')
    const before = await client.get(namespaces, { name: 'again' })
    await client.delete(namespaces, { name: 'again' })
    await gone('again')
    await make('again')
    expect((await client.get(namespaces, { name: 'again' })).metadata.uid).not.toBe(before.metadata.uid)
    expect((await wire.call('GET', '/api/v1/namespaces/again/configmaps/old')).status).toBe(404)
  })
})

const podSpec = { spec: { containers: [{ name: 'main', image: 'nginx' }] } }
const deployment = {
  metadata: { name: 'd' },
  spec: {
    selector: { matchLabels: { app: 'd' } },
    template: { metadata: { labels: { app: 'd' } }, ...podSpec },
  },
}

describe('a namespace is created with', () => {
  it('its ServiceAccount and the certificate authority, in the same commit', async () => {
    const made = await client.create(namespaces, { metadata: { name: 'made' } })
    const account = await client.get(core('serviceaccounts'), { namespace: 'made', name: 'default' })
    const authority = await client.get(core('configmaps'), { namespace: 'made', name: 'kube-root-ca.crt' })
    const commitOf = (o: KubeObject): number => Math.floor(Number(o.metadata.resourceVersion) / 1024)
    expect([commitOf(account), commitOf(authority)]).toEqual([commitOf(made), commitOf(made)])
    expect((authority['data'] as Record<string, string>)['ca.crt']).toContain('BEGIN CERTIFICATE')
    expect(new Set([made, account, authority].map((o) => o.metadata.resourceVersion)).size).toBe(3)
  })

  it('what comes back when somebody deletes it', async () => {
    await make('robbed')
    for (const [resource, name] of [
      ['serviceaccounts', 'default'],
      ['configmaps', 'kube-root-ca.crt'],
    ] as const) {
      const before = await client.get(core(resource), { namespace: 'robbed', name })
      const path = `/api/v1/namespaces/robbed/${resource}?watch=1&resourceVersion=${before.metadata.resourceVersion}`
      const events = await wire.events(
        path,
        (seen) => seen.some((e) => e.type === 'ADDED'),
        () => void client.delete(core(resource), { namespace: 'robbed', name }),
      )
      expect(events.map((e) => e.type)).toEqual(['DELETED', 'ADDED'])
      expect(events[1]?.object.metadata.uid).not.toBe(before.metadata.uid)
    }
  })

  it('a certificate authority that comes back when somebody changes it', async () => {
    await make('forged')
    const ref = { namespace: 'forged', name: 'kube-root-ca.crt' }
    const before = await client.get(core('configmaps'), ref)
    const path = `/api/v1/namespaces/forged/configmaps?watch=1&resourceVersion=${before.metadata.resourceVersion}`
    const events = await wire.events(
      path,
      (seen) => seen.length === 2,
      () => void client.patch(core('configmaps'), ref, { data: { 'ca.crt': 'mine' } }),
    )
    expect(events[1]?.object['data']).toEqual(before['data'])
  })

  it('what does not come back while it is terminating', async () => {
    await make('ending', { name: 'held', finalizers: ['ex.io/wait'] })
    await client.delete(namespaces, { name: 'ending' })
    await reported('ending')
    const accounts = await wire.must('GET', '/api/v1/namespaces/ending/serviceaccounts')
    expect(accounts.items).toEqual([])
    await unfinalized('configmaps', 'ending', 'held')
    await gone('ending')
    expect((await wire.must('GET', '/api/v1/namespaces/ending/serviceaccounts')).items).toEqual([])
  })
})

describe('a namespace without the kubernetes finalizer', () => {
  const path = '/api/v1/namespaces/let-go'

  /** Nothing puts back what it was created with, so that it can be empty. */
  async function letGo(its: Wire): Promise<void> {
    await its.must('POST', '/api/v1/namespaces', { metadata: { name: 'let-go' } })
    for (const resource of ['configmaps', 'serviceaccounts']) await its.must('DELETE', `${path}/${resource}`)
    await its.must('PUT', `${path}/finalize`, { metadata: { name: 'let-go' }, spec: {} })
    expect((await its.must('GET', path)).spec).toEqual({})
  }

  it.each([0, 3])('goes by one DELETE all the same, with %i objects in it', async (objects) => {
    await using bare = await startControlPlane({
      population: false,
      controllers: (name) => name === 'namespace-controller',
    })
    const its = new Wire(bare)
    await letGo(its)
    for (let i = 0; i < objects; i++) await its.must('POST', `${path}/configmaps`, { metadata: { name: `c-${i}` } })
    const events = await its.events(
      '/api/v1/namespaces?watch=1&fieldSelector=metadata.name=let-go',
      (seen) => seen.at(-1)?.type === 'DELETED',
      () => void its.must('DELETE', path),
    )
    expect(events.map((e) => [e.type, e.object.spec])).toEqual([
      ['ADDED', {}],
      ['MODIFIED', { finalizers: ['kubernetes'] }],
      ['DELETED', { finalizers: ['kubernetes'] }],
    ])
    expect((await its.must('GET', `${path}/configmaps`)).items).toEqual([])
  })
})
