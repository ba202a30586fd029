/** What the controller does of a quota: it counts what is there, says so, and takes away what a former one left. */
import { beforeEach, describe, expect, test } from 'vitest'
import type { Decision, DecisionView } from '../../admission/admission.ts'
import { FakeClock } from '../../base/fake-clock.ts'
import { Turns } from '../../base/turns.ts'
import { loadCatalog } from '../../catalog/catalog.ts'
import type { ObjectKey } from '../../controller/controller.ts'
import { objectKey } from '../../kube/object-key.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import type { KubeObject } from '../../kube/types.ts'
import { clusterQuotaKind } from './kind.ts'
import { ClusterQuotaReconciler, changedFigures, formerQuotas } from './reconcile.ts'
import { type Counter, QuotaRecords, type Share } from './records.ts'
import { type ParsedQuota, parseQuota } from './selection.ts'

const records = new QuotaRecords(loadCatalog().declare(clusterQuotaKind))
const record = (folder: string, name: string): string => `/registry/borough/${folder}/${name}`
const quota = (uid = 'u', more: object = {}): ParsedQuota =>
  parseQuota({
    metadata: { name: 'q', uid },
    spec: {
      selector: { labels: { matchLabels: { kind: 'team' } } },
      quota: { hard: { 'count/namespaces': '9' } },
      ...more,
    },
  })

class World {
  readonly objects = new Map<string, KubeObject>()
  readonly namespaces = new Map<string, KubeObject>()
  /** By name. */
  readonly quotas = new Map<string, ParsedQuota>()
  readonly told: string[] = []
  /** What happens before a write of this key. */
  readonly before = new Map<string, () => void>()
  readonly stop = new AbortController()
  /** Namespaces that are gone when they are come to. */
  readonly goes = new Set<string>()
  /** ResourceQuotas of each namespace. */
  limits = 0

  add(name: string, labels: Record<string, string> = { kind: 'team' }): void {
    this.namespaces.set(name, { metadata: { name, labels } })
  }

  sharesOf(name: string): readonly Share[] {
    return (this.objects.get(record('quotaaccount', name)) as { shares?: Share[] } | undefined)?.shares ?? []
  }

  /** Names of namespaces by the uid of the quota that counts them. */
  counted(): Record<string, string[]> {
    const all = [...this.namespaces.keys()].flatMap((name) => this.sharesOf(name).map((share) => [share.quota, name]))
    return Object.fromEntries(
      [...Map.groupBy(all, ([uid]) => uid ?? '')].map(([uid, of]) => [uid, of.map(([, name]) => name ?? '')]),
    )
  }

  #figuresOf(uid: string) {
    const shares = new Map<string, Share>()
    for (const name of this.namespaces.keys()) {
      for (const share of this.sharesOf(name)) if (share.quota === uid) shares.set(name, share)
    }
    const counters = new Map<string, Counter>()
    for (const [key, counter] of this.objects) {
      if (key.includes(`quotacounter/${uid}.`)) counters.set(key, counter)
    }
    return { shares, counters }
  }

  async #write(decide: (view: DecisionView) => Decision | undefined): Promise<void> {
    const see = (type: ResourceType, where: string, name: string) => {
      const key = objectKey(type.storageName, where, name)
      return { key, object: this.objects.get(key), expect: this.objects.has(key) ? 7 : 'absent' }
    }
    const decided = decide({ see, queuedIn: () => [] } as unknown as DecisionView)
    if (decided === undefined) return
    for (const { key } of decided.writes ?? []) this.before.get(key)?.()
    const guards = (decided.guards ?? []).map(({ key }) => key)
    this.told.push(`${(decided.writes ?? []).map(({ key }) => key.split('/').at(-1)).join(' ')} if ${guards.length}`)
    for (const { key, value } of decided.writes ?? []) {
      if (value === undefined) this.objects.delete(key)
      else this.objects.set(key, JSON.parse(Buffer.from(value).toString()))
    }
  }

  reconcile(key: Partial<ObjectKey> = {}): Promise<unknown> {
    const uids = new Set([...this.namespaces.keys()].flatMap((name) => this.sharesOf(name)).map((share) => share.quota))
    for (const key of this.objects.keys())
      if (key.includes('quotacounter/')) uids.add(key.split('/').at(-1)?.split('.')[0] ?? '')
    const reconciler = new ClusterQuotaReconciler({
      records,
      quotas: {
        find: (name: string) => this.quotas.get(name),
        byUid: (uid: string) => [...this.quotas.values()].find((one) => one.uid === uid),
        all: () => this.quotas.values(),
      },
      figures: {
        surveyed: async () => void this.told.push('surveyed'),
        of: (uid: string) => this.#figuresOf(uid),
        uids: () => uids,
      },
      statuses: {
        write: async (name: string, observed?: ParsedQuota) =>
          void this.told.push(`status of ${name}${observed === undefined ? '' : `, observed ${observed.uid}`}`),
      },
      turns: new Turns({ now: () => 0 } as never),
      *namespaces(this: void) {
        yield* steps()
      },
      see: (_view: DecisionView, name: string) => {
        if (this.goes.has(name)) this.namespaces.delete(name)
        return { key: `namespace ${name}`, object: this.namespaces.get(name), expect: 7 }
      },
      writeRecords: (decide: (view: DecisionView) => Decision | undefined) => this.#write(decide),
      log: {
        warn: (about: { namespace: string; problem: string }) =>
          void this.told.push(`${about.namespace}: ${about.problem}`),
      },
      epochs: () => ({
        see: () => ({ recounting: false, exists: true }),
        settled: () => ({ key: 'epoch/of it', expect: 'absent', value: Buffer.from('{}') }),
        removed: () => ({ key: 'epoch/of it', expect: 'absent', value: undefined }),
      }),
      ...{ limitsIn: () => this.limits, contentOf: () => [], list: () => [] },
    } as never)
    const all = () => [...this.namespaces].map(([name, { metadata }]) => ({ name, metadata }))
    function* steps() {
      yield all()
    }
    return reconciler.reconcile({ namespace: '', name: 'q', ...key }, this.stop.signal)
  }
}

