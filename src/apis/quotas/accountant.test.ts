/** What is charged, guarded and awaited with a change of content, and with a change of what limits it. */
import { beforeEach, describe, expect, test } from 'vitest'
import type { ContentChange, Decision, DecisionView, QueuedChange } from '../../admission/admission.ts'
import { loadCatalog } from '../../catalog/catalog.ts'
import { objectKey } from '../../kube/object-key.ts'
import { type ResourceType, requiredType } from '../../kube/resource-type.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { Expect } from '../../storage/storage.ts'
import { maxQuotas, quotaAccountant } from './accountant.ts'
import type { LimitedResource } from './limited-resources.ts'
import type { ResourceQuota } from './types.ts'

const { types } = loadCatalog()
const core = (resource: string): ResourceType => requiredType(types, { group: '', version: 'v1', resource })
const [quotas, pods, configMaps, secrets, events] = ['resourcequotas', 'pods', 'configmaps', 'secrets', 'events'].map(
  core,
) as [ResourceType, ResourceType, ResourceType, ResourceType, ResourceType]

const keyOf = (name: string): string => objectKey('resourcequotas', 'a', name)
const quota = (name: string, hard: Record<string, string>, used?: Record<string, string>): ResourceQuota => ({
  metadata: { name, namespace: 'a' },
  spec: { hard },
  ...(used ? { status: { hard, used } } : {}),
})
const object = (name: string, more: object = {}): KubeObject => ({ metadata: { name, namespace: 'a' }, ...more })
const pod = (name: string, cpu: string, phase = 'Running'): KubeObject =>
  object(name, {
    spec: { containers: [{ name: 'c', resources: { requests: { cpu } } }] },
    status: { phase, qosClass: 'Burstable' },
  })

interface World {
  stored: ResourceQuota[]
  content: { type: ResourceType; objects: KubeObject[] }[]
  queued: readonly QueuedChange[] | undefined
  limited: LimitedResource[]
  recounting: boolean
  exists: boolean
  /** Of other quotas, in each transaction. */
  others: number
  expect: Expect
  taken: number
  /** Of quotas, as a cache that is behind has them. */
  names: string[] | undefined
}
let world: World
beforeEach(() => {
  world = {
    ...{ stored: [], content: [], queued: [], limited: [], recounting: false, exists: true, others: 0 },
    ...{ expect: 7, taken: 0, names: undefined },
  }
})

const epoch = { key: 'epoch', expect: 3 }
const accountant = quotaAccountant({
  quotaType: quotas,
  quotas: () => world.names ?? world.stored.map(({ metadata }) => metadata.name ?? ''),
  limited: () => world.limited,
  operations: () => world.stored.length + world.others,
  contentOf: (namespace) =>
    (namespace === 'a' ? world.content : []).map(({ type, objects }) => ({ type, count: objects.length })),
  list: (type) => world.content.find((c) => c.type === type)?.objects ?? [],
  epochs: {
    see: () => ({ guard: epoch, recounting: world.recounting, exists: world.exists }),
    take: async () => void world.taken++ as never,
    released: async () => {},
    settled: () => ({ ...epoch, value: new Uint8Array(1), hidden: true }),
    removed: () => ({ ...epoch, value: undefined }),
  },
})

function decide(change: Partial<ContentChange>): Decision {
  const view: DecisionView = {
    see(_type, _where, name) {
      const found = world.stored.find(({ metadata }) => metadata.name === name)
      return { key: keyOf(name), object: found as never, expect: found === undefined ? 'absent' : world.expect }
    },
    queuedIn: () => world.queued,
  }
  const whole = { type: configMaps, namespace: 'a', name: 'c', before: undefined, after: undefined, ...change }
  return accountant.account(whole, view, [])
}

const told = ({ guards = [], writes = [], ...rest }: Decision): object => ({
  guards: guards.map(({ key }) => key),
  writes: writes.map(({ key, value, object: next }) => [
    key === 'epoch' ? `epoch ${value === undefined ? 'removed' : 'settled'}` : key.split('/').pop(),
    ...(next === undefined ? [] : [(next as ResourceQuota).status?.used]),
  ]),
  ...rest,
})
const created = { after: object('c') }

