/** What the index over this process's store tells of objects, of their drift, and which of them it reads at a start. */
import { beforeEach, describe, expect, test } from 'vitest'
import { configMaps, pods, widgets } from '../../../test/support/registry-fixture.ts'
import { FakeClock } from '../../base/fake-clock.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import type { JsonObject, KubeObject } from '../../kube/types.ts'
import type { StoreView } from '../../registry/registry.ts'
import { ObjectVersion } from '../../watch/stored-object.ts'
import type { AppliedObject } from './applied-records.ts'
import { servedKind } from './live-object.ts'
import { contentDigest } from './marks.ts'
import type { MarkedObjects, PopulatedObject, PopulatedObjects } from './populated-objects.ts'
import { StoredIndex } from './stored-index.ts'
import type { Verified } from './verified-mark.ts'

const label = { 'policy/namespace-template-name': 't' }
const managedFields = [{ manager: 'namespace-template', operation: 'Apply', apiVersion: 'v1', fieldsV1: {} }]
const object = (name: string, a: string, metadata: JsonObject = { labels: label }): KubeObject =>
  ({ metadata: { name, namespace: 'team', uid: `uid of ${name}`, ...metadata }, data: { a } }) as unknown as KubeObject
const claimOn = (of: KubeObject, more: Partial<AppliedObject> = {}): AppliedObject => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap', name: of.metadata.name ?? '', uid: of.metadata.uid ?? '' },
  ...{ template: 't', generation: 1, digest: 'config', content: contentDigest(of), ...more },
})
/** Revisions of one transaction lie below the next multiple of it. */
const commit = 1024

class World {
  readonly objects = new Map<string, ObjectVersion>()
  readonly claims = new Map<string, readonly AppliedObject[]>()
  /** What was told, and which objects were read. */
  readonly told: string[] = []
  readonly read: string[] = []
  readonly marks: Verified[] = []
  readonly clock = new FakeClock()
  /** Kinds that another server converts. */
  readonly converted = new Set<string>()
  readonly index: StoredIndex
  readonly #stop = new AbortController()
  readonly #running: Promise<void>
  #tell: Parameters<StoreView['follow']>[0] = () => {}
  #revision = commit

