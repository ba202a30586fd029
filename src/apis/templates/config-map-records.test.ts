/** Applied records in ConfigMaps: written ahead and completed, read once, and overtaken by other writers. */
import { beforeEach, describe, expect, test } from 'vitest'
import { FakeClient } from '../../../test/support/fake-client.ts'
import { systemClock } from '../../base/clock.ts'
import { internalError } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { Namespace } from '../namespaces/types.ts'
import type { AppliedObject } from './applied-records.ts'
import { ConfigMapRecords } from './config-map-records.ts'

const configMaps = { group: '', version: 'v1', resource: 'configmaps' } as const
const { signal } = new AbortController()
const team: Namespace = { metadata: { name: 'team', uid: 'u' } }
const place = { namespace: 'records', name: 'applied-u' }
const applied = (name: string, more: Partial<AppliedObject> = {}): AppliedObject => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap', name, uid: `of ${name}`, template: 't' },
  ...{ generation: 1, digest: 'd', content: 'c', ...more },
})
const change = (objects: AppliedObject[], released: string[] = []) => ({ applied: objects, released })
const [a, b] = [applied('a'), applied('b')]

let client: FakeClient
let records: ConfigMapRecords
let told: unknown[]
let errors: unknown[]
beforeEach(() => {
  client = new FakeClient()
  told = []
  errors = []
  records = opened()
})
const opened = (of: FakeClient = client): ConfigMapRecords =>
  new ConfigMapRecords({ client: of, clock: systemClock, namespace: 'records', onError: (error) => errors.push(error) })
const follow = (of: ConfigMapRecords = records): Promise<void> =>
  of.follow((namespace, next, old, { namespaceUid, isFirst }) => {
    told.push([namespace, next.map(({ name }) => name), old.map(({ name }) => name), namespaceUid, isFirst])
  }, signal)
const stored = (): Promise<KubeObject> => client.get(configMaps, place)
const objectsIn = async (): Promise<unknown> =>
  JSON.parse(((await stored()) as unknown as { data: { objects: string } }).data.objects)
const put = (objects: unknown, name = 'team'): Promise<KubeObject> =>
  client.create(configMaps, {
    ...{ apiVersion: 'v1', kind: 'ConfigMap' },
    metadata: { ...place, labels: { 'policy.borough.dev/applied-in': name } },
    data: { namespaceUid: 'u', objects: typeof objects === 'string' ? objects : JSON.stringify(objects) },
  } as KubeObject)

describe('a record', () => {
  test('is a ConfigMap by the uid of the namespace, and named after it', async () => {
    await records.settle(team, change([a]), signal)
    expect(await stored()).toMatchObject({
      ...{ apiVersion: 'v1', kind: 'ConfigMap' },
      metadata: { ...place, labels: { 'policy.borough.dev/applied-in': 'team' } },
      data: { namespaceUid: 'u', objects: JSON.stringify([a]) },
    })
    expect(records.of('team')).toEqual([a])
    expect(records.of('other')).toEqual([])
  })

  test('is written only where it is another, on what is there', async () => {
    await records.settle(team, change([a]), signal)
    await records.settle(team, change([a]), signal)
    await records.settle(team, change([b]), signal)
    expect(client.writes).toEqual(['create configmaps applied-u', 'update configmaps applied-u'])
    expect(await objectsIn()).toEqual([a, b])
  })

  test('goes with the last object, and is not made for none', async () => {
    await records.settle(team, change([a]), signal)
    await records.settle(team, change([], ['/ConfigMap/a']), signal)
    expect(client.writes).toEqual(['create configmaps applied-u', 'delete configmaps applied-u'])
    expect(records.of('team')).toEqual([])
    await records.settle(team, change([], ['/ConfigMap/a']), signal)
    expect(client.writes).toHaveLength(2)
  })

  test('tells ahead what is not recorded yet', async () => {
    await records.settle(team, change([a]), signal)
    await records.announce(team, [{ ...a, uid: '' }, applied('b', { uid: '' })], signal)
    expect(await objectsIn()).toEqual([a, applied('b', { uid: '' })])
  })

  test('is of one namespace, also where the next of its name is there already', async () => {
    await records.settle(team, change([a]), signal)
    await records.settle({ metadata: { name: 'team', uid: 'v' } }, change([b]), signal)
    expect(records.of('team')).toEqual([a, b])
    await records.release('team', 'u', signal)
    expect(records.of('team')).toEqual([b])
    await records.release('team', 'u', signal)
    expect(client.writes.filter((write) => write.startsWith('delete'))).toEqual(['delete configmaps applied-u'])
  })

  test('is released where it was deleted by another', async () => {
    await records.settle(team, change([a]), signal)
    await client.delete(configMaps, place)
    await records.release('team', 'u', signal)
    expect(records.of('team')).toEqual([])
  })
})

