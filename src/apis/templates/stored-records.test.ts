/** Records of what templates made, in the store of this process: what is told of them, and how they are written. */
import { beforeEach, describe, expect, test } from 'vitest'
import { RecordStore } from '../../../test/support/record-store.ts'
import { namespaces } from '../../../test/support/registry-fixture.ts'
import type { DecisionView } from '../../admission/admission.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { Namespace } from '../namespaces/types.ts'
import type { AppliedObject } from './applied-records.ts'
import { StoredRecords } from './stored-records.ts'

const of = (name: string, more: Partial<AppliedObject> = {}): AppliedObject => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap', name, uid: `uid of ${name}`, template: 't', generation: 1 },
  ...{ digest: 'd', content: 'c', ...more },
})
const team: Namespace = { metadata: { name: 'team', uid: 'n' } }
const recordOf = (objects: readonly AppliedObject[], namespaceUid = 'n', name = 'team') =>
  ({ metadata: { name }, namespaceUid, objects }) as unknown as KubeObject

let store: RecordStore
let records: StoredRecords
let known: Namespace | undefined
let stop: AbortController
beforeEach(() => {
  store = new RecordStore()
  known = team
  stop = new AbortController()
  store.put('namespaces', '', 'team', team)
  const lookup = { type: namespaces, find: () => known, refresh: async () => {} }
  records = new StoredRecords({ records: store.records, stored: store.stored, namespaces: lookup } as never)
})
const put = (objects: readonly AppliedObject[], namespaceUid = 'n', name = 'team'): number =>
  store.put('borough', 'applied', name, recordOf(objects, namespaceUid, name))
const stored = () => store.read('borough', 'applied', 'team')

describe('a listener', () => {
  const told: string[] = []
  const follow = (): Promise<void> => {
    told.length = 0
    return records.follow((namespace, next, old, { namespaceUid, revision, isFirst }) => {
      const names = (all: readonly AppliedObject[]): string => all.map(({ name }) => name).join(',')
      told.push(`${namespace} of ${namespaceUid}: ${names(old)} -> ${names(next)} ${isFirst ? 'first' : revision}`)
    }, stop.signal)
  }

  test('is told what is there, then what changes', async () => {
    put([of('a')])
    put([of('b')], 'm', 'other')
    await follow()
    expect(store.waits).toEqual(['refreshed'])
    expect(told).toEqual(['other of m:  -> b first', 'team of n:  -> a first'])
    const revision = put([of('a'), of('c')])
    store.put('borough', 'applied', 'other', undefined)
    // Of no record.
    store.put('borough', 'verified', 'team', recordOf([]))
    store.put('namespaces', '', 'team', team)
    expect(told.slice(2)).toEqual([`team of n: a -> a,c ${revision}`, 'other of m: b ->  0'])
    stop.abort()
    put([])
    expect(told).toHaveLength(4)
  })

  test('is not told of a change before the record itself', async () => {
    for (let i = 0; i < 201; i++) put([of('a')], 'm', `n${i}`)
    const { glances } = store.stored
    let changed = ''
    store.stored.glances = function* (...given) {
      for (const step of glances(...given)) {
        yield step
        if (changed !== '') continue
        changed = 'n1'
        // One that was told, one that is to be.
        put([of('b')], 'm', 'n0')
        put([of('b')], 'm', 'n99')
      }
    }
    await follow()
    expect(told.filter((what) => what.startsWith('n0 '))).toEqual([
      'n0 of m:  -> a first',
      expect.stringMatching(/^n0 of m: a -> b \d+$/),
    ])
    expect(told.filter((what) => what.startsWith('n99 '))).toEqual(['n99 of m:  -> b first'])
    expect(told).toHaveLength(202)
  })

  test('that has gone is told nothing', async () => {
    put([of('a')])
    stop.abort()
    await follow()
    expect(told).toEqual([])
  })
})

describe('what is about to be applied', () => {
  test('is known until it is settled, and not written where it comes with the object', async () => {
    await records.announce(team, [of('a')])
    expect(records.announced('team', '/ConfigMap/a')).toEqual(of('a'))
    expect(records.announced('team', '/ConfigMap/b')).toBeUndefined()
    expect(records.announced('other', '/ConfigMap/a')).toBeUndefined()
    expect([records.of('team'), stored()]).toEqual([[], undefined])
    await records.settle(team, { applied: [of('a')], released: [] })
    expect(records.announced('team', '/ConfigMap/a')).toBeUndefined()
    expect(records.of('team')).toEqual([of('a')])
  })

  test('is written ahead where each apply would write a large record', async () => {
    const many = Array.from({ length: 89 }, (_, i) => of(`o${i}`))
    put(many)
    await records.announce(team, [of('o0'), of('a')])
    expect([records.of('team').length, store.commits]).toEqual([89, 0])
    await records.announce(team, [of('o0'), of('a'), of('b', { uid: '' })])
    expect(records.of('team').slice(89)).toEqual([of('a'), of('b', { uid: '' })])
  })
})

