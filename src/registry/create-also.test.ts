import { describe, expect, test } from 'vitest'
import { failure, refusal } from '../../test/support/refusal.ts'
import {
  configMap,
  configMaps,
  type Fixture,
  namespaces,
  quotas,
  startFixture,
} from '../../test/support/registry-fixture.ts'
import {
  type AdmissionPlugin,
  type AlsoCreate,
  type Attributes,
  type BestEffort,
  type DecisionView,
  NeedsStoredScope,
} from '../admission/admission.ts'
import { forbidden } from '../kube/status-error.ts'
import { encodeStored } from '../kube/stored-form.ts'
import type { KubeObject, Unvalidated } from '../kube/types.ts'
import { MemoryStorage } from '../storage/memory/memory-storage.ts'
import type { ChangeBatch, Storage, Transaction } from '../storage/storage.ts'

const user = { username: 'other', groups: [] }

/** A namespace comes with these ConfigMaps, as best effort. */
function creatingAlso(objects: readonly KubeObject[], more: Partial<BestEffort> = {}): AdmissionPlugin {
  return requiring(objects, ({ object }) => ({
    bestEffort: {
      first: { ...object, metadata: { ...object?.metadata, labels: { updated: 'yes' } } },
      stored: () => {},
      decide: () => ({}),
      ...more,
    },
  }))
}

/** A namespace comes with these ConfigMaps. */
function requiring(
  objects: readonly KubeObject[],
  more: (a: Attributes) => Partial<AlsoCreate> = () => ({}),
): AdmissionPlugin {
  return {
    name: 'Requiring',
    handles: (operation, type) => operation === 'CREATE' && type === namespaces,
    createAlso: (a) => ({
      user,
      fieldManager: 'other',
      objects: objects.map((o) => ({ type: configMaps, object: structuredClone(o) })),
      opens: a.name,
      ...more(a),
    }),
  }
}

/** One that has its say about ConfigMaps. */
const about = (plugin: Partial<AdmissionPlugin>): AdmissionPlugin => ({
  name: 'About',
  handles: (_, type) => type === configMaps,
  ...plugin,
})

/** Transactions as they come; `before` may do something first. */
function recording(before: (n: number) => void = () => {}): { storage: Storage; sent: Transaction[] } {
  const sent: Transaction[] = []
  const storage = new MemoryStorage()
  const commit = storage.commit.bind(storage)
  storage.commit = (transaction) => {
    before(sent.push(transaction))
    return commit(transaction)
  }
  return { storage, sent }
}

/** The namespace `team` is gone from the store, and the cache hears of it when `hear` is called. */
async function startWithFormer(
  plugin: AdmissionPlugin,
): Promise<{ f: Fixture; sent: Transaction[]; hear(): void } & AsyncDisposable> {
  const { storage, sent } = recording()
  let told = Promise.resolve()
  const watch = storage.watch.bind(storage)
  storage.watch = (...args) => {
    const stream = watch(...args)
    async function* late(): AsyncGenerator<ChangeBatch> {
      for await (const batch of stream) {
        await told
        yield batch
      }
    }
    return Object.assign(late(), { [Symbol.asyncDispose]: () => stream[Symbol.asyncDispose]() })
  }
  const f = await startFixture({ storage, admission: [plugin] })
  const key = '/registry/namespaces/team'
  const value = encodeStored({ metadata: { name: 'team' } })
  const former = await storage.commit({ guards: [], writes: [{ key, value, expect: 'absent' }] }).done
  if (!former.ok) throw new Error('it is not there')
  await f.cache.applied(former.revision)
  const hearing = Promise.withResolvers<void>()
  told = hearing.promise
  await storage.commit({ guards: [], writes: [{ key, value: undefined, expect: former.revision }] }).done
  sent.length = 0
  return { f, sent, hear: hearing.resolve, [Symbol.asyncDispose]: () => f[Symbol.asyncDispose]() }
}

const create = (f: Fixture, name = 'team'): ReturnType<Fixture['registry']['create']> =>
  f.registry.create(f.scope(namespaces, name), { metadata: { name } })

const keysOf = (transactions: readonly Transaction[]): string[][] => transactions.map((t) => t.writes.map((w) => w.key))
const alone = [['/registry/namespaces/team']]
const together = [['/registry/namespaces/team', '/registry/configmaps/team/a', '/registry/configmaps/team/b']]
const two = [configMap('a', { k: 'v' }), configMap('b')]

