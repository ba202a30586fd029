/** What decisions stand on: keys that another replica writes make them be decided again. */
import { describe, expect, it, test, vi } from 'vitest'
import type { ContentChange, Decision, DecisionView, QueuedChange } from '../../admission/admission.ts'
import { loadCatalog } from '../../catalog/catalog.ts'
import { objectKey } from '../../kube/object-key.ts'
import { type ResourceType, requiredType } from '../../kube/resource-type.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { Lister } from '../../registry/registry.ts'
import type { Expect } from '../../storage/storage.ts'
import { namespaceResource } from '../namespaces/types.ts'
import type { QuotaEpochs } from '../quotas/epoch.ts'
import { clusterQuotaAccountant } from './accountant.ts'
import { clusterQuotaKind } from './kind.ts'
import { QuotaIndex } from './quota-index.ts'
import { QuotaRecords } from './records.ts'
import { parseQuota } from './selection.ts'
import type { ClusterResourceQuota } from './types.ts'

const catalog = loadCatalog()
const quotaType = catalog.declare(clusterQuotaKind) as ResourceType<ClusterResourceQuota>
const namespaceType = requiredType(catalog.types, namespaceResource)
const configMapType = requiredType(catalog.types, { group: '', version: 'v1', resource: 'configmaps' })

const secretType = requiredType(catalog.types, { group: '', version: 'v1', resource: 'secrets' })

const specs = '/registry/borough/clusterquotaepoch/specs'
const account = '/registry/borough/quotaaccount/a'
const counter = '/registry/borough/quotacounter/u.all'

const quota: ClusterResourceQuota = {
  metadata: { name: 'q', uid: 'u', generation: 1 },
  spec: { selector: { labels: { matchLabels: { kind: 'team' } } }, quota: { hard: { configmaps: '2' } } },
}
const counted = { quota: 'u', counted: JSON.stringify([['configmaps'], []]), holder: '' }
const accountOf = (configmaps: string): KubeObject => ({
  metadata: { name: 'a' },
  shares: [{ ...counted, used: { configmaps } }],
})
const namespace = (labels: Record<string, string>): KubeObject => ({ metadata: { name: 'a', labels } })

const quotas = new QuotaIndex()
const lister: Pick<Lister, 'subscribe'> = {
  subscribe(_type, listener) {
    listener({ name: 'q', metadata: quota.metadata, object: quota } as never, undefined, 1)
    return () => {}
  },
}
quotas.follow(lister as Lister, quotaType, () => {})

const seenEpoch = { guard: { key: 'epoch of a', expect: 'absent' as const }, recounting: false, exists: false }
const epochs: QuotaEpochs = {
  see: () => seenEpoch,
  take: async () => undefined,
  released: async () => {},
  settled: () => ({ key: 'epoch of a', expect: 'absent', value: new Uint8Array(), hidden: true }),
  removed: () => ({ key: 'epoch of a', expect: 'absent', value: undefined }),
}
const accountant = clusterQuotaAccountant({
  quotas,
  records: new QuotaRecords(quotaType),
  epochs: () => epochs,
  limitsIn: () => 0,
  contentOf: () => [{ type: configMapType, count: 1 }],
  list: () => [],
  isInUse: () => true,
  onUse: () => {},
  isShared: true,
})

function decide(
  change: Partial<ContentChange>,
  stored: Record<string, KubeObject> = {},
  seen: Expect = 7,
  queued: readonly QueuedChange[] | 'unknown' = [],
): Decision {
  const view: DecisionView = {
    see(type, where, name) {
      const key = objectKey(type.storageName, where, name)
      return { key, object: stored[key] as never, expect: stored[key] === undefined ? 'absent' : seen }
    },
    queuedIn: () => (queued === 'unknown' ? undefined : queued),
  }
  const whole = { type: namespaceType, namespace: '', name: 'a', before: undefined, after: undefined, ...change }
  return accountant.account(whole, view, [])
}