describe('after a start', () => {
  test('each record is told once as the first, and writes go on from it', async () => {
    await put([a])
    await follow()
    expect(told).toEqual([['team', ['a'], [], 'u', true]])
    expect(records.of('team')).toEqual([a])
    await records.settle(team, change([b]), signal)
    expect(told.at(-1)).toEqual(['team', ['a', 'b'], ['a'], 'u', false])
    expect(await objectsIn()).toEqual([a, b])
  })

  test('what another writes afterwards is found out by the next write', async () => {
    await follow()
    await put([b])
    expect(records.of('team')).toEqual([])
    await records.settle(team, change([a]), signal)
    expect(await objectsIn()).toEqual([b, a])
  })

  test('a ConfigMap that is no record is named, and says nothing', async () => {
    await put('{')
    await follow()
    expect(errors.map(String)).toEqual(['Error: ConfigMap applied-u is no record of what templates made'])
    expect([told, records.of('team')]).toEqual([[], []])
  })

  test('it is known whether all that was applied is recorded', async () => {
    await follow()
    expect(records.isComplete).toBe(false)
    await records.complete(signal)
    expect(records.isComplete).toBe(true)
    const mark = await client.get(configMaps, { namespace: 'records', name: 'applied-complete' })
    expect(mark).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' })
    const next = opened()
    expect(next.isComplete).toBe(false)
    await follow(next)
    expect(next.isComplete).toBe(true)
    expect(told).toEqual([])
    await next.complete(signal)
    expect(await client.get(configMaps, { namespace: 'records', name: 'applied-complete' })).toMatchObject({
      metadata: { labels: { 'policy.borough.dev/applied-in': '' } },
    })
  })
})

describe('a write that is overtaken', () => {
  test('is made again on what is there', async () => {
    await records.settle(team, change([a]), signal)
    const there = await stored()
    await client.update(configMaps, {
      ...there,
      data: { namespaceUid: 'u', objects: JSON.stringify([b]) },
    } as KubeObject)
    await records.settle(team, change([applied('c')]), signal)
    expect(await objectsIn()).toEqual([b, applied('c')])
  })

  test('keeps what it knew where the record was deleted', async () => {
    await records.settle(team, change([a]), signal)
    await client.delete(configMaps, place)
    await records.settle(team, change([b]), signal)
    expect(await objectsIn()).toEqual([a, b])
  })

  test('is given up after five times, and another failure at once', async () => {
    await records.settle(team, change([a]), signal)
    let updates = 0
    class Failing extends FakeClient {
      override async update(): Promise<KubeObject> {
        updates++
        throw failure
      }
    }
    let failure: Error = internalError('broken')
    const failing = new Failing()
    const of = opened(failing)
    await of.settle(team, change([a]), signal)
    await expect(of.settle(team, change([b]), signal)).rejects.toBe(failure)
    expect(updates).toBe(1)
    failure = await client.create(configMaps, await stored()).then(
      () => new Error('it was not there'),
      (error: Error) => error,
    )
    await expect(of.settle(team, change([b]), signal)).rejects.toBe(failure)
    expect(updates).toBe(6)
  })

  test('of the mark that all is recorded is one that is there', async () => {
    await records.complete(signal)
    const failure = internalError('broken')
    class Failing extends FakeClient {
      override async create(): Promise<KubeObject> {
        throw failure
      }
    }
    await expect(opened(new Failing()).complete(signal)).rejects.toBe(failure)
  })
})

describe('a ConfigMap among the records', () => {
  const bare = (metadata: object, more: object = {}): Promise<KubeObject> =>
    client.create(configMaps, { ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata }, ...more } as never)

  test('without data is a record of nothing, of no namespace', async () => {
    await bare({ ...place, labels: { 'policy.borough.dev/applied-in': 'team' } })
    await follow()
    expect([told, errors, records.of('team')]).toEqual([[['team', [], [], '', true]], [], []])
  })

  test('without the label is of no namespace that has a name', async () => {
    await bare(place, { data: { namespaceUid: 'u', objects: JSON.stringify([a]) } })
    await follow()
    expect([records.of('team'), records.of('')]).toEqual([[], [a]])
  })
})

test('a record that was only told ahead here, and never written, is released without asking the server', async () => {
  await put([a])
  await follow()
  client.delete = () => Promise.reject(internalError('it is down'))
  await expect(records.release('team', 'u', signal)).rejects.toThrow('nternal')
  expect(records.of('team')).toEqual([])
  await records.release('team', 'u', signal)
})

test('what another writer took away meanwhile is written anew', async () => {
  await records.settle(team, change([a]), signal)
  await client.delete(configMaps, place)
  await records.settle(team, change([b]), signal)
  expect(await objectsIn()).toEqual([a, b])
})
