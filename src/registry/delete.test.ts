import { describe, expect, test, vi } from 'vitest'
import { failure, invalidObject, refusal } from '../../test/support/refusal.ts'
import {
  configMap,
  configMaps,
  events,
  type Fixture,
  namespaces,
  pods,
  startFixture,
} from '../../test/support/registry-fixture.ts'
import type { AdmissionPlugin } from '../admission/admission.ts'
import { sliceMs, Turns } from '../base/turns.ts'
import type { KubeObject, ObjectMeta } from '../kube/types.ts'
import type { DeleteOptions } from './registry.ts'

const now = '2026-01-01T00:00:00Z'

test('an object that nothing holds is gone at once', async () => {
  await using f = await startFixture()
  const created = await f.registry.create(f.scope(configMaps, ''), configMap('a'))
  const { stored, removed } = await f.registry.delete(f.scope(configMaps, 'a'), {})
  expect(removed).toBe(true)
  expect(stored.object.metadata.uid).toBe('uid-1')
  expect(stored.revision).toBeGreaterThan(created.revision)
  expect(f.lister.find(configMaps, 'ns', 'a')).toBeUndefined()
  expect(await refusal(f.registry.delete(f.scope(configMaps, 'a'), {}))).toEqual(
    failure({
      message: 'configmaps "a" not found',
      reason: 'NotFound',
      details: { name: 'a', kind: 'configmaps' },
      code: 404,
    }),
  )
})

const propagation: { name: string; given: string[]; options: DeleteOptions; want: Partial<ObjectMeta> | 'removed' }[] =
  [
    { name: 'nothing said, nothing there: removed', given: [], options: {}, want: 'removed' },
    { name: 'Background: removed', given: [], options: { propagationPolicy: 'Background' }, want: 'removed' },
    {
      name: 'Foreground waits for dependents',
      given: [],
      options: { propagationPolicy: 'Foreground' },
      want: { finalizers: ['foregroundDeletion'] },
    },
    {
      name: 'Orphan waits for its finalizer',
      given: [],
      options: { propagationPolicy: 'Orphan' },
      want: { finalizers: ['orphan'] },
    },
    {
      name: 'orphanDependents: true is Orphan',
      given: [],
      options: { orphanDependents: true },
      want: { finalizers: ['orphan'] },
    },
    {
      name: 'orphanDependents: false is Background',
      given: [],
      options: { orphanDependents: false },
      want: 'removed',
    },
    {
      name: 'orphanDependents: false takes back a policy of before',
      given: ['a.b/c', 'foregroundDeletion'],
      options: { orphanDependents: false },
      want: { finalizers: ['a.b/c'] },
    },
    {
      name: 'an orphan finalizer already there counts',
      given: ['orphan'],
      options: {},
      want: { finalizers: ['orphan'] },
    },
    {
      name: 'an explicit policy replaces it',
      given: ['orphan'],
      options: { propagationPolicy: 'Background' },
      want: 'removed',
    },
    {
      name: 'other finalizers stay, the policy comes after them',
      given: ['a.b/c'],
      options: { propagationPolicy: 'Foreground' },
      want: { finalizers: ['a.b/c', 'foregroundDeletion'] },
    },
  ]
for (const { name, given, options, want } of propagation) {
  test(`propagation: ${name}`, async () => {
    await using f = await startFixture()
    await f.registry.create(f.scope(configMaps, ''), configMap('a', {}, { finalizers: given }))
    const { stored, removed } = await f.registry.delete(f.scope(configMaps, 'a'), options)
    expect(removed).toBe(want === 'removed')
    if (want === 'removed') return
    expect(stored.object.metadata).toMatchObject({ ...want, deletionTimestamp: now, deletionGracePeriodSeconds: 0 })
    await f.clock.advance(5000)
    const again = await f.registry.delete(f.scope(configMaps, 'a'), {})
    expect(again).toMatchObject({ removed: false, stored: { revision: stored.revision } })
  })
}

const usual: { name: string; given: string[]; options: DeleteOptions; want: string[] | 'removed' }[] = [
  { name: 'orphans when nothing is said', given: [], options: {}, want: ['orphan'] },
  { name: 'yields to Background', given: [], options: { propagationPolicy: 'Background' }, want: 'removed' },
  {
    name: 'yields to orphanDependents: false',
    given: [],
    options: { orphanDependents: false },
    want: 'removed',
  },
  {
    name: 'yields to what the object says',
    given: ['foregroundDeletion'],
    options: {},
    want: ['foregroundDeletion'],
  },
]
for (const { name, given, options, want } of usual) {
  test(`a kind that usually orphans ${name}`, async () => {
    await using f = await startFixture({ deps: { strategyOf: () => ({ orphansDependents: true }) } })
    await f.registry.create(f.scope(configMaps, ''), configMap('a', {}, { finalizers: given }))
    const { stored, removed } = await f.registry.delete(f.scope(configMaps, 'a'), options)
    expect(removed ? 'removed' : stored.object.metadata.finalizers).toEqual(want)
  })
}

