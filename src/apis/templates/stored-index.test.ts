import { expect, test } from 'vitest'
import { FakeClient } from '../../../test/support/fake-client.ts'
import { configMaps } from '../../../test/support/registry-fixture.ts'
import { FakeClock } from '../../base/fake-clock.ts'
import type { StoreView } from '../../registry/registry.ts'
import { ObjectVersion } from '../../watch/stored-object.ts'
import type { AppliedObject } from './applied-records.ts'
import { servedKind } from './live-object.ts'
import { contentDigest } from './marks.ts'
import { PopulatedIndex } from './populated-index.ts'
import { StoredIndex } from './stored-index.ts'
import type { Verified } from './verified-mark.ts'

const object = (a: string) => ({ metadata: { name: 'one', namespace: 'team', uid: 'u' }, data: { a } })
const stored = (revision: number, a: string): ObjectVersion =>
  ObjectVersion.of('team/one', revision, Buffer.from(JSON.stringify(object(a))))
const claim: AppliedObject = {
  ...{ apiVersion: 'v1', kind: 'ConfigMap', name: 'one', uid: 'u', template: 't', generation: 1, digest: '' },
  content: contentDigest(object('1')),
}

/** An index over a store that holds one object, just as its record says. */
class World {
  readonly marks: Verified[] = []
  readonly errors: unknown[] = []
  /** Writes of marks fail with it. */
  failure: Error | undefined
  readonly clock = new FakeClock()
  readonly #stop = new AbortController()
  #tell: Parameters<StoreView['follow']>[0] = () => {}
  #version = stored(1024, '1')
  readonly index: StoredIndex
  readonly #running: Promise<void>

  constructor() {
    const version = (): ObjectVersion => this.#version
    const changes = { onDrift() {}, onRecorded() {}, onLeft() {} }
    const onError = (error: unknown): never => {
      throw error
    }
    this.index = new StoredIndex({
      stored: {
        find: version,
        glance: version,
        *glances() {},
        follow: (listener) => {
          this.#tell = listener
          return () => {}
        },
        get revision() {
          return version().revision
        },
      },
      records: { of: () => [claim] },
      mark: {
        read: () => undefined,
        write: async ({ revision, except }) => {
          if (this.failure) throw this.failure
          this.marks.push({ revision, except })
        },
      },
      onError: (error) => void this.errors.push(error),
      clock: this.clock,
      findKind: () => configMaps,
      watched: new PopulatedIndex({ client: new FakeClient(), clock: this.clock, onError, ...changes }),
      ...changes,
    })
    this.#running = this.index.run(this.#stop.signal)
    this.index.recorded('team', [claim], [], { namespaceUid: 'n', revision: 1024, isFirst: true })
  }

  change(revision: number, a: string, isNew = false): void {
    const old = isNew ? undefined : this.#version
    this.#version = stored(revision, a)
    this.#tell(configMaps.storageName, this.#version, old)
  }

  stop(): Promise<void> {
    this.#stop.abort()
    return this.#running
  }
}

test('before each record has been told no mark is left', async () => {
  const world = new World()
  world.change(2048, '2')
  await world.stop()
  expect(world.marks).toEqual([])
})

test('a namespace with drift is excepted from the mark', async () => {
  const world = new World()
  world.index.recordsRead()
  world.change(2048, '2')
  await world.stop()
  expect(world.marks).toEqual([{ revision: 2048, except: new Set(['team']) }])
})

test.each([false, true])(
  'so is one with a change of an object that is being written (a new one: %s)',
  async (isNew) => {
    const world = new World()
    world.index.recordsRead()
    world.index.writing(servedKind(configMaps), 'team', 'one')
    world.change(2048, '2', isNew)
    await world.stop()
    expect(world.marks).toEqual([{ revision: 2048, except: new Set(['team']) }])
  },
)

test('where every object is as recorded nothing is excepted', async () => {
  const world = new World()
  world.index.recordsRead()
  await world.stop()
  expect(world.marks).toEqual([{ revision: 1024, except: new Set() }])
})

test('a mark that a full store refuses is tried again, and the index goes on', async () => {
  const world = new World()
  world.index.recordsRead()
  world.failure = new Error('full')
  await world.clock.advance(60_000)
  expect(world.errors).toEqual([world.failure])
  world.failure = undefined
  await world.clock.advance(60_000)
  expect(world.marks).toEqual([{ revision: 1024, except: new Set() }])
  await world.stop()
})
