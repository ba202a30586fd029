import { describe, expect, test } from 'vitest'
import { FakeClient } from '../../../test/support/fake-client.ts'
import { TurnCounter } from '../../../test/support/turn-counter.ts'
import { systemClock } from '../../base/clock.ts'
import { Channel } from '../../base/stream.ts'
import type { WatchEvent } from '../../client/client.ts'
import { StatusError } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { AppliedObject } from './applied-records.ts'
import { configDigest } from './held-config.ts'
import { contentDigest } from './marks.ts'
import { PopulatedIndex } from './populated-index.ts'
import { templateFieldManager, templateNameLabel } from './types.ts'

const kind = {
  group: '',
  version: 'v1',
  resource: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
  verbs: [],
} as const

const config = (value: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'one', namespace: 'team', labels: { [templateNameLabel]: 't' } },
  data: { a: value },
})
/** As an apply of ours leaves it. */
const applied = (value: string): KubeObject => {
  const object = config(value)
  const fieldsV1 = { 'f:data': { 'f:a': {} }, 'f:metadata': { 'f:labels': { [`f:${templateNameLabel}`]: {} } } }
  const entry = {
    manager: templateFieldManager,
    operation: 'Apply',
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
    fieldsV1,
  }
  return { ...object, metadata: { ...object.metadata, uid: 'u', managedFields: [entry] } }
}

class World implements AsyncDisposable {
  readonly client = new FakeClient()
  readonly recorded: AppliedObject[] = []
  readonly drift: string[] = []
  readonly expected: string[] = []
  readonly #stop = new AbortController()
  readonly index = new PopulatedIndex({
    client: this.client,
    clock: systemClock,
    records: { of: () => this.recorded },
    onDrift: (namespace) => this.drift.push(namespace),
    onRecorded: (namespace) => this.expected.push(namespace),
    onLeft() {},
    onError: (error) => {
      throw error
    },
  })

  /** With its record. */
  async bear(): Promise<void> {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', name: 'one', uid: 'u' }
    const given = { template: 't', generation: 1, digest: 'the first', content: contentDigest(applied('1')) }
    this.recorded.push({ ...object, ...given })
    await this.client.create(kind, applied('1'))
  }