const team = { kind: 'team' }
const charged = { [account]: accountOf('1'), [counter]: { metadata: { name: 'u.all' }, namespaces: 1, used: {} } }
const configMap = { type: configMapType, namespace: 'a', name: 'c' }
const secretIn = (name: string): ContentChange => ({
  ...{ type: secretType, namespace: 'a', name },
  ...{ before: undefined, after: { metadata: { name } } },
})
test.each([
  {
    name: 'a namespace that no quota selects is created',
    change: { after: namespace({}) },
    guards: [specs, account],
    writes: [],
  },
  {
    name: 'one that a quota selects is created',
    change: { after: namespace(team) },
    guards: [specs],
    writes: [account, counter],
  },
  {
    name: 'one is created that has the account of a former one of its name, as far as is known',
    change: { after: namespace(team) },
    stored: charged,
    guards: [specs, account],
    writes: [],
  },
  {
    name: 'one is relabelled, and moves nowhere',
    change: { before: namespace({}), after: namespace({ more: 'x' }) },
    // The controller may be counting it by its former labels.
    guards: [specs, account],
    writes: [],
  },
  {
    name: 'one is relabelled into the quota: content that was decided without its account is decided again',
    change: { before: namespace({}), after: namespace(team) },
    guards: [specs],
    writes: [account, counter, 'epoch of a'],
  },
  {
    name: 'one is relabelled out of it',
    change: { before: namespace(team), after: namespace({}) },
    stored: charged,
    guards: [specs],
    writes: [account, counter],
  },
  { name: 'one goes that is not counted', change: { before: namespace({}) }, guards: [specs, account], writes: [] },
  {
    name: 'one goes that is counted',
    change: { before: namespace(team) },
    stored: charged,
    guards: [specs],
    writes: [account, counter],
  },
  {
    name: 'its status changes',
    change: { before: namespace(team), after: { ...namespace(team), status: { phase: 'Active' } } },
    stored: charged,
    guards: [],
    writes: [],
  },
  {
    name: 'content of a namespace that is counted',
    change: { ...configMap, after: { metadata: { name: 'c' } } },
    stored: charged,
    guards: [specs],
    writes: [account, counter],
  },
  {
    name: 'content of another',
    change: { ...configMap, after: { metadata: { name: 'c' } } },
    guards: [],
    writes: [],
  },
  {
    name: 'content whose counter a queued write is about to remove',
    change: { ...configMap, after: { metadata: { name: 'c' } } },
    stored: { [account]: accountOf('1') },
    guards: [specs, counter],
    writes: [account],
  },
  { name: 'a quota', change: { type: quotaType, name: 'q', after: quota }, guards: [], writes: [specs] },
])('$name', ({ change, stored, guards, writes }) => {
  const decided = decide(change, stored)
  expect({
    guards: (decided.guards ?? []).map(({ key }) => key),
    writes: (decided.writes ?? []).map(({ key }) => key),
  }).toEqual({ guards, writes })
})

test('of a new namespace what is created with it counts, not what is left of a former one of its name', () => {
  const { writes } = decide({ after: namespace(team) })
  expect(writes?.map(({ object }) => object?.['shares'] ?? object?.['used'])).toEqual([[{ ...counted, used: {} }], {}])
})

test.each([
  { name: 'goes with the last quota that counts it', epoch: { exists: true }, is: true },
  { name: 'stays while its content is recounted', epoch: { exists: true, recounting: true }, is: false },
])('the epoch of a namespace $name', ({ epoch, is }) => {
  const see = vi.spyOn(epochs, 'see').mockReturnValue({ ...seenEpoch, ...epoch })
  const { writes = [] } = decide({ before: namespace(team), after: namespace({}) }, charged)
  see.mockRestore()
  expect(writes.some(({ key, value }) => key === 'epoch of a' && value === undefined)).toBe(is)
})