test('types outside garbage collection ignore the policy', async () => {
  await using f = await startFixture()
  await f.registry.create(f.scope(events, ''), { metadata: { name: 'e' } })
  expect(await f.registry.delete(f.scope(events, 'e'), { propagationPolicy: 'Orphan' })).toMatchObject({
    removed: true,
  })
})

const badOptions: { name: string; given: DeleteOptions; want: string }[] = [
  {
    name: 'both ways to say it',
    given: { propagationPolicy: 'Orphan', orphanDependents: true },
    want: 'propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set',
  },
  {
    name: 'an unknown policy',
    given: { propagationPolicy: 'Bogus' },
    want:
      'propagationPolicy: Unsupported value: "Bogus": supported values: "Foreground", "Background", "Orphan", ' +
      '"nil"',
  },
]
for (const { name, given, want } of badOptions) {
  test(`${name} is invalid`, async () => {
    await using f = await startFixture()
    expect(await refusal(f.registry.delete(f.scope(configMaps, 'a'), given))).toEqual(
      invalidObject({ group: 'meta.k8s.io', kind: 'DeleteOptions', name: '' }, [want]),
    )
  })
}

test('preconditions are worded by kind, and by storage for namespaces', async () => {
  await using f = await startFixture()
  const { revision } = await f.registry.create(f.scope(configMaps, ''), configMap('a'))
  await f.registry.create(f.scope(namespaces, ''), { metadata: { name: 'n' } })
  expect(await refusal(f.registry.delete(f.scope(configMaps, 'a'), { preconditions: { uid: 'x' } }))).toEqual(
    failure({
      message:
        'Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (x) does not match the ' +
        'UID in record (uid-1). The object might have been deleted and then recreated',
      reason: 'Conflict',
      details: { name: 'a', kind: 'ConfigMap' },
      code: 409,
    }),
  )
  expect(
    await refusal(f.registry.delete(f.scope(configMaps, 'a'), { preconditions: { resourceVersion: '1' } })),
  ).toEqual(
    failure({
      message:
        'Operation cannot be fulfilled on ConfigMap "a": the ResourceVersion in the precondition (1) does not ' +
        `match the ResourceVersion in record (${revision}). The object might have been modified`,
      reason: 'Conflict',
      details: { name: 'a', kind: 'ConfigMap' },
      code: 409,
    }),
  )
  expect(await refusal(f.registry.delete(f.scope(namespaces, 'n'), { preconditions: { uid: 'bogus' } }))).toEqual(
    failure({
      message:
        'Operation cannot be fulfilled on namespaces "n": Precondition failed: UID in precondition: bogus, ' +
        'UID in object meta: uid-2',
      reason: 'Conflict',
      details: { name: 'n', kind: 'namespaces' },
      code: 409,
    }),
  )
  const ok = { uid: 'uid-1', resourceVersion: String(revision) }
  expect(await f.registry.delete(f.scope(configMaps, 'a'), { preconditions: ok })).toMatchObject({ removed: true })
})

test('the first DELETE of a namespace marks it in one commit, the next ones change nothing', async () => {
  await using f = await startFixture()
  await f.registry.create(f.scope(namespaces, ''), { metadata: { name: 'n' } })
  const first = await f.registry.delete(f.scope(namespaces, 'n'), {
    propagationPolicy: 'Foreground',
    gracePeriodSeconds: 9,
  })
  expect(first.removed).toBe(false)
  expect(first.stored.object).toMatchObject({
    metadata: { deletionTimestamp: now, finalizers: ['foregroundDeletion'] },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Terminating' },
  })
  expect(first.stored.object.metadata).not.toHaveProperty('deletionGracePeriodSeconds')
  const second = await f.registry.delete(f.scope(namespaces, 'n'), { propagationPolicy: 'Background' })
  expect(second).toMatchObject({ removed: false, stored: { revision: first.stored.revision } })
})