let world: World
beforeEach(() => {
  world = new World()
  world.quotas.set('q', quota())
})

describe('a quota', () => {
  test('counts what it selects, after what was decided without it, and says so', async () => {
    world.add('a')
    world.add('b', {})
    world.add('c')
    await world.reconcile()
    expect(world.counted()).toEqual({ u: ['a', 'c'] })
    expect(world.told).toEqual([
      ...[
        'surveyed',
        'specs if 0',
        'a u.all of it if 2',
        'c u.all of it if 2',
        'specs if 0',
        'status of q, observed u',
      ],
    ])
    expect(world.objects.get(record('quotacounter', 'u.all'))).toMatchObject({
      namespaces: 2,
      used: { 'count/namespaces': '2' },
    })
  })

  test('that is in line writes nothing but its status', async () => {
    world.add('a')
    await world.reconcile()
    world.told.length = 0
    await world.reconcile()
    expect(world.told).toEqual(['surveyed', 'specs if 0', 'status of q, observed u'])
  })

  test('lets go of what it selects no more, and counts by its new spec', async () => {
    for (const name of ['a', 'b', 'c']) world.add(name)
    await world.reconcile()
    world.add('a', {})
    world.quotas.set('q', quota('u', { perCreator: true }))
    await world.reconcile()
    expect(world.counted()).toEqual({ u: ['b', 'c'] })
    expect(world.told.at(-1)).toBe('status of q, observed u')
  })

  test('whose spec changes meanwhile is left to the next turn', async () => {
    world.add('a')
    world.before.set(record('quotaaccount', 'a'), () => world.quotas.set('q', quota()))
    await world.reconcile()
    expect(world.told.at(-1)).toMatch(/^a u\.all/)
  })

  test('is not gone on with when the controller stops', async () => {
    for (let i = 0; i < 20; i++) world.add(`n${i}`)
    world.before.set(record('quotaaccount', 'n0'), () => world.stop.abort())
    await world.reconcile()
    expect(Object.values(world.counted()).flat().length).toBeLessThan(20)
    expect(world.told.filter((what) => what.startsWith('status'))).toEqual([])
  })

  test('that can not count a namespace says which, and that it is not in line', async () => {
    world.add('a')
    world.limits = 90
    await world.reconcile()
    expect(world.told).toEqual(['surveyed', 'specs if 0', 'a: a namespace is counted by at most 90 quotas'])
  })

  test('does not count a namespace that goes meanwhile', async () => {
    world.add('a')
    world.add('b')
    world.goes.add('a')
    await world.reconcile()
    expect(world.counted()).toEqual({ u: ['b'] })
    expect(world.told.at(-1)).toBe('status of q, observed u')
  })

  test('that is gone is charged nothing any more, and its counters go', async () => {
    for (let i = 0; i < 60; i++) {
      const annotations = { 'authorization.k8s.io/creator': `u${i}` }
      world.namespaces.set(`n${i}`, { metadata: { name: `n${i}`, labels: { kind: 'team' }, annotations } })
    }
    world.quotas.set('q', quota('u', { perCreator: true }))
    await world.reconcile()
    // One that its account did not know of.
    world.objects.set(record('quotacounter', 'u.n.lost'), {
      ...{ metadata: { name: 'u.n.lost' }, quota: 'u', holder: 'lost', namespaces: 1 },
    } as KubeObject)
    world.quotas.clear()
    world.told.length = 0
    await world.reconcile()
    expect(world.counted()).toEqual({})
    expect([...world.objects.keys()].filter((key) => key.includes('quotacounter'))).toEqual([])
    expect(world.told.filter((what) => what.startsWith('status'))).toEqual([])
  })

  test('is asked for its status alone by a key of its own', async () => {
    world.add('a')
    await world.reconcile({ namespace: 'status' })
    expect(world.told).toEqual(['status of q'])
  })
})

describe('what makes work', () => {
  async function keysFrom(source: typeof formerQuotas, during: () => Promise<void> | void): Promise<ObjectKey[]> {
    const keys: ObjectKey[] = []
    const stop = new AbortController()
    const running = source.run((key) => void keys.push(key), stop.signal)
    await during()
    stop.abort()
    await running
    return keys
  }

  test('is a start: what quotas left that went while no controller ran', async () => {
    expect(await keysFrom(formerQuotas, () => {})).toEqual([{ namespace: '', name: '' }])
  })

  test('is a figure that changed, once in a second, as long as its quota is there', async () => {
    const clock = new FakeClock()
    let tell: (uid: string) => void = () => {}
    const figures = {
      onChange: (listener: typeof tell) => {
        tell = listener
        return () => {
          tell = () => {}
        }
      },
    }
    const source = changedFigures(figures as never, (uid) => (uid === 'gone' ? undefined : `name of ${uid}`), clock)
    const keys = await keysFrom(source, async () => {
      for (const uid of ['u', 'v', 'u', 'gone']) tell(uid)
      await clock.advance(999)
      tell('w')
      await clock.advance(1)
      tell('u')
      await clock.advance(1000)
      tell('late')
    })
    await clock.advance(2000)
    expect(keys.map(({ namespace, name }) => `${namespace} ${name}`)).toEqual([
      ...['status name of u', 'status name of v', 'status name of w', 'status name of u'],
    ])
  })
})