describe('what is created as best effort', () => {
  test('is one transaction with it, and complete', async () => {
    const { storage, sent } = recording()
    const seen: (KubeObject | undefined)[] = []
    const told: unknown[] = []
    const plugin = creatingAlso(two, {
      decide(view) {
        seen.push(view.see(namespaces, '', 'team').object, view.see(configMaps, 'team', 'a').object)
        const after = { metadata: { name: 'about' } }
        return { writes: [{ key: '/registry/borough/about', value: encodeStored(after), expect: 'absent' }] }
      },
      stored: () => told.push(sent.length),
    })
    await using f = await startFixture({ storage, admission: [plugin] })
    const stored = await create(f)
    expect(keysOf(sent)).toEqual([[...(together[0] ?? []), '/registry/borough/about']])
    expect(sent[0]?.guards).toEqual([])
    expect(stored.object.metadata.labels).toEqual({ updated: 'yes' })
    const a = f.lister.find(configMaps, 'team', 'a')
    expect(a?.object).toEqual({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: {
        resourceVersion: String(stored.revision + 1),
        name: 'a',
        namespace: 'team',
        uid: seen[1]?.metadata.uid,
        creationTimestamp: '2026-01-01T00:00:00Z',
      },
      data: { k: 'v' },
    })
    expect(seen.map((o) => o?.metadata.uid)).toEqual([stored.object.metadata.uid, expect.any(String)])
    expect(told).toEqual([1])
  })

  test('is admitted as its user, told of the namespace that is not stored yet', async () => {
    const seen: unknown[] = []
    const note = about({
      mutate(a) {
        seen.push(['mutate', a.user.username, a.pendingScope?.object.metadata.labels])
        return { ...(a.object as Unvalidated), data: { changed: 'yes' } }
      },
      validate(a) {
        seen.push(['validate', a.operation, a.namespace, a.name, a.object?.['data']])
      },
    })
    await using f = await startFixture({ admission: [note, creatingAlso([configMap('a')])] })
    await create(f)
    expect(seen).toEqual([
      ['mutate', 'other', { updated: 'yes' }],
      ['validate', 'CREATE', 'team', 'a', { changed: 'yes' }],
    ])
    expect(f.lister.find(configMaps, 'team', 'a')?.object['data']).toEqual({ changed: 'yes' })
  })

  test('is decided on what comes before it: the namespace is there, and what was decided along', async () => {
    const counted: unknown[] = []
    const alongside: AdmissionPlugin = {
      name: 'Alongside',
      handles: (_, type) => type === namespaces,
      decide: ({ name }) => {
        const after = { metadata: { name: 'q', namespace: name } }
        const change = { type: quotas, namespace: name, name: 'q', before: undefined, after }
        const key = `/registry/resourcequotas/${name}/q`
        return { writes: [{ key, value: encodeStored(after), expect: 'absent', change }] }
      },
    }
    const deciding = about({
      decide(a, view) {
        const namespace = view.see(namespaces, '', a.namespace)
        const quota = view.see(quotas, a.namespace, 'q')
        counted.push([namespace.object?.metadata.name, quota.object?.metadata.name])
        counted.push(view.queuedIn(a.namespace)?.map((q) => q.change.name))
        expect(view.queuedIn('other')).toBeUndefined()
        return { guards: [namespace, quota].map(({ key, expect: as }) => ({ key, expect: as })) }
      },
    })
    const { storage, sent } = recording()
    await using f = await startFixture({ storage, admission: [alongside, deciding, creatingAlso(two)] })
    await create(f)
    expect(counted).toEqual([['team', 'q'], ['q'], ['team', 'q'], ['a', 'q']])
    expect(sent.map((t) => t.guards)).toEqual([[]])
    expect(keysOf(sent)).toEqual([[...(together[0] ?? []), '/registry/resourcequotas/team/q']])
  })

  test('completes an object that a decision completes', async () => {
    const completing = about({
      decide: ({ object }) => ({ object: { ...(object as KubeObject), data: { at: 'commit' } } }),
    })
    await using f = await startFixture({ admission: [completing, creatingAlso([configMap('a')])] })
    await create(f)
    expect(f.lister.find(configMaps, 'team', 'a')?.object['data']).toEqual({ at: 'commit' })
  })

  test('is nothing for a dry run', async () => {
    const { storage, sent } = recording()
    await using f = await startFixture({ storage, admission: [creatingAlso(two)] })
    const stored = await f.registry.create(f.scope(namespaces, 'team', { dryRun: true }), {
      metadata: { name: 'team' },
    })
    expect([stored.object.metadata.labels, sent]).toEqual([undefined, []])
  })
})