test('a namespace that nothing holds is marked, then removed, by one DELETE', async () => {
  await using f = await startFixture()
  await f.registry.create(f.scope(namespaces, ''), { metadata: { name: 'n' } })
  const finalize = f.scope(namespaces, 'n', { subresource: 'finalize' })
  await f.registry.update(finalize, (o) => ({ ...(o as KubeObject), spec: {} }))
  const { stored, removed } = await f.registry.delete(f.scope(namespaces, 'n'), {})
  expect(removed).toBe(true)
  expect(stored.object).toMatchObject({ status: { phase: 'Terminating' } })
  expect(f.lister.find(namespaces, '', 'n')).toBeUndefined()
})

const podSteps: {
  name: string
  pod: KubeObject
  deletes: DeleteOptions[]
  want: { removed: boolean; grace?: number; at?: string; generation?: number }
}[] = [
  {
    name: 'a pod on no node goes at once, and the answer shows the deletion',
    pod: { metadata: { name: 'p' } },
    deletes: [{}],
    want: { removed: true, grace: 0, at: now },
  },
  {
    name: 'a pod on a node gets its grace',
    pod: { metadata: { name: 'p' }, spec: { nodeName: 'n', terminationGracePeriodSeconds: 60 } },
    deletes: [{}],
    want: { removed: false, grace: 60, at: '2026-01-01T00:01:00Z', generation: 2 },
  },
  {
    name: 'the requested grace counts',
    pod: { metadata: { name: 'p' }, spec: { nodeName: 'n' } },
    deletes: [{ gracePeriodSeconds: 10 }],
    want: { removed: false, grace: 10, at: '2026-01-01T00:00:10Z' },
  },
  {
    name: 'a negative grace is one second',
    pod: { metadata: { name: 'p' }, spec: { nodeName: 'n' } },
    deletes: [{ gracePeriodSeconds: -5 }],
    want: { removed: false, grace: 1 },
  },
  {
    name: 'a longer grace is ignored later',
    pod: { metadata: { name: 'p' }, spec: { nodeName: 'n' } },
    deletes: [{ gracePeriodSeconds: 10 }, { gracePeriodSeconds: 20 }],
    want: { removed: false, grace: 10, at: '2026-01-01T00:00:10Z' },
  },
  {
    name: 'a shorter grace counts from the first DELETE',
    pod: { metadata: { name: 'p' }, spec: { nodeName: 'n' } },
    deletes: [{ gracePeriodSeconds: 10 }, { gracePeriodSeconds: 4 }],
    want: { removed: false, grace: 4, at: '2026-01-01T00:00:04Z' },
  },
  {
    name: 'grace 0 removes now',
    pod: { metadata: { name: 'p' }, spec: { nodeName: 'n' } },
    deletes: [{}, { gracePeriodSeconds: 0 }],
    want: { removed: true, grace: 0 },
  },
  {
    name: 'finalizers outlast the grace',
    pod: { metadata: { name: 'p', finalizers: ['a.b/c'] } },
    deletes: [{}, { gracePeriodSeconds: 0 }],
    want: { removed: false, grace: 0 },
  },
]
for (const { name, pod, deletes, want } of podSteps) {
  test(name, async () => {
    await using f = await startFixture()
    await f.registry.create(f.scope(pods, ''), pod)
    let last: Awaited<ReturnType<typeof f.registry.delete>> | undefined
    for (const options of deletes) {
      last = await f.registry.delete(f.scope(pods, 'p'), options)
      await f.clock.advance(1000)
    }
    expect(last?.removed).toBe(want.removed)
    const { metadata } = last?.stored.object ?? { metadata: {} }
    if (want.grace !== undefined) expect(metadata.deletionGracePeriodSeconds).toBe(want.grace)
    if (want.at !== undefined) expect(metadata.deletionTimestamp).toBe(want.at)
    if (want.generation !== undefined) expect(metadata.generation).toBe(want.generation)
    expect(f.lister.find(pods, 'ns', 'p') === undefined).toBe(want.removed)
  })
}

test('a dry run shows the mark and leaves the object', async () => {
  await using f = await startFixture()
  await f.registry.create(f.scope(configMaps, ''), configMap('a', {}, { finalizers: ['a.b/c'] }))
  const { stored } = await f.registry.delete(f.scope(configMaps, 'a', { dryRun: true }), {})
  expect(stored.object.metadata.deletionTimestamp).toBe(now)
  expect((await f.registry.get(configMaps, 'ns', 'a')).object.metadata).not.toHaveProperty('deletionTimestamp')
})