describe('a record', () => {
  const settle = (applied: AppliedObject[], released: string[] = []) => records.settle(team, { applied, released })

  test('holds what was applied and not released, and goes with the last', async () => {
    await settle([of('a'), of('b')])
    expect(stored()).toEqual(recordOf([of('a'), of('b')]))
    expect(store.waits).toEqual([expect.stringMatching(/^applied \d+$/)])
    await settle([of('b', { content: 'x' })], ['/ConfigMap/a'])
    expect(stored()).toEqual(recordOf([of('b', { content: 'x' })]))
    await settle([], ['/ConfigMap/b'])
    expect(stored()).toBeUndefined()
    const { commits } = store
    await settle([], ['/ConfigMap/b'])
    await settle([])
    expect(store.commits).toBe(commits)
  })

  test('of a former namespace of that name is begun anew', async () => {
    put([of('old')], 'former')
    await settle([of('a')])
    expect(stored()).toEqual(recordOf([of('a')]))
  })

  test('is decided again where another wrote meanwhile', async () => {
    store.meanwhile = () => put([of('theirs')])
    await settle([of('a')])
    expect(stored()).toEqual(recordOf([of('theirs'), of('a')]))
    expect(store.waits).toEqual(['refreshed', expect.stringMatching(/^applied/)])
    // Nor is it written for a namespace that changed or went.
    store.meanwhile = () => {
      known = { metadata: { name: 'team', uid: 'later' } }
      store.put('namespaces', '', 'team', known)
    }
    await settle([of('b')])
    expect(stored()).toEqual(recordOf([of('theirs'), of('a')]))
  })

  test.each<[string, () => void]>([
    ['gone', () => store.put('namespaces', '', 'team', undefined)],
    ['another', () => (known = { metadata: { name: 'team', uid: 'later' } })],
    ['not known', () => (known = undefined)],
  ])('is not written where the namespace is %s', async (_, before) => {
    before()
    await settle([of('a')])
    expect(stored()).toBeUndefined()
  })

  test('is released when its namespace is gone', async () => {
    put([of('a')])
    await records.release('team', 'n')
    expect(stored()).toBeDefined()
    known = undefined
    await records.release('team', 'another')
    expect(stored()).toBeDefined()
    store.meanwhile = () => put([of('b')])
    await records.release('team', 'n')
    expect(stored()).toBeUndefined()
    const { commits } = store
    await records.release('team', 'n')
    expect(store.commits).toBe(commits)
  })

  test('is told to be complete once, for all', async () => {
    expect(records.isComplete).toBe(false)
    await records.complete()
    expect(records.isComplete).toBe(true)
    expect(store.read('borough', '', 'applied')).toEqual({ metadata: { name: 'applied' } })
    await records.complete()
    expect(records.isComplete).toBe(true)
  })
})

describe('with the write of an object', () => {
  const view = (objects: Record<string, KubeObject>): DecisionView =>
    ({
      see: (type: { storageName: string }, where: string, name: string) => {
        const key = `${type.storageName}/${where}/${name}`
        return { key, object: objects[key], expect: objects[key] === undefined ? 'absent' : 7 }
      },
    }) as unknown as DecisionView
  const there = { 'namespaces//team': team }
  const key = 'borough/applied/team'

  test.each<[string, Record<string, KubeObject>, KubeObject, unknown]>([
    ['begins', there, recordOf([of('a')]), 'absent'],
    ['goes on', { ...there, [key]: recordOf([of('b')]) }, recordOf([of('b'), of('a')]), 7],
    ['begins anew', { ...there, [key]: recordOf([of('b')], 'former') }, recordOf([of('a')]), 7],
    ['begins with a namespace that is not seen', {}, recordOf([of('a')], ''), 'absent'],
  ])('the record %s', (_, objects, object, expected) => {
    const write = records.written(view(objects), 'team', [of('a')])
    expect(write).toMatchObject({ key, expect: expected, object })
    expect(JSON.parse(Buffer.from(write?.value ?? []).toString())).toEqual(object)
  })

  test('nothing is written that it says already', () => {
    expect(records.written(view({ ...there, [key]: recordOf([of('a')]) }), 'team', [of('a')])).toBeUndefined()
  })

  test('it goes with its namespace', () => {
    expect(records.removed(view({ [key]: recordOf([]) }), 'team')).toEqual({ key, expect: 7, value: undefined })
    expect(records.removed(view({}), 'team')).toBeUndefined()
  })
})
