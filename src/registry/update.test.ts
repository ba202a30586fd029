import { expect, test } from 'vitest'
import { failure, invalidObject, refusal } from '../../test/support/refusal.ts'
import {
  configMap,
  configMaps,
  events,
  type Fixture,
  namespaces,
  pods,
  startFixture,
  widgets,
} from '../../test/support/registry-fixture.ts'
import type { AdmissionPlugin, Caller } from '../admission/admission.ts'
import { Turns } from '../base/turns.ts'
import type { KubeObject } from '../kube/types.ts'
import type { Transform } from './registry.ts'

const put =
  (object: KubeObject): Transform =>
  () =>
    object
const merge =
  (patch: Record<string, unknown>, metadata: Record<string, unknown> = {}): Transform =>
  (o) => ({ ...(o as KubeObject), ...patch, metadata: { ...o?.metadata, ...metadata } })

async function withConfigMap(f: Fixture, metadata: object = {}): Promise<KubeObject> {
  return (await f.registry.create(f.scope(configMaps, ''), configMap('a', { k: '1' }, metadata))).object
}

test('a PUT replaces what it may and keeps what it may not', async () => {
  await using f = await startFixture()
  const created = await withConfigMap(f, { labels: { a: 'b' } })
  const { stored, created: made } = await f.registry.update(
    f.scope(configMaps, 'a'),
    put(
      configMap('a', { k: '2' }, { creationTimestamp: null, generation: 7, deletionTimestamp: '2000-01-01T00:00:00Z' }),
    ),
  )
  expect(made).toBe(false)
  expect(stored.object).toEqual({
    ...created,
    metadata: {
      name: 'a',
      namespace: 'ns',
      uid: created.metadata.uid,
      creationTimestamp: created.metadata.creationTimestamp,
      resourceVersion: String(stored.revision),
    },
    data: { k: '2' },
  })
  expect(stored.revision).toBeGreaterThan(Number(created.metadata.resourceVersion))
})

test('an update that changes nothing writes nothing, whatever the order of keys', async () => {
  await using f = await startFixture()
  const created = (await f.registry.create(f.scope(configMaps, ''), configMap('a', { x: '1', y: '2' }))).revision
  const { stored } = await f.registry.update(f.scope(configMaps, 'a'), put(configMap('a', { y: '2', x: '1' })))
  expect(stored.revision).toBe(created)
  expect((await f.registry.update(f.scope(configMaps, 'a'), (o) => o as KubeObject)).stored.revision).toBe(created)
})

test('new times in managedFields alone change nothing', async () => {
  let now = 0
  await using f = await startFixture({
    deps: {
      trackUpdate: ({ next }) => ({
        ...next,
        metadata: { ...next.metadata, managedFields: [{ manager: 'm', operation: 'Update', time: `t${++now}` }] },
      }),
    },
  })
  const created = await withConfigMap(f)
  const again = await f.registry.update(f.scope(configMaps, 'a'), put(configMap('a', { k: '1' })))
  expect(again.stored.object).toEqual(created)
  const changed = await f.registry.update(f.scope(configMaps, 'a'), put(configMap('a', { k: '2' })))
  expect(changed.stored.object.metadata.managedFields).toEqual([{ manager: 'm', operation: 'Update', time: 't3' }])
})