describe('a namespace that comes to a quota with what is in it', () => {
  const relabelled = { before: namespace({}), after: namespace(team) }

  it('is counted under the epoch where other processes may be writing in it, or too many are', () => {
    const many = Array.from({ length: 88 }, (_, i) => ({ key: `queued ${i}`, expect: 1, change: secretIn(`s${i}`) }))
    for (const queued of ['unknown', many] as const) {
      const decided = decide(relabelled, {}, 7, queued)
      expect(decided.begin).toBeDefined()
      expect([decided.guards, decided.writes]).toEqual([undefined, undefined])
    }
    // With account, counter and epoch they are the ninety that a decision may take of a transaction.
    expect(decide(relabelled, {}, 7, many.slice(1)).guards).toHaveLength(1 + 87)
  })

  it('is counted at once where all that comes is known: each write is guarded, and those that count are', () => {
    const configMaps = [1, 2].map((i) => ({ ...configMap, name: `c${i}`, before: undefined, after: { metadata: {} } }))
    const queued = configMaps.map((change, i) => ({ key: `queued ${i}`, expect: 1, change }))
    // The limit is two, and one is there.
    expect(() => decide(relabelled, {}, 7, queued)).toThrow(
      'namespaces "a" is forbidden: exceeded quota: q, requested: configmaps=3, used: configmaps=0, limited: ' +
        'configmaps=2, counted over all namespaces that this ClusterResourceQuota selects',
    )
    const { guards, writes, begin } = decide(relabelled, {}, 7, queued.slice(1))
    expect(begin).toBeUndefined()
    expect(guards?.map(({ key }) => key)).toEqual([specs, 'queued 1'])
    expect(writes?.map(({ object }) => object?.['shares'] ?? object?.['used'])).toEqual([
      [{ ...counted, used: { configmaps: '2' } }],
      { configmaps: '2' },
      undefined,
    ])
  })
})

describe('content that charges nothing', () => {
  it('stands on the account where that is still queued: it may never be stored', () => {
    const secret = { type: secretType, namespace: 'a', name: 's', after: { metadata: { name: 's' } } }
    expect(decide(secret, charged)).toEqual({ guards: [] })
    const expected = { asLeftBy: { id: 3 } }
    expect(decide(secret, charged, expected)).toEqual({ guards: [{ key: account, expect: expected }] })
  })
})

describe('a charge', () => {
  it('keeps a share by what it was counted by, whatever the spec says since', () => {
    const before = { ...counted, counted: JSON.stringify([['secrets'], []]), used: { secrets: '4' } }
    const stored = { ...charged, [account]: { metadata: { name: 'a' }, shares: [before] } }
    const secret = { type: secretType, namespace: 'a', name: 's', after: { metadata: { name: 's' } } }
    expect(decide(secret, stored).writes?.map(({ object }) => object?.['shares'] ?? object?.['used'])).toEqual([
      [{ ...before, used: { secrets: '5' } }],
      { secrets: '1' },
    ])
    expect(decide({ ...configMap, after: { metadata: { name: 'c' } } }, stored)).toEqual({ guards: [] })
  })

  it('adds to the account and to the counter as the view shows them', () => {
    const { writes = [] } = decide({ ...configMap, after: { metadata: { name: 'c' } } }, charged)
    expect(writes.map(({ expect: expected, object }) => [expected, object])).toEqual([
      [7, accountOf('2')],
      [7, { metadata: { name: 'u.all' }, quota: 'u', holder: '', namespaces: 1, used: { configmaps: '1' } }],
    ])
  })
})

