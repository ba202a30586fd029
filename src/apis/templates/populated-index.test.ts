import { describe, expect, test } from 'vitest'
import { FakeClient } from '../../../test/support/fake-client.ts'
import { TurnCounter } from '../../../test/support/turn-counter.ts'
import { systemClock } from '../../base/clock.ts'
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