  edit = async (value: string): Promise<void> => void (await this.client.update(kind, applied(value)))
  look = (): Promise<boolean> => this.index.watchKind(kind, this.#stop.signal)
  get found() {
    return this.index.find(kind, 'team', 'one')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
  }
}

describe('an object that was recorded as it was applied', () => {
  test('is known to hold what was applied', async () => {
    await using world = new World()
    await world.look()
    await world.bear()
    await expect.poll(() => world.found).toMatchObject({ applied: 'the first', isMarked: true, template: 't' })
    expect(world.found).not.toHaveProperty('held')
    expect([world.expected, world.drift]).toEqual([['team'], []])
  })

  test('is known when it is listed, too', async () => {
    await using world = new World()
    await world.bear()
    await world.look()
    expect(world.found).toMatchObject({ applied: 'the first' })
  })

  test('and was changed while nobody watched is asked what it holds', async () => {
    await using world = new World()
    await world.bear()
    await world.edit('2')
    await world.look()
    expect(world.found).toMatchObject({ held: configDigest(config('2')) })
    expect(world.found).not.toHaveProperty('applied')
  })

  test('and is changed later has drifted', async () => {
    await using world = new World()
    await world.look()
    await world.bear()
    await expect.poll(() => world.found?.applied).toBe('the first')
    await world.edit('2')
    await expect.poll(() => world.drift).toEqual(['team'])
    expect(world.found).not.toHaveProperty('applied')
  })
})

test('an object that is not recorded is asked what it holds', async () => {
  await using world = new World()
  await world.look()
  await world.client.create(kind, applied('1'))
  await expect.poll(() => world.found).toMatchObject({ held: configDigest(config('1')) })
  expect(world.drift).toEqual(['team'])
})

test('what is marked is told of some namespaces in a turn of the loop', async () => {
  await using world = new World()
  for (let i = 0; i < 350; i++) {
    const object = applied('1')
    await world.client.create(kind, { ...object, metadata: { ...object.metadata, namespace: `n${i}`, uid: `u${i}` } })
  }
  await world.look()
  const counter = new TurnCounter()
  let told = 0
  for await (const { objects } of world.index.marked(new Set(['v1/ConfigMap']))) told += objects.length
  counter.stop()
  expect(told).toBe(350)
  expect(counter.turns).toBeGreaterThanOrEqual(3)
})

describe('without records', () => {
  const open = (records?: readonly AppliedObject[]) => {
    const client = new FakeClient()
    const told: string[] = []
    const note = (what: string) => (about: string) => void told.push(`${what} ${about}`)
    const index = new PopulatedIndex({
      ...{ client, clock: systemClock, onDrift: note('drift'), onRecorded: note('recorded'), onLeft: note('left') },
      ...(records === undefined ? {} : { records: { of: () => records } }),
      onError: (error) => void told.push(String(error)),
    })
    return { client, told, index, stop: new AbortController() }
  }

  test('what bears marks is believed to be ours, as long as it is there', async () => {
    const { client, told, index, stop } = open()
    await client.create(kind, applied('1'))
    expect(await index.watchKind(kind, stop.signal)).toBe(true)
    expect(index.claimsIn('team')).toMatchObject([{ name: 'one', uid: 'u', template: 't', digest: '' }])
    expect(index.claimsIn('elsewhere')).toEqual([])
    expect(index.holdings.holds('t', 'team')).toBe(true)
    await client.delete(kind, { namespace: 'team', name: 'one' })
    await expect.poll(() => told).toEqual(['drift team', 'left t', 'drift team'])
    expect([index.find(kind, 'team', 'one'), [...index.livesIn('team')]]).toEqual([undefined, []])
    stop.abort()
  })

  test('with them, the record says what is ours', async () => {
    const one = { apiVersion: 'v1', kind: 'ConfigMap', name: 'other', uid: 'x', template: 't', generation: 1 }
    const record = [{ ...one, digest: '', content: '' }]
    const { client, index, stop } = open(record)
    await client.create(kind, applied('1'))
    await index.watchKind(kind, stop.signal)
    expect(index.claimsIn('team')).toBe(record)
    expect(index.holdings.holds('t', 'team')).toBe(false)
    stop.abort()
  })

  test('a kind is listed once, however often it is asked for', async () => {
    const { client, index, stop } = open()
    let listed = 0
    const { list } = client
    client.list = (...given) => (listed++, list.apply(client, given)) as never
    for (let i = 0; i < 3; i++) await index.watchKind(kind, stop.signal)
    expect(listed).toBe(1)
    stop.abort()
  })

  test.each([400, 403, 404, 405, 500, 501, 503, 504])(
    'a server that answers %s does not say what there is',
    async (code) => {
      const { client, told, index, stop } = open()
      client.list = () => Promise.reject(new StatusError('no', { code }))
      expect(await index.watchKind(kind, stop.signal)).toBe(false)
      expect(told).toEqual(['StatusError: no'])
      stop.abort()
    },
  )

  test('one that has too many requests is asked again', async () => {
    const { client, told, index, stop } = open()
    const { list } = client
    client.list = () => {
      client.list = list
      return Promise.reject(new StatusError('later', { code: 429 }))
    }
    expect(await index.watchKind(kind, stop.signal)).toBe(true)
    expect(told).toEqual(['StatusError: later'])
    stop.abort()
  })
})

test('what we wrote is as we wrote it, whichever tells of it first', async () => {
  await using world = new World()
  await world.look()
  const written = world.index.writing(kind, 'team', 'one')
  const object = await world.client.create(kind, applied('1'))
  written({ object, config: 'config', extended: 'data.b' })
  expect(world.found).toMatchObject({
    applied: 'config',
    extended: 'data.b',
    revision: object.metadata.resourceVersion,
  })
  const { extended: _, ...told } = world.found ?? {}
  world.index.upToDate({ ...told, held: 'x' } as never, 'next')
  expect(world.found).toMatchObject({ applied: 'next' })
  expect(world.found).not.toHaveProperty('held')
  expect(world.index.mustAsk('team')).toBe(false)
  // What another writes after it is drift, though it came before our answer.
  const again = world.index.writing(kind, 'team', 'one')
  await world.edit('2')
  await new Promise((resolve) => setImmediate(resolve))
  expect(world.drift).toEqual([])
  again(undefined)
  await expect.poll(() => world.drift).toEqual(['team'])
})

describe('what the watch tells', () => {
  const at = (value: string, resourceVersion: string, uid = 'u'): KubeObject => {
    const object = applied(value)
    return { ...object, metadata: { ...object.metadata, resourceVersion, uid } }
  }

  /** A watch that tells what the test says, after a list of one object. */
  async function watching(first: KubeObject) {
    const world = new World()
    const events = new Channel<WatchEvent>({ limit: 100, onClose() {} })
    world.client.list = async () => ({ metadata: { resourceVersion: '1' }, items: [first] }) as never
    world.client.watch = () => events
    await world.look()
    world.drift.length = 0
    let told = 0
    const tell = (type: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubeObject): void =>
      void events.push({ type, object })
    /** Told after all that was told before, so that is seen by now. */
    const settled = async (): Promise<void> => {
      const other = at('1', '1')
      const name = `last-${++told}`
      tell('ADDED', { ...other, metadata: { ...other.metadata, name, uid: name } })
      await expect.poll(() => world.index.find(kind, 'team', name)).toBeDefined()
      world.drift.pop()
    }
    return { world, tell, settled }
  }

  test.each([
    { known: '9', next: '10', isSeen: true },
    { known: '10', next: '9', isSeen: false },
    { known: '10', next: '11', isSeen: true },
    { known: '11', next: '10', isSeen: false },
    { known: '10', next: '10', isSeen: false },
    { known: 'b', next: 'a', isSeen: true },
    { known: 'a', next: 'a', isSeen: false },
    { known: '10', next: 'a', isSeen: true },
    { known: 'a', next: '10', isSeen: true },
  ])('of version $next after $known is believed: $isSeen', async ({ known, next, isSeen }) => {
    const { world, tell, settled } = await watching(at('1', known))
    await using _ = world
    tell('MODIFIED', at('2', next))
    await settled()
    expect(world.drift).toEqual(isSeen ? ['team'] : [])
    expect(world.found?.revision).toBe(isSeen ? next : known)
  })

  test('of a version that says the same is no drift, and the version is known', async () => {
    const { world, tell, settled } = await watching(at('1', '1'))
    await using _ = world
    tell('MODIFIED', at('1', '2'))
    await settled()
    expect([world.found?.revision, world.drift]).toEqual(['2', []])
  })

  test('of another object in its place is drift, though it says the same', async () => {
    const { world, tell, settled } = await watching(at('1', '1'))
    await using _ = world
    tell('MODIFIED', at('1', '2', 'v'))
    await settled()
    expect([world.found?.uid, world.drift]).toEqual(['v', ['team']])
  })

  test('of its end is drift, and what is in its place by now is not ended by it', async () => {
    const { world, tell, settled } = await watching(at('1', '1'))
    await using _ = world
    world.index.writing(kind, 'team', 'one')({ object: at('1', '3', 'v'), config: 'config' })
    tell('DELETED', at('1', '2'))
    await settled()
    expect([world.found?.uid, world.drift]).toEqual(['v', []])
    tell('ADDED', at('1', '4', 'v'))
    tell('DELETED', at('1', '5', 'v'))
    await settled()
    expect([world.found, world.drift]).toEqual([undefined, ['team']])
  })

  test('of a label that is gone takes the object out, and what bears no template’s name is nobody’s', async () => {
    const { world, tell, settled } = await watching(at('1', '1'))
    await using _ = world
    const bare = at('1', '2')
    const { labels: _l, ...metadata } = bare.metadata
    tell('MODIFIED', { ...bare, metadata })
    await settled()
    expect(world.found).toMatchObject({ template: '', isMarked: false, revision: '2' })
    expect(world.drift).toEqual(['team'])
  })
})

test('an object in a namespace of which nothing is known is not made up', async () => {
  await using world = new World()
  const object = { resource: kind, namespace: 'elsewhere', name: 'one' }
  world.index.upToDate(object as never, 'config')
  expect([...world.index.livesIn('elsewhere')]).toEqual([])
})

test('it must be asked about where one object tells itself what it holds', async () => {
  await using world = new World()
  await world.client.create(kind, applied('1'))
  await world.look()
  expect([world.index.mustAsk('team'), world.index.mustAsk('elsewhere')]).toEqual([true, false])
})