const refusals: { name: string; given: Transform; options?: object; want: object }[] = [
  {
    name: 'a resourceVersion that is not the current one is a Conflict',
    given: put(configMap('a', {}, { resourceVersion: '1' })),
    want: failure({
      message:
        'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your ' +
        'changes to the latest version and try again',
      reason: 'Conflict',
      details: { name: 'a', kind: 'configmaps' },
      code: 409,
    }),
  },
  {
    name: 'a uid in a PUT that is not the stored one is a Conflict in the words of the store',
    given: put(configMap('a', {}, { uid: 'foo' })),
    options: { preconditions: { uid: 'foo' } },
    want: failure({
      message:
        'Operation cannot be fulfilled on configmaps "a": StorageError: invalid object, Code: 4, Key: ' +
        '/registry/configmaps/ns/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in ' +
        'precondition: foo, UID in object meta: uid-1',
      reason: 'Conflict',
      details: { name: 'a', kind: 'configmaps' },
      code: 409,
    }),
  },
  {
    name: 'a resourceVersion that must be stored and is not is a Conflict in the words of the store',
    given: merge({ data: {} }),
    options: { preconditions: { resourceVersion: '1' } },
    want: failure({
      message:
        'Operation cannot be fulfilled on configmaps "a": StorageError: invalid object, Code: 4, Key: ' +
        '/registry/configmaps/ns/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: ' +
        'ResourceVersion in precondition: 1, ResourceVersion in object meta: 1024',
      reason: 'Conflict',
      details: { name: 'a', kind: 'configmaps' },
      code: 409,
    }),
  },
  {
    name: 'a patch that changes the uid is invalid',
    given: merge({}, { uid: '1' }),
    want: invalidObject({ kind: 'ConfigMap', name: 'a' }, ['metadata.uid: Invalid value: "1": field is immutable']),
  },
  {
    name: 'another name in the body is a bad request',
    given: put(configMap('b')),
    want: failure({
      message: 'the name of the object (b) does not match the name on the URL (a)',
      reason: 'BadRequest',
      code: 400,
    }),
  },
  {
    name: 'a body without a name is a bad request',
    given: put({ metadata: {} }),
    want: failure({
      message: 'the name of the object (a based on URL) was undeterminable: name must be provided',
      reason: 'BadRequest',
      code: 400,
    }),
  },
  {
    name: 'another namespace in the body is a bad request',
    given: put(configMap('a', {}, { namespace: 'other' })),
    want: failure({
      message: 'the namespace of the provided object does not match the namespace sent on the request',
      reason: 'BadRequest',
      code: 400,
    }),
  },
]
for (const { name, given, options, want } of refusals) {
  test(name, async () => {
    await using f = await startFixture()
    await withConfigMap(f)
    const before = f.cache.revision
    expect(await refusal(f.registry.update(f.scope(configMaps, 'a'), given, options))).toEqual(want)
    expect(f.cache.revision).toBe(before)
  })
}

test('what is missing is NotFound, unless it may be created', async () => {
  await using f = await startFixture()
  expect(await refusal(f.registry.update(f.scope(configMaps, 'a'), put(configMap('a'))))).toEqual(
    failure({
      message: 'configmaps "a" not found',
      reason: 'NotFound',
      details: { name: 'a', kind: 'configmaps' },
      code: 404,
    }),
  )
  const make = () => {
    const whole = put({ metadata: { name: 'e' }, reason: 'x' })
    return f.registry.update(f.scope(events, 'e'), whole, { whenMissing: () => whole({ metadata: {} }) })
  }
  expect(await make()).toMatchObject({ created: true, stored: { name: 'e' } })
  expect(await make()).toMatchObject({ created: false })
  expect(
    await refusal(
      f.registry.update(f.scope(events, 'f'), put({ metadata: { name: 'f' } }), {
        whenMissing: () => ({ metadata: { name: 'f', uid: 'abc' } }),
      }),
    ),
  ).toEqual(
    failure({
      message:
        'Operation cannot be fulfilled on events "f": uid mismatch: the provided object specified uid abc, ' +
        'and no existing object was found',
      reason: 'Conflict',
      details: { name: 'f', kind: 'events' },
      code: 409,
    }),
  )
})

