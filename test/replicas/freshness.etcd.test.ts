/**
 * Three replicas on one etcd: what one of them acknowledged holds at the others at once. Every test writes through one
 * replica and asks another in the same breath, many times over. Those about rights, tokens and kinds fail at once
 * without the stage `catchUp`; the others without the refreshes of reads and refusals.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { EtcdServer, etcdMissing, etcdVersion } from '../support/etcd-server.ts'
import { Wire } from '../support/wire.ts'

const rounds = 20
const rbac = '/apis/rbac.authorization.k8s.io/v1'

describe.skipIf(etcdVersion === undefined)(`replicas${etcdVersion ? '' : ` (skipped: ${etcdMissing})`}`, () => {
  let etcd: EtcdServer
  let planes: TestControlPlane[]
  let wires: Wire[]
  let count = 0

  beforeAll(async () => {
    etcd = await EtcdServer.start()
    const endpoints = [new URL(etcd.endpoint).host]
    const storage = { engine: 'etcd', endpoints, prefix: '/fresh' } as const
    planes = await Promise.all([0, 1, 2].map(() => startControlPlane({ storage, population: false })))
    wires = planes.map((plane) => new Wire(plane))
  }, 120_000)

  afterAll(async () => {
    for (const plane of planes ?? []) await plane[Symbol.asyncDispose]()
    await etcd?.[Symbol.asyncDispose]()
  }, 120_000)

  /** Calls `round` with another pair of replicas each time. */
  async function everyWay(round: (here: Wire, there: Wire, name: string) => Promise<void>): Promise<void> {
    for (let i = 0; i < rounds; i++) {
      const [here, there] = [wires[i % 3], wires[(i + 1 + (i % 2)) % 3]]
      if (here && there) await round(here, there, `n-${++count}`)
    }
  }

  it('an object that was created can be read, by name and in a list', async () => {
    await everyWay(async (here, there, name) => {
      await here.must('POST', '/api/v1/namespaces', { metadata: { name } })
      await here.must('POST', `/api/v1/namespaces/${name}/configmaps`, { metadata: { name: 'a' } })
      expect((await there.call('GET', `/api/v1/namespaces/${name}/configmaps/a`)).status).toBe(200)
      const { items } = await there.must('GET', `/api/v1/namespaces/${name}/configmaps`)
      expect(items.map((o) => o.metadata.name)).toEqual(['a', 'kube-root-ca.crt'])
      await here.must('DELETE', `/api/v1/namespaces/${name}/configmaps/a`)
      expect((await there.call('GET', `/api/v1/namespaces/${name}/configmaps/a`)).status).toBe(404)
    })
  })

  it('a right that was given can be used, one that was taken cannot', async () => {
    await wires[0]?.must('POST', `${rbac}/clusterroles`, {
      metadata: { name: 'reader' },
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] }],
    })
    await everyWay(async (here, there, name) => {
      await here.must('POST', `${rbac}/clusterrolebindings`, {
        metadata: { name },
        subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name }],
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reader' },
      })
      expect((await there.as(name).call('GET', '/api/v1/configmaps?limit=1')).status).toBe(200)
      await here.must('DELETE', `${rbac}/clusterrolebindings/${name}`)
      expect((await there.as(name).call('GET', '/api/v1/configmaps?resourceVersion=0&limit=1')).status).toBe(403)
    })
  })

  it('a creator gets a namespace that initializes, and learns which names are free', async () => {
    await wires[0]?.must('POST', `${rbac}/clusterrolebindings`, {
      metadata: { name: 'makers' },
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'maker' }],
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'borough:namespace-creator' },
    })
    const configurations = '/apis/admissionregistration.k8s.io/v1alpha1/namespaceinitializerconfigurations'
    await wires[0]?.must('POST', configurations, { metadata: { name: 'slow' }, initializers: [{ name: 'slow.ex.io' }] })
    await everyWay(async (here, there, name) => {
      const path = `/api/v1/namespaces/${name}`
      const codes = async (): Promise<number[]> => [
        (await there.as('maker').call('GET', path)).status,
        (await there.as('eve').call('GET', path)).status,
      ]
      expect(await codes()).toEqual([404, 403])
      await here.as('maker').must('POST', '/api/v1/namespaces?includeUninitialized=true', { metadata: { name } })
      expect(await codes()).toEqual([200, 403])
      await here.must('PATCH', path, { spec: { initializers: { pending: [] } } }, 'application/merge-patch+json')
      expect(await codes()).toEqual([403, 403])
    })
    await wires[0]?.must('DELETE', `${configurations}/slow`)
  })

  it('a namespace that is being deleted takes nothing more, and is not found when it is gone', async () => {
    await everyWay(async (here, there, name) => {
      await here.must('POST', '/api/v1/namespaces', {
        metadata: { name },
        spec: { finalizers: ['kubernetes', 'example.com/slow'] },
      })
      const create = (): ReturnType<Wire['call']> =>
        there.call('POST', `/api/v1/namespaces/${name}/secrets`, { metadata: { generateName: 's-' } })
      expect((await create()).status).toBe(201)
      await here.must('DELETE', `/api/v1/namespaces/${name}`)
      const refused = await create()
      expect([refused.status, refused.body.details?.causes?.[0]?.reason]).toEqual([403, 'NamespaceTerminating'])
    })
  })

  it('a quota binds, and what it counts is exact', async () => {
    await everyWay(async (here, there, name) => {
      await here.must('POST', '/api/v1/namespaces', { metadata: { name } })
      const path = `/api/v1/namespaces/${name}`
      await here.must('POST', `${path}/resourcequotas`, { metadata: { name: 'q' }, spec: { hard: { secrets: '1' } } })
      expect((await there.call('POST', `${path}/secrets`, { metadata: { name: 'a' } })).status).toBe(201)
      const second = await here.call('POST', `${path}/secrets`, { metadata: { name: 'b' } })
      expect([second.status, second.body.message]).toEqual([403, expect.stringContaining('exceeded quota: q')])
      const { status } = await there.must('GET', `${path}/resourcequotas/q`)
      expect(status).toEqual({ hard: { secrets: '1' }, used: { secrets: '1' } })
      await there.must('DELETE', `${path}/resourcequotas/q`)
      expect((await here.call('POST', `${path}/secrets`, { metadata: { name: 'b' } })).status).toBe(201)
    })
  })

  it('a token of an account is good as soon as it is there, and as long as the account is', async () => {
    await everyWay(async (here, there, name) => {
      const path = '/api/v1/namespaces/default/serviceaccounts'
      await here.must('POST', path, { metadata: { name } })
      const asked = await here.must('POST', `${path}/${name}/token`, { spec: {} })
      const { token } = asked.status as { token: string }
      const review = async (by: Wire): Promise<unknown> =>
        (await by.must('POST', '/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token } })).status
      expect(await review(there)).toMatchObject({ authenticated: true })
      await here.must('DELETE', `${path}/${name}`)
      expect(await review(there)).not.toMatchObject({ authenticated: true })
    })
  })

  it('a kind that was established is served, in discovery too', async () => {
    await everyWay(async (here, there, name) => {
      const group = `${name}.example.com`
      const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' }
      const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
      const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
      const made = await here.must('POST', definitions, {
        metadata: { name: `widgets.${group}` },
        spec: {
          group,
          names,
          scope: 'Namespaced',
          versions: [{ name: 'v1', served: true, storage: true, schema }],
        },
      })
      await here.events(
        `${definitions}?watch=1&fieldSelector=metadata.name=widgets.${group}` +
          `&resourceVersion=${made.metadata.resourceVersion}`,
        (seen) => JSON.stringify(seen.at(-1)?.object.status).includes('"type":"Established"'),
      )
      expect((await there.call('GET', `/apis/${group}/v1`)).status).toBe(200)
      const widget = { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: 'w' } }
      expect((await there.call('POST', `/apis/${group}/v1/namespaces/default/widgets`, widget)).status).toBe(201)
    })
  })

  it('a list goes on at another replica, page by page, at the revision of its first page', async () => {
    const [here, there] = wires as [Wire, Wire]
    await here.must('POST', '/api/v1/namespaces', { metadata: { name: 'pages' } })
    const path = '/api/v1/namespaces/pages/secrets'
    for (let i = 0; i < 9; i++) await here.must('POST', path, { metadata: { name: `s-${i}` } })
    const names: (string | undefined)[] = []
    let token = ''
    for (let page = 0; page === 0 || token !== ''; page++) {
      const by = page % 2 === 0 ? here : there
      const { items, metadata } = await by.must('GET', `${path}?limit=2&continue=${encodeURIComponent(token)}`)
      names.push(...items.map((o) => o.metadata.name))
      token = (metadata as { continue?: string }).continue ?? ''
      await by.must('DELETE', `${path}/s-8`).catch(() => undefined)
    }
    expect(names).toEqual(Array.from({ length: 9 }, (_, i) => `s-${i}`))
  })

  it('a watch goes on at another replica where it stopped, again and again, and repeats or skips none', async () => {
    await wires[0]?.must('POST', '/api/v1/namespaces', { metadata: { name: 'moving' } })
    const path = '/api/v1/namespaces/moving/configmaps'
    const start = (await wires[0]?.must('GET', path))?.metadata.resourceVersion ?? ''
    const total = 120
    const writing = Promise.all(
      wires.map(async (wire, w) => {
        for (let i = 0; i < total / 3; i++) await wire.must('POST', path, { metadata: { name: `c-${w}-${i}` } })
      }),
    )
    const seen: string[] = []
    let from = start
    for (let turn = 0; seen.length < total; turn++) {
      const events = await (wires[turn % 3] as Wire).events(
        `${path}?watch=1&resourceVersion=${from}`,
        (all) => all.length >= 7 || seen.length + all.length >= total,
      )
      for (const { object } of events) {
        seen.push(object.metadata.name ?? '')
        expect(Number(object.metadata.resourceVersion)).toBeGreaterThan(Number(from))
        from = object.metadata.resourceVersion ?? ''
      }
    }
    await writing
    const { items } = await (wires[0] as Wire).must('GET', path)
    const made = items.map((o) => o.metadata.name ?? '').filter((name) => name.startsWith('c-'))
    expect([...seen].sort()).toEqual(made.sort())
    expect(new Set(seen).size).toBe(total)
  })
})