test('a collection answers what it had, spares what is not selected, and ignores what vanishes meanwhile', async () => {
  await using f = await startFixture()
  for (let i = 0; i < 300; i++) {
    await f.registry.create(f.scope(configMaps, ''), configMap(`c${i}`, {}, { labels: { half: String(i % 2) } }))
  }
  const query = { namespace: 'ns', labelSelector: 'half=0' }
  const [page, other] = await Promise.all([
    f.registry.deleteCollection(f.scope(configMaps, ''), query, {}),
    f.registry.deleteCollection(f.scope(configMaps, ''), query, {}),
  ])
  expect(page.items).toHaveLength(150)
  expect(other.items.length).toBeLessThanOrEqual(150)
  const left = [...f.lister.list(configMaps, 'ns')]
  expect(left).toHaveLength(150)
  expect(left.every((s) => s.object.metadata.labels?.['half'] === '1')).toBe(true)
})

test('preconditions hold for each item of a collection', async () => {
  await using f = await startFixture()
  await f.registry.create(f.scope(configMaps, ''), configMap('a'))
  const preconditions = { uid: 'another' }
  const deletion = f.registry.deleteCollection(f.scope(configMaps, ''), { namespace: 'ns' }, { preconditions })
  await expect(deletion).rejects.toMatchObject({ code: 409 })
  expect([...f.lister.list(configMaps, 'ns')]).toHaveLength(1)
})

test('admission is asked about each item of a collection, and its refusal stops the rest', async () => {
  const asked: string[] = []
  const plugin: AdmissionPlugin = {
    name: 'P',
    handles: (operation) => operation === 'DELETE',
    async validate(a) {
      asked.push(`${a.name}:${a.oldObject?.metadata.name ?? ''}:${a.ofCollection}`)
      if (a.name === 'b') throw new Error('no')
    },
  }
  await using f = await startFixture({ admission: [plugin] })
  for (const name of ['a', 'b']) await f.registry.create(f.scope(configMaps, ''), configMap(name))
  await expect(f.registry.deleteCollection(f.scope(configMaps, ''), { namespace: 'ns' }, {})).rejects.toThrow('no')
  expect(asked).toEqual(['a:a:true', 'b:b:true'])
})

describe('attack: a collection of large objects', () => {
  const count = 60
  const textBytes = 90_000
  const kinds = [
    { name: 'that go', finalizers: [], left: 0 },
    { name: 'that finalizers hold', finalizers: ['loop.example/held'], left: count },
  ]

  async function startFilled(finalizers: string[], admission: readonly AdmissionPlugin[] = []): Promise<Fixture> {
    let elapsedMs = 0
    // Each look at the time ends a slice.
    const turns = new Turns({ now: () => (elapsedMs += sliceMs) })
    const f = await startFixture({ deps: { turns }, cache: { parsedBytes: 1 }, admission })
    const data = { text: 'x'.repeat(textBytes) }
    for (let i = 0; i < count; i++) {
      await f.registry.create(f.scope(configMaps, ''), configMap(`c${i}`, data, { finalizers }))
    }
    return f
  }

  test.each(kinds)('$name: few are parsed in one turn of the loop', async ({ finalizers, left }) => {
    await using f = await startFilled(finalizers)
    const { parse } = JSON
    let inTurn = 0
    let most = 0
    const spy = vi.spyOn(JSON, 'parse').mockImplementation((text: string, ...more) => {
      // It is over when the sockets have been served.
      if (inTurn === 0) setImmediate(() => (inTurn = 0))
      inTurn += text.length
      most = Math.max(most, inTurn)
      return parse(text, ...more)
    })
    try {
      await f.registry.deleteCollection(f.scope(configMaps, ''), { namespace: 'ns' }, {})
    } finally {
      spy.mockRestore()
    }
    expect([...f.lister.list(configMaps, 'ns')]).toHaveLength(left)
    expect(most).toBeLessThan(5 * textBytes)
  })

  test.each(kinds)('$name: few are copied for admission at once', async ({ finalizers }) => {
    let underWay = 0
    let most = 0
    const plugin: AdmissionPlugin = {
      name: 'P',
      handles: (operation) => operation === 'DELETE',
      async validate() {
        most = Math.max(most, ++underWay)
        await new Promise((resolve) => setImmediate(resolve))
        underWay--
      },
    }
    await using f = await startFilled(finalizers, [plugin])
    await f.registry.deleteCollection(f.scope(configMaps, ''), { namespace: 'ns' }, {})
    // Three groups of at most 256 KiB.
    expect(most).toBeLessThanOrEqual(6)
  })
})