test('a type without unconditional updates wants a resourceVersion', async () => {
  await using f = await startFixture()
  await f.registry.create(f.scope(widgets, ''), { metadata: { name: 'w' }, spec: { a: 1 } })
  expect(await refusal(f.registry.update(f.scope(widgets, 'w'), put({ metadata: { name: 'w' } })))).toEqual(
    invalidObject({ group: 'ex.io', kind: 'widgets', name: 'w' }, [
      'metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    ]),
  )
  const done = await f.registry.update(f.scope(widgets, 'w'), merge({ spec: { a: 2 } }))
  expect(done.stored.object.metadata.generation).toBe(2)
})

test('the main resource keeps status, the status sub-resource keeps the rest; only a spec change counts', async () => {
  await using f = await startFixture()
  await f.registry.create(f.scope(pods, ''), { metadata: { name: 'p' }, spec: { nodeName: 'n' } })
  const status = await f.registry.update(
    f.scope(pods, 'p', { subresource: 'status' }),
    merge({ spec: { nodeName: 'evil' }, status: { phase: 'Running' } }, { labels: { from: 'status' } }),
  )
  expect(status.stored.object).toMatchObject({
    metadata: { labels: { from: 'status' }, generation: 1 },
    spec: { nodeName: 'n' },
    status: { phase: 'Running' },
  })
  const main = await f.registry.update(
    f.scope(pods, 'p'),
    merge({ spec: { nodeName: 'm' }, status: { phase: 'Lies' } }),
  )
  expect(main.stored.object).toMatchObject({
    metadata: { generation: 2 },
    spec: { nodeName: 'm' },
    status: { phase: 'Running' },
  })
})

test('the status of a custom resource leaves its metadata alone', async () => {
  await using f = await startFixture()
  await f.registry.create(f.scope(widgets, ''), { metadata: { name: 'w', labels: { a: 'b' } }, spec: { a: 1 } })
  const { stored } = await f.registry.update(
    f.scope(widgets, 'w', { subresource: 'status' }),
    merge({ spec: { a: 2 }, status: { ok: true } }, { labels: {} }),
  )
  expect(stored.object).toMatchObject({
    metadata: { labels: { a: 'b' }, generation: 1 },
    spec: { a: 1 },
    status: { ok: true },
  })
})

test('concurrent patches of one object all take effect, each on the newest state', async () => {
  await using f = await startFixture()
  await f.registry.create(f.scope(configMaps, ''), configMap('a', { n: '0' }))
  const bump: Transform = (o) => {
    const { n } = (o as { data?: { n?: string } }).data ?? {}
    return { ...(o as KubeObject), data: { n: String(Number(n) + 1) } }
  }
  await Promise.all(Array.from({ length: 20 }, () => f.registry.update(f.scope(configMaps, 'a'), bump)))
  expect((await f.registry.get(configMaps, 'ns', 'a')).object).toMatchObject({ data: { n: '20' } })
})

test('the last finalizer to go takes the object with it; the answer is what was sent', async () => {
  await using f = await startFixture()
  await withConfigMap(f, { finalizers: ['a.b/c', 'a.b/d'] })
  const marked = await f.registry.delete(f.scope(configMaps, 'a'), {})
  expect(marked.removed).toBe(false)
  expect(
    await refusal(f.registry.update(f.scope(configMaps, 'a'), merge({}, { finalizers: ['a.b/c', 'a.b/d', 'x/y'] }))),
  ).toEqual(
    invalidObject({ kind: 'ConfigMap', name: 'a' }, [
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found ' +
        'new finalizers []string{"x/y"}',
    ]),
  )
  const one = await f.registry.update(
    f.scope(configMaps, 'a'),
    merge({}, { finalizers: ['a.b/d'], deletionTimestamp: null }),
  )
  expect(one.removed).toBe(false)
  expect(one.stored.object.metadata.deletionTimestamp).toBe('2026-01-01T00:00:00Z')
  const last = await f.registry.update(f.scope(configMaps, 'a'), merge({ data: { k: 'last' } }, { finalizers: [] }))
  expect(last).toMatchObject({ removed: true, stored: { revision: one.stored.revision } })
  expect(last.stored.object).toMatchObject({ data: { k: 'last' } })
  expect(f.lister.find(configMaps, 'ns', 'a')).toBeUndefined()
})

test('a namespace goes with the PUT to /finalize that empties spec.finalizers', async () => {
  await using f = await startFixture()
  await f.registry.create(f.scope(namespaces, ''), { metadata: { name: 'n' } })
  const kept = await f.registry.update(f.scope(namespaces, 'n'), merge({ spec: { finalizers: [] } }))
  expect(kept.stored.object['spec']).toEqual({ finalizers: ['kubernetes'] })
  await f.registry.delete(f.scope(namespaces, 'n'), {})
  const done = await f.registry.update(f.scope(namespaces, 'n', { subresource: 'finalize' }), merge({ spec: {} }))
  expect(done.removed).toBe(true)
  expect(await refusal((async () => f.registry.get(namespaces, '', 'n'))())).toEqual(
    failure({
      message: 'namespaces "n" not found',
      reason: 'NotFound',
      details: { name: 'n', kind: 'namespaces' },
      code: 404,
    }),
  )
})

test('a dry run answers what would be and changes nothing', async () => {
  await using f = await startFixture()
  const created = await withConfigMap(f)
  const { stored } = await f.registry.update(f.scope(configMaps, 'a', { dryRun: true }), merge({ data: { k: '9' } }))
  expect(stored.object).toEqual({ ...created, data: { k: '9' } })
  expect((await f.registry.get(configMaps, 'ns', 'a')).object).toEqual(created)
})

test('a lost guard repeats the decision only; a lost object starts from the transform', async () => {
  const calls: string[] = []
  let interfere: (() => Promise<unknown>) | undefined
  const plugin: AdmissionPlugin = {
    name: 'P',
    handles: (operation, type) => operation === 'UPDATE' && type === configMaps,
    async mutate() {
      calls.push('mutate')
      return undefined
    },
    async validate() {
      calls.push('validate')
      await interfere?.()
      interfere = undefined
    },
    decide(_, view) {
      calls.push('decide')
      const { key, expect } = view.see(pods, 'ns', 'guard')
      return { guards: [{ key, expect: calls.includes('decide', calls.indexOf('decide') + 1) ? expect : 'absent' }] }
    },
  }
  await using f = await startFixture({ admission: [plugin] })
  await withConfigMap(f)
  await f.registry.create(f.scope(pods, ''), { metadata: { name: 'guard' } })
  await f.registry.update(f.scope(configMaps, 'a'), merge({ data: { k: '2' } }))
  expect(calls).toEqual(['mutate', 'validate', 'decide', 'decide'])

  calls.length = 0
  const key = '/registry/configmaps/ns/a'
  interfere = async () => {
    const { entry } = await f.storage.get(key)
    if (!entry) throw new Error('gone')
    const value = Buffer.from(Buffer.from(entry.value).toString().replace('"k":"2"', '"k":"other","j":"1"'))
    await f.storage.commit({ guards: [], writes: [{ key, value, expect: entry.revision }] }).done
  }
  const transformed: unknown[] = []
  await f.registry.update(f.scope(configMaps, 'a'), (o) => {
    transformed.push((o as { data?: unknown }).data)
    return merge({ data: { ...(o as { data?: object }).data, k: '3' } })(o)
  })
  expect(transformed).toEqual([{ k: '2' }, { k: 'other', j: '1' }])
  expect((await f.registry.get(configMaps, 'ns', 'a')).object).toMatchObject({ data: { k: '3', j: '1' } })
})

test('what a stale cache refuses, a cache that has caught up allows', async () => {
  await using a = await startFixture()
  await using b = await startFixture({ storage: a.storage, clock: a.clock })
  await withConfigMap(a)
  const { stored } = await a.registry.update(a.scope(configMaps, 'a'), merge({ data: { k: '2' } }))
  const sent = configMap('a', { k: '3' }, { resourceVersion: String(stored.revision) })
  await expect(b.registry.update(b.scope(configMaps, 'a'), put(sent))).resolves.toMatchObject({ created: false })
})

test('a guard that is lost again and again ends in ServerTimeout', async () => {
  const plugin: AdmissionPlugin = {
    name: 'P',
    handles: (operation) => operation === 'UPDATE',
    decide: () => ({ guards: [{ key: '/registry/configmaps/ns/a', expect: 'absent' }] }),
  }
  await using f = await startFixture({ admission: [plugin], deps: { giveUpAfterMs: 0 } })
  await withConfigMap(f)
  expect(await refusal(f.registry.update(f.scope(configMaps, 'a'), merge({ data: {} })))).toEqual(
    failure({
      message: 'The UPDATE operation against configmaps could not be completed at this time, please try again.',
      reason: 'ServerTimeout',
      details: { kind: 'configmaps', retryAfterSeconds: 1 },
      code: 500,
    }),
  )
})

test('attack: a change of a large object waits for its turn before the object is read', async () => {
  await using f = await startFixture()
  const long = 'x'.repeat(100_000)
  await f.registry.create(f.scope(configMaps, ''), configMap('a', { long }))
  await f.registry.create(f.scope(configMaps, ''), configMap('b', { short: 'x' }))
  const slice = new Turns().slice()
  const begun: string[] = []
  const callerFor = (name: string): Caller => ({
    signal: new AbortController().signal,
    beginLong: async () => {
      begun.push(name)
      // Meanwhile another one changes it.
      await f.registry.update(f.scope(configMaps, name), merge({ data: { long, at: 'later' } }))
      return slice
    },
  })
  const seen: unknown[] = []
  const look: Transform = (o, given) => {
    seen.push((o as KubeObject)['data'], given === slice)
    return o as KubeObject
  }
  for (const name of ['a', 'b']) await f.registry.update(f.scope(configMaps, name, { caller: callerFor(name) }), look)
  expect(seen).toEqual([{ long, at: 'later' }, true, { short: 'x' }, false])
  await f.registry.delete(f.scope(configMaps, 'a', { caller: callerFor('a') }), {})
  await f.registry.delete(f.scope(configMaps, 'b', { caller: callerFor('b') }), {})
  expect(begun).toEqual(['a', 'a'])
})