describe('content', () => {
  test('is charged to each quota that limits it, under the epoch', () => {
    world.stored = [
      quota('q', { configmaps: '2' }, { configmaps: '1' }),
      quota('r', { secrets: '1' }, { secrets: '0' }),
    ]
    expect(told(decide(created))).toEqual({ guards: ['epoch'], writes: [['q', { configmaps: '2' }]] })
    const removed = { before: object('c') }
    expect(told(decide(removed))).toEqual({ guards: ['epoch'], writes: [['q', { configmaps: '0' }]] })
    expect(() => decide({ ...created, type: secrets })).not.toThrow()
    world.stored = [quota('q', { configmaps: '1' }, { configmaps: '1' })]
    expect(() => decide(created)).toThrow(
      'configmaps "c" is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=1, ' +
        'limited: configmaps=1',
    )
  })

  test('that charges nothing stands on what is queued: it may never be stored', () => {
    world.stored = [quota('q', { secrets: '2' }, { secrets: '1' })]
    expect(told(decide(created))).toEqual({ guards: ['epoch'], writes: [] })
    world.expect = { asLeftBy: { id: 3 } } as never
    expect(told(decide(created))).toEqual({ guards: ['epoch', keyOf('q')], writes: [] })
  })

  test('that is only counted and stays is none of its business', () => {
    world.stored = [quota('q', { configmaps: '1' }, { configmaps: '1' })]
    world.recounting = true
    expect(decide({ before: object('c'), after: object('c', { data: {} }) })).toEqual({})
  })

  test('waits for a recount', async () => {
    world.recounting = true
    expect(Object.keys(decide(created))).toEqual(['wait'])
    expect(Object.keys(decide({ before: object('c') }))).toEqual(['wait'])
  })

  test('a pod that grows must fit, and one that shrinks or ends gives back', () => {
    world.stored = [quota('q', { 'requests.cpu': '2', pods: '1' }, { 'requests.cpu': '1', pods: '1' })]
    const grown = { type: pods, before: pod('p', '1'), after: pod('p', '2') }
    expect(told(decide(grown))).toMatchObject({ writes: [['q', { 'requests.cpu': '2', pods: '1' }]] })
    const beyond = { type: pods, name: 'p', before: pod('p', '1'), after: pod('p', '3') }
    expect(() => decide(beyond)).toThrow('exceeded quota: q, requested: requests.cpu=2, used: requests.cpu=1')
    const ended = { type: pods, before: pod('p', '1'), after: pod('p', '1', 'Succeeded'), subresource: 'status' }
    expect(told(decide(ended))).toMatchObject({ writes: [['q', { 'requests.cpu': '0', pods: '0' }]] })
    // It could end, have others take its place, and run again.
    expect(() => decide({ ...beyond, before: pod('p', '1', 'Failed'), subresource: 'status' })).toThrow('exceeded')
  })

  test('is charged by what is in the scope of a quota, before and after', () => {
    const hard = { pods: '1', 'limits.memory': '1Gi' }
    world.stored = [{ ...quota('q', hard, { pods: '0' }), spec: { hard, scopes: ['Terminating'] } }]
    const ending = (name: string): KubeObject => ({
      ...object(name, { spec: { containers: [], activeDeadlineSeconds: 5 }, status: { phase: 'Running' } }),
    })
    // Outside it need not say what is limited.
    expect(told(decide({ type: pods, after: pod('p', '1') }))).toEqual({ guards: ['epoch'], writes: [] })
    const used = (pods: string) => ({ writes: [['q', { pods, 'limits.memory': '0' }]] })
    expect(told(decide({ type: pods, after: ending('p') }))).toMatchObject(used('1'))
    expect(told(decide({ type: pods, before: pod('p', '1'), after: ending('p') }))).toMatchObject(used('1'))
    expect(told(decide({ type: pods, before: ending('p'), after: pod('p', '1') }))).toMatchObject(used('-1'))
    expect(told(decide(created))).toEqual({ guards: ['epoch'], writes: [] })
  })

  test('is charged to no quota that has gone, and to one of its own name', () => {
    world.stored = [quota('c', { configmaps: '2' }, { configmaps: '1' })]
    const names = [...world.stored.map(({ metadata }) => metadata.name ?? ''), 'gone']
    world.names = names
    expect(told(decide(created))).toEqual({ guards: ['epoch'], writes: [['c', { configmaps: '2' }]] })
    // A kind of that name in another group is no quota.
    const alike = { ...configMaps, group: 'ex.io', resource: 'resourcequotas' }
    world.stored = [quota('c', { 'count/resourcequotas.ex.io': '1' }, { 'count/resourcequotas.ex.io': '0' })]
    expect(told(decide({ ...created, type: alike }))).toMatchObject({
      writes: [['c', { 'count/resourcequotas.ex.io': '1' }]],
    })
  })

  test('a report of another kind is stored though it exceeds', () => {
    const claims = core('persistentvolumeclaims')
    world.stored = [quota('q', { 'requests.storage': '1Gi' }, { 'requests.storage': '1Gi' })]
    const claim = (allocated: string): KubeObject => ({
      ...object('v', { spec: { resources: { requests: { storage: '1Gi' } } } }),
      status: { allocatedResources: { storage: allocated } },
    })
    const change = { type: claims, name: 'v', before: claim('1Gi'), after: claim('2Gi') }
    const written = told(decide({ ...change, subresource: 'status' }))
    expect(written).toMatchObject({ writes: [['q', { 'requests.storage': '2Gi' }]] })
    expect(() => decide(change)).toThrow('exceeded quota: q')
  })

  test('a new pod says what is limited; one that was there need not', () => {
    world.stored = [quota('q', { 'limits.memory': '1Gi' }, { 'limits.memory': '0' })]
    const silent = { type: pods, name: 'p', after: pod('p', '1') }
    expect(() => decide(silent)).toThrow('pods "p" is forbidden: failed quota: q: must specify limits.memory for: c')
    expect(told(decide({ ...silent, before: pod('p', '2') }))).toEqual({ guards: ['epoch'], writes: [] })
  })

  test('what only a quota may cover is refused without one', () => {
    const limited = { group: '', resource: 'configmaps', matchContains: ['configmaps'], matchScopes: [] }
    world.limited = [limited]
    const why = 'configmaps "c" is forbidden: insufficient quota to consume: configmaps,count/configmaps'
    expect(() => decide(created)).toThrow(why)
    expect(() => decide({ before: object('c') })).not.toThrow()
    expect(() => decide({ ...created, subresource: 'status' })).not.toThrow()
    world.stored = [quota('q', { configmaps: '5', 'count/configmaps': '5' }, {})]
    expect(() => decide(created)).not.toThrow()
  })

  test('is what lives in namespaces, events excepted', () => {
    const handled = (type: ResourceType): boolean => accountant.handles(type)
    expect([configMaps, quotas, events, core('nodes')].map(handled)).toEqual([true, true, false, false])
  })
})

