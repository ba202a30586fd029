/** Population and initialization go on where a stopped server left them. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { EventRecorder } from '../../src/apis/events/recorder.ts'
import { ConfigMapRecords } from '../../src/apis/templates/config-map-records.ts'
import { populationControllers } from '../../src/apis/templates/reconcile.ts'
import { templateControllerName } from '../../src/apis/templates/types.ts'
import { defaultConfig } from '../../src/app/config.ts'
import { type ControlPlane, createControlPlane } from '../../src/app/control-plane.ts'
import { systemClock } from '../../src/base/clock.ts'
import { randomIds } from '../../src/base/ids.ts'
import { silentLog } from '../../src/base/log.ts'
import { runController } from '../../src/controller/run-controller.ts'
import { fetchAdapter } from '../../src/http/fetch.ts'
import { serviceAccountUser } from '../../src/kube/user.ts'
import { isGone, isThere, waitFor } from '../support/wait-for.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const templates = { group: 'policy.borough.dev', version: 'v1alpha1', resource: 'namespacetemplates' }
const one = { namespace: 'team', name: 'one' }
const spec = {
  namespaces: { nameSelector: { include: ['team'] } },
  templates: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' }, data: { a: '1' } }],
}

let dataDir: string
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'borough-restart-'))
})
afterEach(() => rm(dataDir, { recursive: true }))

const start = (controllers: boolean): Promise<ControlPlane> =>
  createControlPlane({ ...defaultConfig, dataDir, storage: { engine: 'sqlite' }, controllers: () => controllers })

test('a namespace that was waiting to be populated is populated by the next server', async () => {
  {
    await using plane = await start(false)
    await plane.client().create(templates, { metadata: { name: 't' }, spec })
    const begun = await plane
      .client()
      .create(namespaces, { metadata: { name: 'team' } }, { includeUninitialized: true })
    expect(begun['status']).toMatchObject({ phase: 'Initializing' })
  }
  await using plane = await start(true)
  await waitFor(plane.client(), namespaces, { name: 'team' }, (n) => JSON.stringify(n?.['status']).includes('"Active"'))
  expect(await plane.client().get(configMaps, one)).toMatchObject({ data: { a: '1' } })
})

test('what drifted, and what a template dropped, while no controller ran is put right', async () => {
  {
    await using plane = await start(true)
    const client = plane.client()
    const both = [...spec.templates, { ...spec.templates[0], metadata: { name: 'two' } }]
    await client.create(templates, { metadata: { name: 't' }, spec: { ...spec, templates: both } })
    await client.create(namespaces, { metadata: { name: 'team' } })
  }
  {
    await using plane = await start(false)
    await plane.client().patch(configMaps, one, { data: { a: 'x' } })
    await plane.client().patch(templates, { name: 't' }, { spec })
  }
  await using plane = await start(true)
  await waitFor(plane.client(), configMaps, one, (o) => JSON.stringify(o?.['data']) === '{"a":"1"}')
  await waitFor(plane.client(), configMaps, { ...one, name: 'two' }, isGone)
})

/** Requests of one verb about ConfigMaps, by the server's own count. */
async function countOf(plane: ControlPlane, verb: string): Promise<number> {
  const user = { username: 'admin', groups: ['system:masters', 'system:authenticated'] }
  const answer = await fetchAdapter(plane.serve, user)(new Request('https://borough.test/metrics'))
  const counts = (await answer.text())
    .split('\n')
    .filter((line) => line.startsWith('apiserver_request_duration_seconds_count'))
    .filter((line) => line.includes(`verb="${verb}"`) && line.includes('resource="configmaps"'))
  return counts.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

test('what is as it was applied is not applied again, what drifted beside it is', async () => {
  const both = [...spec.templates, { ...spec.templates[0], metadata: { name: 'two' } }]
  {
    await using plane = await start(true)
    const client = plane.client()
    await client.create(templates, { metadata: { name: 't' }, spec: { ...spec, templates: both } })
    await client.create(namespaces, { metadata: { name: 'team' } })
    expect(await countOf(plane, 'PATCH')).toBe(2)
  }
  {
    await using plane = await start(false)
    await plane.client().patch(configMaps, { ...one, name: 'two' }, { data: { a: 'x' } })
  }
  await using plane = await start(true)
  const two = { ...one, name: 'two' }
  await waitFor(plane.client(), configMaps, two, (o) => JSON.stringify(o?.['data']) === '{"a":"1"}')
  // Refused once, since somebody else owns the field, and then forced.
  expect(await countOf(plane, 'PATCH')).toBe(2)
})

test('a template that was being deleted still prunes', async () => {
  {
    await using plane = await start(true)
    await plane.client().create(templates, { metadata: { name: 't' }, spec })
    await plane.client().create(namespaces, { metadata: { name: 'team' } })
    await waitFor(plane.client(), configMaps, one, isThere)
  }
  {
    await using plane = await start(false)
    await plane.client().delete(templates, { name: 't' })
  }
  await using plane = await start(true)
  await waitFor(plane.client(), templates, { name: 't' }, isGone)
  await waitFor(plane.client(), configMaps, one, isGone)
})

test('a first look at the cluster that fails is repeated', async () => {
  await using plane = await createControlPlane({
    ...defaultConfig,
    storage: { engine: 'memory' },
    controllers: (name) => name !== templateControllerName,
  })
  const admin = plane.client()
  await admin.create(templates, { metadata: { name: 't' }, spec })
  await admin.create(namespaces, { metadata: { name: 'team' } }, { includeUninitialized: true })
  const client = plane.client(serviceAccountUser('kube-system', templateControllerName))
  let asked = 0
  const findKind: typeof client.discovery.findKind = async (...kind) => {
    if (asked++ === 0) throw new Error('connection reset')
    return client.discovery.findKind(...kind)
  }
  const discovery = new Proxy(client.discovery, {
    get: (target, key) => (key === 'findKind' ? findKind : Reflect.get(target, key)),
  })
  const failing = new Proxy(client, {
    get: (target, key) => {
      if (key === 'discovery') return discovery
      const value = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const deps = {
    client: failing,
    clock: systemClock,
    onError: () => {},
    events: new EventRecorder({ client, clock: systemClock, ids: randomIds, log: silentLog, component: 'test' }),
    records: new ConfigMapRecords({
      client: admin,
      clock: systemClock,
      namespace: 'kube-system',
      onError: () => {},
    }),
  }
  const stop = new AbortController()
  const running = populationControllers(deps).map((spec) =>
    runController(spec, { clock: systemClock, log: silentLog }, stop.signal),
  )
  await waitFor(admin, configMaps, one, isThere)
  expect(asked).toBeGreaterThan(1)
  stop.abort()
  await Promise.all(running)
})