describe('a quota of pods with a scope', () => {
  const podType = requiredType(catalog.types, { group: '', version: 'v1', resource: 'pods' })
  const lasting = parseQuota({
    metadata: { name: 'lasting', uid: 'u' },
    spec: {
      selector: { labels: { matchLabels: { kind: 'team' } } },
      quota: { hard: { pods: '2', 'requests.cpu': '1' }, scopes: ['NotTerminating'] },
    },
  })
  const scoped = clusterQuotaAccountant({
    quotas: { all: () => [lasting], byUid: (uid: string) => (uid === 'u' ? lasting : undefined) } as never,
    records: new QuotaRecords(quotaType),
    ...{ epochs: () => epochs, limitsIn: () => 0, contentOf: () => [], list: () => [] },
    ...{ isInUse: () => true, onUse: () => {}, isShared: true },
  })
  const pod = (cpu: string | undefined, more: object = {}): KubeObject => {
    const resources = cpu === undefined ? {} : { requests: { cpu } }
    return { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', resources }], ...more } } as never
  }
  const ending = { activeDeadlineSeconds: 60 }
  /** What the namespace has used of it then; undefined = nothing is charged. */
  function used(
    change: Partial<ContentChange>,
    before: Record<string, string> = { pods: '1', 'requests.cpu': '500m' },
  ) {
    const share = { quota: 'u', counted: lasting.counted, holder: '', used: before }
    const objects: Record<string, KubeObject> = {
      [account]: { metadata: { name: 'a' }, shares: [share] } as never,
      [counter]: { metadata: { name: 'u.all' }, namespaces: 1, used: before },
    }
    const view = {
      see(type: ResourceType, where: string, name: string) {
        const key = objectKey(type.storageName, where, name)
        return { key, object: objects[key], expect: 7 }
      },
    } as unknown as DecisionView
    const whole = { type: podType, namespace: 'a', name: 'p', before: undefined, after: undefined, ...change }
    const [write] = scoped.account(whole as ContentChange, view, []).writes ?? []
    return (write?.object as { shares?: { used: object }[] } | undefined)?.shares?.[0]?.used
  }
  const refused = (why: string): string => `pods "p" is forbidden: ${why}`

  test.each<[string, Partial<ContentChange>, object | undefined]>([
    ['a pod that is in it', { after: pod('250m') }, { pods: '2', 'requests.cpu': '750m' }],
    ['one that is not', { after: pod('250m', ending) }, undefined],
    ['one that is not, and says nothing', { after: pod(undefined, ending) }, undefined],
    ['one that goes', { before: pod('250m') }, { pods: '0', 'requests.cpu': '250m' }],
    ['one that goes and was not in it', { before: pod('250m', ending) }, undefined],
    [
      'one that comes into it',
      { before: pod('250m', ending), after: pod('250m') },
      { pods: '2', 'requests.cpu': '750m' },
    ],
    ['one that leaves it', { before: pod('250m'), after: pod('250m', ending) }, { pods: '0', 'requests.cpu': '250m' }],
  ])('charges %s', (_, change, figures) => expect(used(change)).toEqual(figures))

  test('is not exceeded, but by a change that asks for no more', () => {
    const full = { pods: '2', 'requests.cpu': '500m' }
    expect(() => used({ after: pod('250m') }, full)).toThrow(
      refused('exceeded quota: lasting, requested: pods=1, used: pods=2, limited: pods=2, counted over all'),
    )
    expect(used({ before: pod('250m') }, { pods: '9', 'requests.cpu': '9' })).toEqual({
      pods: '8',
      'requests.cpu': '8750m',
    })
  })

  test('has a new pod say what it limits; one that is there may leave it out', () => {
    expect(() => used({ after: pod(undefined) })).toThrow(
      refused('failed quota: lasting: must specify requests.cpu for: c'),
    )
    expect(used({ before: pod('250m'), after: pod(undefined) })).toEqual({ pods: '1', 'requests.cpu': '250m' })
  })
})

test('nothing is asked but of what is counted, once a quota is there', () => {
  const handles = (isInUse: boolean, isShared: boolean) => {
    const of = clusterQuotaAccountant({ isInUse: () => isInUse, isShared } as never)
    const events = requiredType(catalog.types, { group: '', version: 'v1', resource: 'events' })
    const nodes = requiredType(catalog.types, { group: '', version: 'v1', resource: 'nodes' })
    const others = { ...quotaType, group: 'quota.example.com' }
    return [quotaType, namespaceType, configMapType, events, nodes, others].map((type) => of.handles(type))
  }
  expect(handles(false, false)).toEqual([true, false, false, false, false, false])
  expect(handles(false, true)).toEqual([true, true, false, false, false, false])
  expect(handles(true, false)).toEqual([true, true, true, false, false, false])
})

test('a change of a quota but of its spec ends no decision', () => {
  const change = { type: quotaType, name: 'q', before: quota }
  expect(decide({ ...change, after: { ...quota, status: {} } as KubeObject })).toEqual({})
  expect(decide({ ...change, after: { ...quota, spec: {} } }).writes).toHaveLength(1)
  expect(decide({ ...change, after: undefined }).writes).toHaveLength(1)
})

test('labels that are not there are as those that are none', () => {
  const bare = { metadata: { name: 'a' } }
  expect(decide({ before: bare, after: { metadata: { name: 'a', labels: {}, annotations: {} } } })).toEqual({})
  expect(decide({ before: { metadata: { name: 'a', labels: {}, annotations: {} } }, after: bare })).toEqual({})
  expect(decide({ before: bare, after: { metadata: { name: 'a', annotations: { a: 'b' } } } }).guards).toHaveLength(2)
})
