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
import { type AdmissionPlugin, type Companions, NeedsNamespace } from '../admission/admission.ts'
import { forbidden } from '../kube/status-error.ts'
import { encodeStored } from '../kube/stored-form.ts'
import type { KubeObject, Unvalidated } from '../kube/types.ts'
import { MemoryStorage } from '../storage/memory/memory-storage.ts'
import type { ChangeBatch, Storage, Transaction } from '../storage/storage.ts'

const user = { username: 'companion', groups: [] }

/** A namespace comes with these ConfigMaps. */
function accompanying(objects: readonly KubeObject[], more: Partial<Companions> = {}): AdmissionPlugin {
  return {
    name: 'Accompanying',
    handles: (operation, type) => operation === 'CREATE' && type === namespaces,
    accompany: ({ object }) => ({
      namespace: { ...object, metadata: { ...object?.metadata, labels: { accompanied: 'yes' } } },
      user,
      fieldManager: 'companion',
      objects: objects.map((o) => ({ type: configMaps, object: structuredClone(o) })),
      stored: () => {},
      decide: () => ({}),
      ...more,
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

const create = (f: Fixture, name = 'team'): ReturnType<Fixture['registry']['create']> =>
  f.registry.create(f.scope(namespaces, name), { metadata: { name } })

const keysOf = (transactions: readonly Transaction[]): string[][] => transactions.map((t) => t.writes.map((w) => w.key))
const alone = [['/registry/namespaces/team']]
const together = [['/registry/namespaces/team', '/registry/configmaps/team/a', '/registry/configmaps/team/b']]
const two = [configMap('a', { k: 'v' }), configMap('b')]

describe('what is created along with a namespace', () => {
  test('is one transaction with it, and complete', async () => {
    const { storage, sent } = recording()
    const seen: (KubeObject | undefined)[] = []
    const told: unknown[] = []
    const plugin = accompanying(two, {
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
    expect(stored.object.metadata.labels).toEqual({ accompanied: 'yes' })
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

  test('is admitted as its user, told of the namespace that nobody can find', async () => {
    const seen: unknown[] = []
    const note = about({
      mutate(a) {
        seen.push(['mutate', a.user.username, a.newNamespace?.metadata.labels])
        return { ...(a.object as Unvalidated), data: { changed: 'yes' } }
      },
      validate(a) {
        seen.push(['validate', a.operation, a.namespace, a.name, a.object?.['data']])
      },
    })
    await using f = await startFixture({ admission: [note, accompanying([configMap('a')])] })
    await create(f)
    expect(seen).toEqual([
      ['mutate', 'companion', { accompanied: 'yes' }],
      ['validate', 'CREATE', 'team', 'a', { changed: 'yes' }],
    ])
    expect(f.lister.find(configMaps, 'team', 'a')?.object['data']).toEqual({ changed: 'yes' })
  })

  test('is decided on what comes before it: the namespace is there, and what was decided along', async () => {
    const counted: unknown[] = []
    const born: AdmissionPlugin = {
      name: 'Born',
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
    await using f = await startFixture({ storage, admission: [born, deciding, accompanying(two)] })
    await create(f)
    expect(counted).toEqual([['team', 'q'], ['q'], ['team', 'q'], ['a', 'q']])
    expect(sent.map((t) => t.guards)).toEqual([[]])
    expect(keysOf(sent)).toEqual([[...(together[0] ?? []), '/registry/resourcequotas/team/q']])
  })

  test('completes an object that a decision completes', async () => {
    const completing = about({
      decide: ({ object }) => ({ object: { ...(object as KubeObject), data: { at: 'commit' } } }),
    })
    await using f = await startFixture({ admission: [completing, accompanying([configMap('a')])] })
    await create(f)
    expect(f.lister.find(configMaps, 'team', 'a')?.object['data']).toEqual({ at: 'commit' })
  })

  test('is nothing for a dry run', async () => {
    const { storage, sent } = recording()
    await using f = await startFixture({ storage, admission: [accompanying(two)] })
    const stored = await f.registry.create(f.scope(namespaces, 'team', { dryRun: true }), {
      metadata: { name: 'team' },
    })
    expect([stored.object.metadata.labels, sent]).toEqual([undefined, []])
  })
})

describe('the namespace is created alone', () => {
  const refused = forbidden(configMaps, 'b', 'no')
  const cases: readonly { readonly name: string; readonly admission: readonly AdmissionPlugin[] }[] = [
    {
      name: 'when admission refuses one of them',
      admission: [about({ mutate: ({ name, object }) => (name === 'b' ? Promise.reject(refused) : object) })],
    },
    {
      name: 'when somebody wants the namespace to be there first',
      admission: [
        about({
          validate() {
            throw new NeedsNamespace('hook.ex.io')
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
    await using f = await startFixture({ storage, admission: [...admission, accompanying(two)] })
    const stored = await create(f)
    expect(stored.object.metadata.labels).toBeUndefined()
    expect(keysOf(sent)).toEqual(alone)
  })

  test('when what must hold besides does not', async () => {
    const { storage, sent } = recording()
    await using f = await startFixture({ storage, admission: [accompanying(two, { decide: () => undefined })] })
    await create(f)
    expect(keysOf(sent)).toEqual(alone)
  })

  test('when two of them are one object', async () => {
    const { storage, sent } = recording()
    await using f = await startFixture({ storage, admission: [accompanying([configMap('a'), configMap('a')])] })
    await create(f)
    expect(keysOf(sent)).toEqual(alone)
  })

  test('when they are too many or too large for a transaction', async () => {
    const many = Array.from({ length: 100 }, (_, i) => configMap(`m${i}`))
    const large = [configMap('a', { k: 'x'.repeat(600_000) }), configMap('b', { k: 'x'.repeat(600_000) })]
    for (const objects of [many, large]) {
      const { storage, sent } = recording()
      await using f = await startFixture({ storage, admission: [accompanying(objects)] })
      await create(f)
      expect(keysOf(sent)).toEqual(alone)
    }
  })

  test('while the cache shows a former one, for it may show its content too', async () => {
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
    await using f = await startFixture({ storage, admission: [accompanying(two)] })
    const key = '/registry/namespaces/team'
    const value = encodeStored({ metadata: { name: 'team' } })
    const former = await storage.commit({ guards: [], writes: [{ key, value, expect: 'absent' }] }).done
    if (!former.ok) throw new Error('it is not there')
    await f.cache.applied(former.revision)
    const hearing = Promise.withResolvers<void>()
    told = hearing.promise
    await storage.commit({ guards: [], writes: [{ key, value: undefined, expect: former.revision }] }).done
    sent.length = 0
    const creating = create(f)
    await expect.poll(() => sent.length).toBe(1)
    hearing.resolve()
    await creating
    expect(keysOf(sent)).toEqual(alone)
  })

  test('when the place of one of them is taken', async () => {
    const { storage, sent } = recording()
    await using f = await startFixture({ storage, admission: [accompanying(two)] })
    await f.registry.create(f.scope(configMaps, '', { namespace: 'team' }), configMap('b'))
    sent.length = 0
    await create(f)
    expect(keysOf(sent)).toEqual([...together, ...alone])
  })
})

describe('a race', () => {
  test('for the namespace is lost with AlreadyExists, and nothing of it is left', async () => {
    await using f = await startFixture({ admission: [accompanying([configMap('a')])] })
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
    const guarding = accompanying([configMap('a')], {
      decide(view) {
        const { key, expect: as } = view.see(configMaps, 'ns', 'guarded')
        decisions.push(as)
        return { guards: [{ key, expect: as }] }
      },
    })
    let f: Fixture
    const { storage, sent } = recording((n) => {
      // The first one is on its way when somebody else comes.
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
    expect(stored.object.metadata.labels).toEqual({ accompanied: 'yes' })
    expect(decisions).toEqual(['absent', expect.any(Number)])
    expect(keysOf(sent).filter((keys) => keys[0] === '/registry/namespaces/team')).toHaveLength(2)
    expect(f.lister.find(configMaps, 'team', 'a')).toBeDefined()
  })

  test('for a guard that is lost again and again does not hold up the namespace', async () => {
    const { storage, sent } = recording()
    let n = 0
    const never = accompanying([configMap('a')], {
      decide: () => ({ guards: [{ key: '/registry/configmaps/ns/never', expect: ++n }] }),
    })
    await using f = await startFixture({ storage, admission: [never] })
    await create(f)
    expect(keysOf(sent)).toEqual([...Array.from({ length: 3 }, () => together[0]?.slice(0, 2)), ...alone])
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
    await using f = await startFixture({ admission: [plugin, accompanying(two)] })
    await expect(create(f)).rejects.toThrow(fault)
  })
})
