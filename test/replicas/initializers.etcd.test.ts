/** Three replicas on one etcd: who waits, who may write and who sees it does not depend on whom one asks. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { silentLog } from '../../src/base/log.ts'
import { runInitializer } from '../../src/initializer/run-initializer.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { EtcdServer, etcdMissing, etcdVersion } from '../support/etcd-server.ts'
import { isThere, waitFor } from '../support/wait-for.ts'
import { type Answer, Wire } from '../support/wire.ts'

const rounds = 9
const namespacesPath = '/api/v1/namespaces'
const configurationsPath = '/apis/admissionregistration.k8s.io/v1alpha1/namespaceinitializerconfigurations'
const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const initializer = 'one.ex.io'

describe.skipIf(etcdVersion === undefined)(`initializers${etcdVersion ? '' : ` (skipped: ${etcdMissing})`}`, () => {
  let etcd: EtcdServer
  let planes: TestControlPlane[]
  let wires: Wire[]

  beforeAll(async () => {
    etcd = await EtcdServer.start()
    const storage = { engine: 'etcd', endpoints: [new URL(etcd.endpoint).host], prefix: '/initializers' } as const
    planes = await Promise.all([0, 1, 2].map(() => startControlPlane({ storage, population: false })))
    wires = planes.map((plane) => new Wire(plane))
    const [wire] = wires
    const rbac = '/apis/rbac.authorization.k8s.io/v1'
    await wire?.must('POST', `${rbac}/clusterroles`, {
      metadata: { name: 'dev' },
      rules: [{ apiGroups: [''], resources: ['namespaces', 'configmaps'], verbs: ['get', 'list', 'create'] }],
    })
    await wire?.must('POST', `${rbac}/clusterrolebindings`, {
      metadata: { name: 'dev' },
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'dev' }],
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'dev' },
    })
  }, 120_000)

  afterAll(async () => {
    for (const plane of planes ?? []) await plane[Symbol.asyncDispose]()
    await etcd?.[Symbol.asyncDispose]()
  }, 120_000)

  /** Each replica in each part. */
  async function everyWay(round: (a: Wire, b: Wire, c: Wire, name: string) => Promise<void>): Promise<void> {
    for (let i = 0; i < rounds; i++) {
      const [a, b, c] = [wires[i % 3], wires[(i + 1 + (i % 2)) % 3], wires[(i + 2 - (i % 2)) % 3]]
      if (a && b && c) await round(a, b, c, `n-${i}`)
    }
  }

  const configure = (wire: Wire, name: string): Promise<unknown> =>
    wire.must('POST', configurationsPath, { metadata: { name }, initializers: [{ name: initializer }] })
  const write = (wire: Wire, namespace: string): Promise<Answer> =>
    wire.as('dev').call('POST', `${namespacesPath}/${namespace}/configmaps`, { metadata: { generateName: 'x-' } })
  const listed = async (wire: Wire): Promise<(string | undefined)[]> =>
    (await wire.as('dev').must('GET', namespacesPath)).items.map((n) => n.metadata.name)

  it('created and held on one, initialized through another, read on a third', async () => {
    await configure(wires[0] as Wire, 'a')
    await everyWay(async (a, b, c, name) => {
      let answered = false
      const held = a.call('POST', namespacesPath, { metadata: { name } }).finally(() => {
        answered = true
      })
      await waitFor((planes[wires.indexOf(b)] as TestControlPlane).client, namespaces, { name }, isThere)
      expect(answered).toBe(false)
      expect((await write(c, name)).status).toBe(429)
      expect(await listed(c)).not.toContain(name)
      const done = { spec: { initializers: { pending: [] } } }
      await b.must('PATCH', `${namespacesPath}/${name}`, done, 'application/merge-patch+json')
      expect((await c.must('GET', `${namespacesPath}/${name}`)).status).toMatchObject({ phase: 'Active' })
      expect((await write(c, name)).status).toBe(201)
      expect(await listed(c)).toContain(name)
      expect(await held).toMatchObject({ status: 201, body: { status: { phase: 'Active' } } })
    })
  })

  it('a configuration made on one holds for the next create on another, and so does its end', async () => {
    await wires[0]?.must('DELETE', `${configurationsPath}/a`)
    await everyWay(async (a, b, c, name) => {
      await configure(a, name)
      const path = `${namespacesPath}?includeUninitialized=true`
      expect((await b.must('POST', path, { metadata: { name: `with-${name}` } })).status).toMatchObject({
        phase: 'Initializing',
      })
      await c.must('DELETE', `${configurationsPath}/${name}`)
      expect((await b.must('POST', path, { metadata: { name: `without-${name}` } })).status).toEqual({
        phase: 'Active',
      })
    })
  })

  it('what a deleted configuration or runInitializer releases on one answers creates held on another', async () => {
    await configure(wires[0] as Wire, 'a')
    const [one, two] = planes as [TestControlPlane, TestControlPlane]
    const held = wires[1]?.call('POST', namespacesPath, { metadata: { name: 'released' } })
    await waitFor(one.client, namespaces, { name: 'released' }, isThere)
    const stop = new AbortController()
    let calls = 0
    const running = runInitializer({
      name: initializer,
      client: two.client,
      signal: stop.signal,
      log: silentLog,
      async initialize() {
        calls++
      },
    })
    expect(await held).toMatchObject({ status: 201, body: { status: { phase: 'Active' } } })
    const others = wires.map((wire, i) => wire.call('POST', namespacesPath, { metadata: { name: `by-library-${i}` } }))
    for (const answer of await Promise.all(others)) expect(answer.body.status).toMatchObject({ phase: 'Active' })
    stop.abort()
    await running
    expect(calls).toBe(4)
    const last = wires[2]?.call('POST', namespacesPath, { metadata: { name: 'let-go' } })
    await waitFor(one.client, namespaces, { name: 'let-go' }, isThere)
    await wires[0]?.must('DELETE', `${configurationsPath}/a`)
    expect(await last).toMatchObject({ status: 201, body: { status: { phase: 'Active' } } })
  })
})