  constructor(verified?: Verified) {
    const { objects, told, converted } = this
    const revision = () => this.#revision
    const find = (storageName: string, namespace: string, name: string) =>
      objects.get(`${storageName} ${namespace}/${name}`)
    const note = (what: string) => (about: string) => void told.push(`${what} ${about}`)
    const watched = {
      run: async () => {},
      watchKind: async ({ kind }) => (note('watched')(kind), true),
      find: ({ resource }, namespace, name) => note('asked elsewhere:')(`${resource} ${namespace}/${name}`),
      async *marked() {},
      livesIn: () => [],
      mustAsk: () => false,
      writing: ({ resource }) => (note('written elsewhere:')(resource), () => {}),
      upToDate: ({ name }, config) => note('up to date elsewhere:')(`${name} ${config}`),
    } as Partial<PopulatedObjects> as PopulatedObjects
    this.index = new StoredIndex({
      stored: {
        find,
        glance: (storageName, namespace, name) => {
          this.read.push(name)
          return find(storageName, namespace, name)
        },
        *glances(storageName, size) {
          const all = [...objects].filter(([key]) => key.startsWith(`${storageName} `)).map(([, version]) => version)
          for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size)
        },
        follow: (listener) => {
          this.#tell = listener
          return () => {}
        },
        get revision() {
          return revision()
        },
      },
      records: { of: (namespace) => this.claims.get(namespace) ?? [] },
      mark: { read: () => verified, write: async (mark) => void this.marks.push(mark) },
      onError: (error) => {
        throw error
      },
      clock: this.clock,
      findKind: (apiVersion, kind) => {
        const types: ResourceType[] = [configMaps, pods, widgets]
        const type = types.find((t) => t.kind === kind && apiVersion === (t.group ? `${t.group}/v1` : 'v1'))
        if (type === undefined || !converted.has(kind)) return type
        return { ...type, conversion: { remote: {} } } as unknown as ResourceType
      },
      watched,
      ...{ onDrift: note('drift in'), onRecorded: note('recorded in'), onLeft: note('left:') },
    })
    this.#running = this.index.run(this.#stop.signal)
  }

  /** Stored before the index looks. */
  store(of: KubeObject, { revision = this.#revision, type = configMaps } = {}): ObjectVersion {
    const { name = '', namespace = '' } = of.metadata
    const version = ObjectVersion.of(`${namespace}/${name}`, revision, Buffer.from(JSON.stringify(of)))
    this.objects.set(`${type.storageName} ${namespace}/${name}`, version)
    return version
  }

  /** A record that existed at the start. */
  begin(claims: readonly AppliedObject[], { revision = this.#revision, namespace = 'team' } = {}): void {
    this.claims.set(namespace, claims)
    this.index.recorded(namespace, claims, [], { namespaceUid: 'n', revision, isFirst: true })
  }

  record(claims: readonly AppliedObject[], { revision = this.#revision } = {}): void {
    const old = this.claims.get('team') ?? []
    this.claims.set('team', claims)
    this.index.recorded('team', claims, old, { namespaceUid: 'n', revision, isFirst: false })
  }

  /** A change as the store tells it; undefined = the object goes. Answers its revision. */
  async change(name: string, next: KubeObject | undefined, { type = configMaps } = {}): Promise<number> {
    const revision = this.write(name, next, { type })
    await Promise.resolve()
    return revision
  }

  /** The same, before it is judged. */
  write(name: string, next: KubeObject | undefined, { type = configMaps } = {}): number {
    this.#revision += commit
    const key = `${type.storageName} team/${name}`
    const old = this.objects.get(key)
    if (next === undefined) this.objects.delete(key)
    const version = next && this.store(next, { type })
    this.#tell(type.storageName, version, old)
    return this.#revision
  }

  find(name: string, type = configMaps) {
    return this.index.find(servedKind(type), 'team', name)
  }

  /** Namespaces that are not said to be as recorded. */
  async unsettled(): Promise<string[]> {
    this.index.recordsRead()
    this.#stop.abort()
    await this.#running
    return this.marks.flatMap(({ except }) => [...except])
  }
}

const one = object('one', '1')
const two = object('two', '2')

describe('what is as its record says', () => {
  let world: World
  beforeEach(() => {
    world = new World()
    world.store(one)
    world.store(two)
    world.begin([claimOn(one), claimOn(two)])
  })

  test('is told by the record, without what the object says', () => {
    expect(world.find('one')).toEqual({
      ...{ resource: servedKind(configMaps), kind: 'ConfigMap', namespace: 'team', name: 'one', uid: 'uid of one' },
      ...{ revision: '1024', template: 't', isMarked: true, digest: contentDigest(one), applied: 'config' },
    })
    expect(world.find('none')).toBeUndefined()
    expect([...world.index.livesIn('team')].map(({ name }) => name)).toEqual(['one', 'two'])
    expect(world.index.claimsIn('team')).toHaveLength(2)
    expect(world.index.mustAsk('team')).toBe(false)
  })

  test('may be written again as it is', async () => {
    await world.change('one', { ...one, status: { seen: true } } as unknown as KubeObject)
    expect(world.told).toEqual([])
    expect(await world.unsettled()).toEqual([])
  })

  test.each<[string, KubeObject | undefined, JsonObject | undefined]>([
    ['says something else', object('one', '9'), { name: 'one', template: 't', isMarked: false, revision: '2048' }],
    ['is another object', object('one', '1', { labels: label, uid: 'another' }), { uid: 'another' }],
    ['lost its label', object('one', '1', {}), undefined],
    ['is gone', undefined, undefined],
  ])('and then %s is told as drift, and as it is', async (_, next, told) => {
    await world.change('one', next)
    expect(world.told).toEqual(['drift in team'])
    const found = world.find('one')
    if (told === undefined) expect(found).toBeUndefined()
    else expect(found).toMatchObject(told)
    expect(found?.applied).toBeUndefined()
    // The other is read too by now: what it was applied with is still known.
    expect(world.find('two')).toMatchObject({ applied: 'config', digest: contentDigest(two) })
    expect(await world.unsettled()).toEqual(['team'])
  })

  test('only what was applied by us has to be asked what it was applied with', async () => {
    await world.change('one', object('one', '9'))
    expect(world.index.mustAsk('team')).toBe(false)
    await world.change('one', object('one', '8', { labels: label, managedFields: managedFields as never }))
    expect(world.find('one')).toHaveProperty('held')
    expect(world.index.mustAsk('team')).toBe(true)
    expect(world.index.mustAsk('elsewhere')).toBe(false)
  })

  test('is so again when it is put back: the next minute settles its namespace', async () => {
    world.index.recordsRead()
    await world.change('one', object('one', '9'))
    await world.clock.advance(60_000)
    expect(world.marks.at(-1)).toEqual({ revision: 2 * commit, except: new Set(['team']) })
    await world.change('one', one)
    expect(world.told).toEqual(['drift in team', 'drift in team'])
    await world.clock.advance(60_000)
    expect(world.marks.at(-1)).toEqual({ revision: 3 * commit, except: new Set() })
    expect(world.told).toHaveLength(2)
    // While nothing changes, none is written.
    await world.clock.advance(60_000)
    expect(world.marks).toHaveLength(2)
  })
})

describe('what no record names', () => {
  test.each<[string, KubeObject | undefined, KubeObject | undefined, string[]]>([
    ['is told where it bears a label', undefined, one, ['drift in team']],
    ['is told where it bore one', one, object('one', '1', {}), ['drift in team']],
    ['is told where it goes with one', one, undefined, ['drift in team']],
    ['is no news without one', object('one', '1', {}), object('one', '2', {}), []],
  ])('%s', async (_, old, next, told) => {
    const world = new World()
    await world.index.watchKind(servedKind(configMaps), new AbortController().signal)
    if (old !== undefined) world.store(old)
    await world.change('one', next)
    expect(world.told).toEqual(told)
    expect(await world.unsettled()).toEqual([])
  })

  test('may have the name of what one names, in another kind or group', async () => {
    const world = new World()
    world.store(one)
    const signal = new AbortController().signal
    for (const type of [pods, widgets]) await world.index.watchKind(servedKind(type), signal)
    world.begin([claimOn(one), claimOn(two, { apiVersion: 'ex.io/v1', kind: 'Gone' })])
    await world.change('one', object('one', '9', {}), { type: pods })
    await world.change('one', object('one', '9', {}), { type: widgets })
    expect(world.told).toEqual([])
    expect(world.find('one', pods)).toBeUndefined()
    expect(await world.unsettled()).toEqual([])
  })

  test('is told by what it says', () => {
    const world = new World()
    world.store(object('one', '1', { labels: label, managedFields: managedFields as never }))
    expect(world.find('one')).toMatchObject({ isMarked: true, template: 't', revision: '1024' })
    expect(world.find('one')).not.toHaveProperty('applied')
  })

  test('is among the marked ones of its kind, however many there are', async () => {
    const world = new World()
    const signal = new AbortController().signal
    await world.index.watchKind(servedKind(configMaps), signal)
    await world.index.watchKind(servedKind(pods), signal)
    for (let i = 0; i < 201; i++) {
      world.store(object(`o${i}`, '1', { labels: label, managedFields: managedFields as never }))
    }
    world.store(object('plain', '1', {}))
    world.store(object('p', '1', { labels: label, managedFields: managedFields as never }), { type: pods })
    const marked: MarkedObjects[] = []
    for await (const some of world.index.marked(new Set(['v1/ConfigMap']))) marked.push(some)
    expect(marked.flatMap(({ objects }) => objects)).toHaveLength(201)
    expect(marked[0]).toEqual({
      namespace: 'team',
      objects: [
        {
          ...{ apiVersion: 'v1', kind: 'ConfigMap', name: 'o0', uid: 'uid of o0', template: 't', generation: 0 },
          ...{ digest: '', content: world.find('o0')?.digest },
        },
      ],
    })
  })
})

describe('a record that changes', () => {
  test('with its object, in one transaction, is as it says: no news but that it is there', async () => {
    const world = new World()
    await world.index.watchKind(servedKind(configMaps), new AbortController().signal)
    const revision = world.write('one', one)
    world.record([claimOn(one)], { revision: revision + 1 })
    await Promise.resolve()
    expect(world.told).toEqual(['recorded in team'])
    expect(world.find('one')).toHaveProperty('applied', 'config')
    // An update in one transaction with its record is no news at all.
    const next = object('one', '2')
    const later = world.write('one', next)
    world.record([claimOn(next)], { revision: later + 1 })
    await Promise.resolve()
    expect(world.told).toEqual(['recorded in team'])
    expect(await world.unsettled()).toEqual([])
  })

  test('before its object is not believed until the object is as it says', async () => {
    const world = new World()
    world.record([claimOn(one, { uid: '' })], { revision: commit + 1 })
    await Promise.resolve()
    await world.change('one', one)
    expect(world.told).toEqual(['drift in team'])
    expect(await world.unsettled()).toEqual(['team'])
  })

  test('and leaves what it said of an object leaves it believed, or not', async () => {
    const world = new World()
    world.store(one)
    world.begin([claimOn(one)])
    world.record([claimOn(one, { generation: 2 })], { revision: 9 * commit })
    expect(world.find('one')).toHaveProperty('applied')
    world.store(two)
    world.record([claimOn(one), claimOn(two)], { revision: 9 * commit })
    await Promise.resolve()
    expect(await world.unsettled()).toEqual(['team'])
    const drifted = new World()
    drifted.store(object('one', '9'))
    drifted.begin([claimOn(one)])
    drifted.record([claimOn(one, { generation: 2 })], { revision: 9 * commit })
    expect(await drifted.unsettled()).toEqual(['team'])
  })

  test.each<[string, Partial<AppliedObject>]>([
    ['another content', { content: 'other' }],
    ['another uid', { uid: 'other' }],
  ])('to %s is not believed', async (_, more) => {
    const world = new World()
    world.store(one)
    world.begin([claimOn(one)])
    world.record([claimOn(one, more)], { revision: 9 * commit })
    expect(await world.unsettled()).toEqual(['team'])
  })

  test('to nothing leaves nothing to differ, and the template holds nothing there', async () => {
    const world = new World()
    world.store(object('one', '9'))
    world.begin([claimOn(one)])
    expect(world.index.holdings.holds('t', 'team')).toBe(true)
    world.record([], { revision: 9 * commit })
    expect(world.told).toEqual(['left: t'])
    expect(await world.unsettled()).toEqual([])
  })
})

describe('a start', () => {
  test.each<[string, AppliedObject[], KubeObject[], string[]]>([
    ['believes what is as recorded', [claimOn(one), claimOn(two)], [one, two], []],
    ['does not believe what says something else', [claimOn(two), claimOn(one)], [object('one', '9'), two], ['team']],
    ['nor where only the first does', [claimOn(one), claimOn(two)], [object('one', '9'), two], ['team']],
    ['nor what is not there', [claimOn(one)], [], ['team']],
    ['nor what was only announced', [claimOn(one, { uid: '' })], [one], ['team']],
    ['believes what can not be there: its kind is not served', [claimOn(one, { kind: 'Gone' })], [], []],
  ])('%s', async (_, claims, stored, unsettled) => {
    const world = new World()
    for (const of of stored) world.store(of)
    world.begin(claims)
    expect(await world.unsettled()).toEqual(unsettled)
  })

  test('reads only what changed after the mark', async () => {
    const world = new World({ revision: 5 * commit, except: new Set() })
    world.store(object('one', '9'), { revision: 5 * commit })
    world.store(two, { revision: 6 * commit })
    world.begin([claimOn(one), claimOn(two)], { revision: 5 * commit })
    expect(world.read).toEqual(['two'])
    expect(await world.unsettled()).toEqual([])
  })

  test.each<[string, Verified, number]>([
    ['the mark excepts', { revision: 5 * commit, except: new Set(['team']) }, commit],
    ['the record changed after it', { revision: 5 * commit, except: new Set() }, 6 * commit],
  ])('reads all of a namespace that %s', async (_, verified, revision) => {
    const world = new World(verified)
    world.store(object('one', '9'))
    world.begin([claimOn(one)], { revision })
    expect(world.read).toEqual(['one'])
    expect(await world.unsettled()).toEqual(['team'])
  })
})

describe('while we write an object', () => {
  let world: World
  beforeEach(() => {
    world = new World()
    world.store(one)
    world.begin([claimOn(one)])
  })

  test('our own change is none, and what was added to it is remembered', async () => {
    const written = world.index.writing(servedKind(configMaps), 'team', 'one')
    const next = object('one', '2')
    const revision = await world.change('one', next)
    expect(world.told).toEqual([])
    const metadata = { ...next.metadata, resourceVersion: String(revision) }
    written({ object: { ...next, metadata }, config: 'new', extended: 'data.b' })
    expect(world.told).toEqual([])
    await world.change('one', { ...next, status: {} } as KubeObject)
    expect(world.find('one')).toMatchObject({ applied: 'new', extended: 'data.b' })
    await world.change('one', undefined)
    await world.change('one', next)
    expect(world.find('one')).not.toHaveProperty('extended')
  })

  test.each([
    ['that of another is told with the answer', true],
    ['every change is where nothing was written', false],
  ])('%s', async (_, isWritten) => {
    const written = world.index.writing(servedKind(configMaps), 'team', 'one')
    const revision = await world.change('one', object('one', '9'))
    const metadata = { ...one.metadata, resourceVersion: String(revision + commit) }
    written(isWritten ? { object: { ...one, metadata }, config: 'config' } : undefined)
    expect(world.told).toEqual(['drift in team'])
    await world.change('one', one)
    expect(world.told).toHaveLength(2)
  })
})

test('of kinds that another server converts the watches are asked', async () => {
  const world = new World()
  world.converted.add('ConfigMap')
  const kind = servedKind(configMaps)
  world.store(one)
  world.find('one')
  await world.index.watchKind(kind, new AbortController().signal)
  world.index.writing(kind, 'team', 'one')(undefined)
  const about = { resource: kind, kind: 'ConfigMap', name: 'one' } as Partial<PopulatedObject> as PopulatedObject
  world.index.upToDate(about, 'config')
  await world.change('one', object('one', '9'))
  expect(world.told).toEqual([
    'asked elsewhere: configmaps team/one',
    'watched ConfigMap',
    'written elsewhere: configmaps',
    'up to date elsewhere: one config',
  ])
  world.converted.clear()
  world.index.upToDate(about, 'config')
  expect(world.told).toHaveLength(4)
})