describe('the namespace is created without it', () => {
  const refused = forbidden(configMaps, 'b', 'no')
  const cases: readonly { readonly name: string; readonly admission: readonly AdmissionPlugin[] }[] = [
    {
      name: 'when admission refuses one of them',
      admission: [about({ mutate: ({ name, object }) => (name === 'b' ? Promise.reject(refused) : object) })],
    },
    {
      name: 'when a plugin needs the namespace to be stored first',
      admission: [
        about({
          validate() {
            throw new NeedsStoredScope('hook.ex.io')
          },
        }),
      ],
    },
    {
      name: 'when the decision refuses one of them',
      admission: [
        about({
          decide(a) {
            if (a.name === 'b') throw refused
            return {}
          },
        }),
      ],
    },
    { name: 'when one has to wait', admission: [about({ decide: () => ({ wait: Promise.resolve() }) })] },
    {
      name: 'when something must be done first',
      admission: [about({ decide: () => ({ begin: () => Promise.resolve(undefined) }) })],
    },
    {
      name: 'when a decision writes what is one of them',
      admission: [
        about({
          decide: (a) =>
            a.name === 'a'
              ? { writes: [{ key: '/registry/configmaps/team/b', value: Buffer.from('{}'), expect: 'absent' }] }
              : {},
        }),
      ],
    },
    {
      name: 'when one of them expects what another contradicts',
      admission: [
        about({
          decide: (a) => (a.name === 'b' ? { guards: [{ key: '/registry/configmaps/team/a', expect: 7 }] } : {}),
        }),
      ],
    },
  ]
  test.each(cases)('$name', async ({ admission }) => {
    const { storage, sent } = recording()
    await using f = await startFixture({ storage, admission: [...admission, creatingAlso(two)] })
    const stored = await create(f)
    expect(stored.object.metadata.labels).toBeUndefined()
    expect(keysOf(sent)).toEqual(alone)
  })

  test('when what must hold besides does not', async () => {
    const { storage, sent } = recording()
    await using f = await startFixture({ storage, admission: [creatingAlso(two, { decide: () => undefined })] })
    await create(f)
    expect(keysOf(sent)).toEqual(alone)
  })

  test('when two of them are one object', async () => {
    const { storage, sent } = recording()
    await using f = await startFixture({ storage, admission: [creatingAlso([configMap('a'), configMap('a')])] })
    await create(f)
    expect(keysOf(sent)).toEqual(alone)
  })

  test('when they are too many or too large for a transaction', async () => {
    const many = Array.from({ length: 100 }, (_, i) => configMap(`m${i}`))
    const large = [configMap('a', { k: 'x'.repeat(600_000) }), configMap('b', { k: 'x'.repeat(600_000) })]
    for (const objects of [many, large]) {
      const { storage, sent } = recording()
      await using f = await startFixture({ storage, admission: [creatingAlso(objects)] })
      await create(f)
      expect(keysOf(sent)).toEqual(alone)
    }
  })

  test('while the cache shows a former one, for it may show its content too', async () => {
    await using former = await startWithFormer(creatingAlso(two))
    const creating = create(former.f)
    await expect.poll(() => former.sent.length).toBe(1)
    former.hear()
    await creating
    expect(keysOf(former.sent)).toEqual(alone)
  })

  test('when the place of one of them is taken', async () => {
    const { storage, sent } = recording()
    await using f = await startFixture({ storage, admission: [creatingAlso(two)] })
    await f.registry.create(f.scope(configMaps, '', { namespace: 'team' }), configMap('b'))
    sent.length = 0
    await create(f)
    expect(keysOf(sent)).toEqual([...together, ...alone])
  })
})