describe('a quota', () => {
  const change = (next: ResourceQuota, before?: ResourceQuota): Partial<ContentChange> => ({
    ...{ type: quotas, name: next.metadata.name ?? '', after: next },
    ...(before ? { before } : {}),
  })
  const usedBy = ({ object: next }: Decision) => (next as ResourceQuota).status
  const hard = { configmaps: '5', pods: '5', 'requests.cpu': '9', resourcequotas: '2', secrets: '5' }
  const counted = { configmaps: '2', pods: '1', 'requests.cpu': '2', resourcequotas: '1', secrets: '0' }

  beforeEach(() => {
    world.content = [
      { type: configMaps, objects: [object('x'), object('y')] },
      { type: pods, objects: [pod('p', '2'), pod('q', '1', 'Failed')] },
      { type: events, objects: [object('e')] },
    ]
  })

  test('that is new counts what is there, itself included, and settles the epoch', () => {
    const decided = decide(change(quota('q', hard)))
    expect(usedBy(decided)).toEqual({ hard, used: counted })
    expect(told(decided)).toMatchObject({ guards: [], writes: [['epoch settled']] })
    expect(decided.begin).toBeUndefined()
  })

  test('that is new is charged to those that are there', () => {
    world.stored = [quota('other', { resourcequotas: '2' }, { resourcequotas: '1' })]
    expect(told(decide(change(quota('q', hard))))).toMatchObject({
      writes: [['epoch settled'], ['other', { resourcequotas: '2' }]],
    })
    world.stored = [quota('other', { resourcequotas: '1' }, { resourcequotas: '1' })]
    expect(() => decide(change(quota('q', hard)))).toThrow('exceeded quota: other')
  })

  test('that is new counts what is queued, and guards it', () => {
    const queued: Partial<ContentChange>[] = [
      { type: secrets, name: 's', after: object('s') },
      { type: configMaps, name: 'x', before: object('x') },
      { type: pods, name: 'p', before: pod('p', '2'), after: pod('p', '4') },
      { type: configMaps, name: 'y', before: object('y'), after: object('y', { data: {} }) },
      { type: events, name: 'f', after: object('f') },
    ]
    world.queued = queued.map((one, i) => ({
      ...{ key: `queued ${i}`, expect: i },
      change: { namespace: 'a', before: undefined, after: undefined, ...one } as ContentChange,
    }))
    const decided = decide(change(quota('q', hard)))
    expect(usedBy(decided)?.used).toEqual({ ...counted, configmaps: '1', secrets: '1', 'requests.cpu': '4' })
    expect(decided.guards?.map(({ key }) => key)).toEqual([0, 1, 2, 3, 4].map((i) => `queued ${i}`))
  })

  test('that is new is counted under the epoch where others may be writing, or too much is queued', async () => {
    const one = (i: number): QueuedChange => ({
      ...{ key: `queued ${i}`, expect: i },
      change: { type: secrets, namespace: 'a', name: `s${i}`, before: undefined, after: object(`s${i}`) },
    })
    world.queued = undefined
    const decided = decide(change(quota('q', hard)))
    expect(Object.keys(decided)).toEqual(['begin'])
    await decided.begin?.()
    expect(world.taken).toBe(1)
    world.others = 10
    world.queued = Array.from({ length: maxQuotas - 9 }, (_, i) => one(i))
    expect(Object.keys(decide(change(quota('q', hard))))).toEqual(['begin'])
    world.queued = world.queued.slice(1)
    expect(decide(change(quota('q', hard))).guards).toHaveLength(maxQuotas - 10)
    // The recount is under way: nothing comes or goes, and nothing queued is asked for.
    world.recounting = true
    for (const queued of [undefined, [one(1)]]) {
      world.queued = queued
      const decided = decide(change(quota('q', hard)))
      expect(usedBy(decided)?.used).toEqual(counted)
      expect(decided.guards).toEqual([])
    }
  })

  test('with scopes counts what is in them, and not itself', () => {
    const scoped: ResourceQuota = { ...quota('q', hard), spec: { hard, scopes: ['NotBestEffort'] } }
    expect(usedBy(decide(change(scoped)))?.used).toEqual({
      ...{ configmaps: '0', pods: '1', 'requests.cpu': '2', resourcequotas: '0', secrets: '0' },
    })
  })

  test('of which a namespace has ninety already is refused', () => {
    world.others = maxQuotas
    expect(() => decide(change(quota('q', hard)))).toThrow(
      'resourcequotas "q" is forbidden: a namespace has at most 90 quotas',
    )
    // A change of one that is there is no new one.
    const before = quota('q', { configmaps: '1' })
    expect(() => decide(change(quota('q', hard), before))).not.toThrow()
    world.others = maxQuotas - 1
    expect(() => decide(change(quota('q', hard)))).not.toThrow()
  })

  test('whose limits change is counted under the epoch, and does not count itself twice', () => {
    const before = quota('q', { configmaps: '1' }, { configmaps: '1' })
    world.stored = [before]
    expect(Object.keys(decide(change(quota('q', hard), before)))).toEqual(['begin'])
    world.recounting = true
    world.content.push({ type: quotas, objects: [before] })
    const decided = decide(change(quota('q', hard), before))
    expect(usedBy(decided)?.used).toEqual(counted)
    expect(told(decided)).toMatchObject({ writes: [['epoch settled']] })
  })

  test('whose limits stay is left as it is, also amid a recount', () => {
    world.recounting = true
    const before = quota('q', hard, counted)
    expect(decide(change({ ...before, metadata: { ...before.metadata, labels: { a: 'b' } } }, before))).toEqual({})
  })

  test('that goes writes the epoch, which ends a recount; the last one takes it along', () => {
    const going = quota('q', hard, counted)
    world.stored = [going, quota('r', { resourcequotas: '2' }, { resourcequotas: '2' })]
    world.recounting = true
    const gone = { type: quotas, name: 'q', before: going }
    expect(told(decide(gone))).toEqual({ guards: [], writes: [['r', { resourcequotas: '1' }], ['epoch settled']] })
    world.stored = [going]
    expect(told(decide(gone))).toEqual({ guards: [], writes: [['epoch removed']] })
    // Quotas over several namespaces count it still.
    world.others = 3
    expect(told(decide(gone))).toEqual({ guards: [], writes: [['epoch settled']] })
    world.exists = false
    expect(told(decide(gone))).toEqual({ guards: ['epoch'], writes: [] })
  })
})
