import { expect, test } from 'vitest'
import { failure, invalidObject, refusal } from '../../test/support/refusal.ts'
import {
  configMap,
  configMaps,
  countingIds,
  namespaces,
  pods,
  startFixture,
} from '../../test/support/registry-fixture.ts'
import type { AdmissionPlugin } from '../admission/admission.ts'
import { forbidden } from '../kube/status-error.ts'
import { singleObject } from '../kube/stored-form.ts'

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString()

test('a created object is complete, stored without TypeMeta, and visible when the answer comes', async () => {
  await using f = await startFixture()
  const stored = await f.registry.create(f.scope(configMaps, ''), configMap('a', { k: 'v' }))
  expect(stored.object).toEqual({
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: {
      resourceVersion: String(stored.revision),
      name: 'a',
      namespace: 'ns',
      uid: 'uid-1',
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    data: { k: 'v' },
  })
  expect(text(stored.bytes)).toBe(
    '{"metadata":{"name":"a","namespace":"ns","uid":"uid-1","creationTimestamp":"2026-01-01T00:00:00Z"},' +
      '"data":{"k":"v"}}',
  )
  expect(f.lister.find(configMaps, 'ns', 'a')?.revision).toBe(stored.revision)
  const read = await f.registry.get(configMaps, 'ns', 'a')
  expect(JSON.parse(text(singleObject(configMaps, read.revision, read)))).toEqual(stored.object)
})

test('what a client may not set is wiped, status included, and generation begins at 1', async () => {
  await using f = await startFixture()
  const stored = await f.registry.create(f.scope(pods, ''), {
    metadata: {
      name: 'p',
      uid: 'mine',
      generation: 9,
      creationTimestamp: '1999-01-01T00:00:00Z',
      deletionTimestamp: '1999-01-01T00:00:00Z',
      deletionGracePeriodSeconds: 5,
    },
    spec: { nodeName: 'n' },
    status: { phase: 'Running' },
  })
  expect(stored.object).toEqual({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {
      resourceVersion: String(stored.revision),
      name: 'p',
      namespace: 'ns',
      uid: 'uid-1',
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    spec: { nodeName: 'n' },
  })
})

test('the status of a new object is kept where the kind says so', async () => {
  await using f = await startFixture({ deps: { strategyOf: () => ({ keepsNewStatus: true }) } })
  const stored = await f.registry.create(f.scope(pods, ''), { metadata: { name: 'p' }, status: { phase: 'Running' } })
  expect(stored.object['status']).toEqual({ phase: 'Running' })
})

const refusals = [
  {
    name: 'a resourceVersion in the body is refused without a reason, as upstream does',
    given: configMap('a', {}, { resourceVersion: '5' }),
    want: failure({ message: 'resourceVersion should not be set on objects to be created', code: 500 }),
  },
  {
    name: 'an invalid object with a resourceVersion is invalid first',
    given: configMap('A_b', {}, { resourceVersion: '5' }),
    want: expect.objectContaining({ reason: 'Invalid' }),
  },
  {
    name: 'a namespace that differs from the request is a bad request',
    given: configMap('a', {}, { namespace: 'other' }),
    want: failure({
      message: 'the namespace of the provided object does not match the namespace sent on the request',
      reason: 'BadRequest',
      code: 400,
    }),
  },
  {
    name: 'neither name nor generateName is invalid',
    given: { metadata: {} },
    want: invalidObject({ kind: 'ConfigMap', name: '' }, [
      'metadata.name: Required value: name or generateName is required',
    ]),
  },
]
for (const { name, given, want } of refusals) {
  test(name, async () => {
    await using f = await startFixture()
    expect(await refusal(f.registry.create(f.scope(configMaps, ''), given))).toEqual(want)
  })
}

test('a taken name is AlreadyExists; if its owner is being deleted, the message says so', async () => {
  await using f = await startFixture()
  await f.registry.create(f.scope(configMaps, ''), configMap('a'))
  expect(await refusal(f.registry.create(f.scope(configMaps, ''), configMap('a')))).toEqual(
    failure({
      message: 'configmaps "a" already exists',
      reason: 'AlreadyExists',
      details: { name: 'a', kind: 'configmaps' },
      code: 409,
    }),
  )
  await f.registry.create(f.scope(configMaps, ''), configMap('b', {}, { finalizers: ['a.b/c'] }))
  await f.registry.delete(f.scope(configMaps, 'b'), {})
  expect(await refusal(f.registry.create(f.scope(configMaps, ''), configMap('b')))).toEqual(
    failure({
      message: 'object is being deleted: configmaps "b" already exists',
      reason: 'AlreadyExists',
      details: { name: 'b', kind: 'configmaps' },
      code: 409,
    }),
  )
})

test('a generated name that is taken is tried again, eight times', async () => {
  const suffixes = ['taken', 'taken', 'fresh', ...Array.from({ length: 8 }, () => 'taken')]
  await using f = await startFixture({ deps: { ids: countingIds(suffixes) } })
  const make = () => f.registry.create(f.scope(configMaps, ''), { metadata: { generateName: 'x-' } })
  expect((await make()).name).toBe('x-taken')
  expect((await make()).name).toBe('x-fresh')
  expect(await refusal(make())).toEqual(
    failure({
      message: 'configmaps "x-taken" already exists, the server was not able to generate a unique name for the object',
      reason: 'AlreadyExists',
      details: { name: 'x-taken', kind: 'configmaps', retryAfterSeconds: 1 },
      code: 409,
    }),
  )
})

test('a dry run goes all the way and stores nothing', async () => {
  await using f = await startFixture()
  const before = f.cache.revision
  const stored = await f.registry.create(f.scope(configMaps, '', { dryRun: true }), configMap('a'))
  expect(stored.object.metadata).not.toHaveProperty('resourceVersion')
  expect(stored.object.metadata.uid).toBe('uid-1')
  expect(f.lister.find(configMaps, 'ns', 'a')).toBeUndefined()
  expect((await f.storage.range({ start: '/', end: '0' })).revision).toBe(before)
  await f.registry.create(f.scope(configMaps, ''), configMap('a'))
  expect(await refusal(f.registry.create(f.scope(configMaps, '', { dryRun: true }), configMap('a')))).toEqual(
    failure({
      message: 'configmaps "a" already exists',
      reason: 'AlreadyExists',
      details: { name: 'a', kind: 'configmaps' },
      code: 409,
    }),
  )
})

test('mutating admission comes before validation, validating admission after it', async () => {
  const order: string[] = []
  const plugin: AdmissionPlugin = {
    name: 'P',
    handles: () => true,
    async mutate(a) {
      order.push(`mutate ${a.name}`)
      return a.object && { ...a.object, metadata: { ...a.object.metadata, labels: { seen: 'yes' } } }
    },
    async validate(a) {
      order.push(`validate ${a.object?.metadata.labels?.['seen']} ${a.object?.metadata.uid}`)
    },
    decide() {
      order.push('decide')
      return {}
    },
  }
  await using f = await startFixture({
    admission: [plugin],
    validateSchema: (o) => {
      order.push(`schema ${o.metadata.labels?.['seen']}`)
      return []
    },
  })
  await f.registry.create(f.scope(configMaps, ''), configMap('a'))
  expect(order).toEqual(['mutate a', 'schema yes', 'validate yes uid-1', 'decide'])
})

/** Stands for NamespaceLifecycle: content needs its namespace, unchanged until the commit. */
const needsNamespace: AdmissionPlugin = {
  name: 'NeedsNamespace',
  handles: (operation, type) => operation === 'CREATE' && type.namespaced,
  decide(a, view) {
    const namespace = view.see(namespaces, '', a.namespace)
    if (!namespace.object) throw forbidden(a.type, a.name, 'no namespace')
    if (namespace.object.metadata.deletionTimestamp) throw forbidden(a.type, a.name, 'terminating')
    return { guards: [{ key: namespace.key, expect: namespace.expect }] }
  },
}

test('content never gets into a namespace that is deleted in the same moment', async () => {
  await using f = await startFixture({ admission: [needsNamespace] })
  await f.registry.create(f.scope(namespaces, ''), { metadata: { name: 'ns' } })
  const deleted = f.registry.delete(f.scope(namespaces, 'ns'), {})
  const created = Promise.allSettled(
    Array.from({ length: 20 }, (_, i) => f.registry.create(f.scope(configMaps, ''), configMap(`c${i}`))),
  )
  const { revision } = (await deleted).stored
  for (const result of await created) {
    if (result.status === 'fulfilled') expect(result.value.revision).toBeLessThan(revision)
    else expect(result.reason).toMatchObject({ reason: 'Forbidden', message: expect.stringContaining('terminating') })
  }
  for (const stored of f.lister.list(configMaps, 'ns')) expect(stored.revision).toBeLessThan(revision)
})

test('a refusal is believed only from a cache that has caught up', async () => {
  await using a = await startFixture()
  await using b = await startFixture({ storage: a.storage, clock: a.clock, admission: [needsNamespace] })
  await a.registry.create(a.scope(namespaces, ''), { metadata: { name: 'ns' } })
  await expect(b.registry.create(b.scope(configMaps, ''), configMap('c'))).resolves.toMatchObject({ name: 'c' })
})