describe('a race', () => {
  test('for the namespace is lost with AlreadyExists, and nothing of it is left', async () => {
    await using f = await startFixture({ admission: [creatingAlso([configMap('a')])] })
    const [one, other] = await Promise.allSettled([create(f), refusal(create(f))])
    expect(one.status).toBe('fulfilled')
    expect(other).toEqual({
      status: 'fulfilled',
      value: failure({
        message: 'namespaces "team" already exists',
        reason: 'AlreadyExists',
        details: { name: 'team', kind: 'namespaces' },
        code: 409,
      }),
    })
    expect([...f.lister.list(configMaps, 'team')]).toHaveLength(1)
  })

  test('for a guard is decided again', async () => {
    const decisions: unknown[] = []
    const guarding = creatingAlso([configMap('a')], {
      decide(view) {
        const { key, expect: as } = view.see(configMaps, 'ns', 'guarded')
        decisions.push(as)
        return { guards: [{ key, expect: as }] }
      },
    })
    let f: Fixture
    const { storage, sent } = recording((n) => {
      // Another writer comes first while this transaction is on its way.
      if (n === 1) storage.commit({ guards: [], writes: [guarded] })
    })
    const guarded = {
      key: '/registry/configmaps/ns/guarded',
      value: Buffer.from('{"metadata":{}}'),
      expect: 'absent',
    } as const
    await using fixture = await startFixture({ storage, admission: [guarding] })
    f = fixture
    const stored = await create(f)
    expect(stored.object.metadata.labels).toEqual({ updated: 'yes' })
    expect(decisions).toEqual(['absent', expect.any(Number)])
    expect(keysOf(sent).filter((keys) => keys[0] === '/registry/namespaces/team')).toHaveLength(2)
    expect(f.lister.find(configMaps, 'team', 'a')).toBeDefined()
  })

  test('for a guard that is lost again and again does not hold up the namespace', async () => {
    const { storage, sent } = recording()
    let n = 0
    const never = creatingAlso([configMap('a')], {
      decide: () => ({ guards: [{ key: '/registry/configmaps/ns/never', expect: ++n }] }),
    })
    await using f = await startFixture({ storage, admission: [never] })
    await create(f)
    expect(keysOf(sent)).toEqual([...Array.from({ length: 3 }, () => together[0]?.slice(0, 2)), ...alone])
  })
})

describe('what is required', () => {
  const refused = forbidden(configMaps, 'b', 'no')
  const toldRefused = failure({
    message: 'configmaps "b" is forbidden: no',
    reason: 'Forbidden',
    details: { name: 'b', kind: 'configmaps' },
    code: 403,
  })
  const refuseB = (a: { readonly name: string }): void => {
    if (a.name === 'b') throw refused
  }

  test('is one transaction with the object, which is stored as it is', async () => {
    const { storage, sent } = recording()
    const seen: unknown[] = []
    const note = about({ mutate: (a) => void seen.push([a.user.username, a.pendingScope?.mayWait]) })
    await using f = await startFixture({ storage, admission: [note, requiring(two)] })
    const stored = await create(f)
    expect(keysOf(sent)).toEqual(together)
    expect(stored.object.metadata.labels).toBeUndefined()
    expect(seen).toEqual([
      ['other', false],
      ['other', false],
    ])
  })

  test('can come with any object, into a namespace that is there', async () => {
    const { storage, sent } = recording()
    const seen: unknown[] = []
    const pair: AdmissionPlugin = {
      name: 'Pair',
      handles: (operation, type) => operation === 'CREATE' && type === quotas,
      createAlso: () => ({
        user,
        fieldManager: 'other',
        objects: [{ type: configMaps, object: { ...configMap('a'), metadata: { name: 'a', namespace: 'ns' } } }],
      }),
    }
    const note = about({ mutate: (a) => void seen.push(a.pendingScope) })
    await using f = await startFixture({ storage, admission: [note, pair] })
    await f.registry.create(f.scope(quotas, '', { namespace: 'ns' }), { metadata: { name: 'q' } })
    expect(keysOf(sent)).toEqual([['/registry/resourcequotas/ns/q', '/registry/configmaps/ns/a']])
    expect(seen).toEqual([undefined])
  })

  const refusing: readonly { readonly in: string; readonly plugin: AdmissionPlugin }[] = [
    {
      in: 'mutating admission',
      plugin: about({
        mutate(a) {
          refuseB(a)
          return undefined
        },
      }),
    },
    { in: 'validating admission', plugin: about({ validate: refuseB }) },
    {
      in: 'its decision',
      plugin: about({
        decide(a) {
          refuseB(a)
          return {}
        },
      }),
    },
  ]
  test.each(refusing)('refuses the whole when one is refused in $in', async ({ plugin }) => {
    const { storage, sent } = recording()
    await using f = await startFixture({ storage, admission: [plugin, requiring(two)] })
    expect(await refusal(create(f))).toEqual(toldRefused)
    expect(sent).toEqual([])
  })

  test.each(refusing)('and a dry run of it says so, in $in', async ({ plugin }) => {
    const { storage, sent } = recording()
    await using f = await startFixture({ storage, admission: [plugin, requiring(two)] })
    const creating = f.registry.create(f.scope(namespaces, 'team', { dryRun: true }), { metadata: { name: 'team' } })
    expect(await refusal(creating)).toEqual(toldRefused)
    expect(sent).toEqual([])
  })

  test('is admitted by a dry run too, and not stored', async () => {
    const { storage, sent } = recording()
    const seen: unknown[] = []
    const note = about({ validate: (a) => void seen.push([a.name, a.dryRun]) })
    await using f = await startFixture({ storage, admission: [note, requiring(two)] })
    const stored = await f.registry.create(f.scope(namespaces, 'team', { dryRun: true }), {
      metadata: { name: 'team' },
    })
    expect([stored.object.metadata.name, sent]).toEqual(['team', []])
    expect(seen).toEqual([
      ['a', true],
      ['b', true],
    ])
  })

  test('is waited for, and what must be done first is done', async () => {
    const { storage, sent } = recording()
    const steps: string[] = []
    const wait = Promise.resolve().then(() => steps.push('waited'))
    const slow = about({
      decide: (a) => {
        if (a.name === 'b' && !steps.includes('waited')) return { wait }
        if (a.name === 'b' && !steps.includes('begun')) {
          return {
            begin: async () => {
              steps.push('begun')
              return undefined
            },
          }
        }
        return {}
      },
    })
    await using f = await startFixture({ storage, admission: [slow, requiring(two)] })
    await create(f)
    expect(steps).toEqual(['waited', 'begun'])
    expect(keysOf(sent)).toEqual(together)
  })

  test.each([
    { what: 'comes with what is best effort', refuses: false, names: ['a', 'b', 'c'] },
    { what: 'stays when what is best effort is refused', refuses: true, names: ['a', 'b'] },
  ])('$what', async ({ refuses, names }) => {
    const judge = about({
      validate(a) {
        if (refuses && a.name === 'c') throw refused
      },
    })
    const extra = { ...creatingAlso([configMap('c')]), name: 'Extra' }
    await using f = await startFixture({ admission: [judge, requiring(two), extra] })
    await create(f)
    expect([...f.lister.list(configMaps, 'team')].map((o) => o.name)).toEqual(names)
  })

  test('is not decided before the cache has heard that a former namespace is gone', async () => {
    const seen: unknown[] = []
    const plugin = requiring(two)
    const looking = {
      ...plugin,
      decide: (_: unknown, view: DecisionView) => {
        seen.push(view.see(namespaces, '', 'team').object)
        return {}
      },
    }
    await using former = await startWithFormer(looking)
    const creating = create(former.f)
    former.hear()
    await creating
    expect(seen).toEqual([undefined])
    expect(keysOf(former.sent)).toEqual(together)
  })

  test('refuses the whole when its place is taken', async () => {
    await using f = await startFixture({ admission: [requiring(two)] })
    await f.registry.create(f.scope(configMaps, '', { namespace: 'team' }), configMap('b'))
    expect(await refusal(create(f))).toEqual(
      failure({
        message: 'configmaps "b" already exists',
        reason: 'AlreadyExists',
        details: { name: 'b', kind: 'configmaps' },
        code: 409,
      }),
    )
    expect(f.lister.find(namespaces, '', 'team')).toBeUndefined()
  })

  test('is decided again when a guard is lost', async () => {
    const guarded = { key: '/registry/configmaps/ns/guarded', value: Buffer.from('{"metadata":{}}') }
    const { storage, sent } = recording((n) => {
      // Another writer comes first while this transaction is on its way.
      if (n === 1) storage.commit({ guards: [], writes: [{ ...guarded, expect: 'absent' }] })
    })
    const guarding = about({
      decide(_, view) {
        const { key, expect: as } = view.see(configMaps, 'ns', 'guarded')
        return { guards: [{ key, expect: as }] }
      },
    })
    await using f = await startFixture({ storage, admission: [guarding, requiring(two)] })
    await create(f)
    expect(keysOf(sent).filter((keys) => keys.length > 1)).toEqual([...together, ...together])
  })

  test('and contradicts itself is a fault', async () => {
    await using f = await startFixture({ admission: [requiring([configMap('a'), configMap('a')])] })
    await expect(create(f)).rejects.toThrow("/registry/namespaces/team and the rest can't be one transaction")
  })
})

describe('a fault in a plugin is no refusal, and surfaces', () => {
  const fault = new TypeError('a mistake')
  const fail = (): never => {
    throw fault
  }
  test.each([
    { in: 'mutate', plugin: about({ mutate: fail }) },
    { in: 'validate', plugin: about({ validate: fail }) },
    { in: 'decide', plugin: about({ decide: fail }) },
  ])('in $in', async ({ plugin }) => {
    await using f = await startFixture({ admission: [plugin, creatingAlso(two)] })
    await expect(create(f)).rejects.toThrow(fault)
  })
})
