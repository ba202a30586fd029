/** What is stored is read in slices, when it is first asked for, beside changes. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Turns } from '../../base/turns.ts'
import { loadCatalog } from '../../catalog/catalog.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import { encodeStored } from '../../kube/stored-form.ts'
import type { KubeObject } from '../../kube/types.ts'
import { ObjectVersion } from '../../watch/stored-object.ts'
import { Figures, type FiguresDeps, isInLine } from './figures.ts'
import { clusterQuotaKind } from './kind.ts'
import { counterName, QuotaRecords, type Share } from './records.ts'
import { parseQuota } from './selection.ts'
import type { ClusterResourceQuota } from './types.ts'

const records = new QuotaRecords(loadCatalog().declare(clusterQuotaKind) as ResourceType<ClusterResourceQuota>)
const quota = parseQuota({
  metadata: { name: 'q', uid: 'u', generation: 1 },
  spec: { selector: { labels: { matchLabels: { kind: 'team' } } }, quota: { hard: { pods: '10' } }, perCreator: true },
})

/** Accounts and counters of namespaces `n<i>`, each with a holder of its own. */
class World implements Pick<FiguresDeps, 'stored'> {
  readonly kept = new Map<string, ObjectVersion>()
  steps = 0
  fails = false
  #tell: (next: ObjectVersion | undefined, old: ObjectVersion | undefined) => void = () => {}
  #revision = 0
  #now = 0

  readonly stored = {
    find: (_storage: string, folder: string, name: string) => this.kept.get(`${folder}/${name}`),
    glances: (_storage: string, step: number, folder = '') => this.#glances(Math.min(step, 3), folder),
    followOne: (_storage: string, tell: (next?: ObjectVersion, old?: ObjectVersion) => void) => {
      this.#tell = tell
      return () => {}
    },
  } as FiguresDeps['stored']
  /** Each step in a turn of its own. */
  readonly figures = new Figures({ stored: this.stored, records, turns: new Turns({ now: () => (this.#now += 10) }) })

  set(i: number, pods: number | undefined): void {
    const [name, holder] = [`n${i}`, `h${i}`]
    const used = { pods: String(pods) }
    const share = { quota: 'u', counted: quota.counted, holder, used }
    const counter = { quota: 'u', holder, namespaces: 1, used }
    this.#put('quotaaccount', name, pods === undefined ? undefined : { metadata: { name }, shares: [share] })
    const counted = counterName('u', holder)
    this.#put('quotacounter', counted, pods === undefined ? undefined : { metadata: { name: counted }, ...counter })
  }

  *#glances(step: number, folder: string): Generator<readonly ObjectVersion[]> {
    for (let reached = ''; ; ) {
      this.steps++
      if (this.fails) throw new Error('no store')
      const keys = [...this.kept.keys()].filter((key) => key.startsWith(`${folder}/`) && key > reached)
      const next = keys.sort().slice(0, step)
      if (next.length === 0) return
      reached = next.at(-1) ?? ''
      yield next.map((key) => this.kept.get(key) as ObjectVersion)
    }
  }

  #put(folder: string, name: string, object: KubeObject | undefined): void {
    const key = `${folder}/${name}`
    const old = this.kept.get(key)
    const next = object && ObjectVersion.of(key, ++this.#revision, encodeStored(object))
    if (next === undefined) this.kept.delete(key)
    else this.kept.set(key, next)
    if (next !== undefined || old !== undefined) this.#tell(next, old)
  }

  get seen(): unknown {
    const { shares, counters, total } = this.figures.of('u')
    return { shares: [...shares.keys()].sort(), counters: counters.size, pods: Number(total.get('pods')?.nanos ?? 0n) }
  }

  get expected(): unknown {
    const names = [...this.kept.keys()].filter((key) => key.startsWith('quotaaccount/')).map((key) => key.slice(13))
    const pods = [...this.kept.values()].filter(({ namespace }) => namespace === 'quotacounter')
    const used = pods.map((version) => Number(version.as(records.counterType).object.used?.['pods']))
    return { shares: names.sort(), counters: pods.length, pods: used.reduce((sum, n) => sum + n, 0) * 1e9 }
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('nothing is read before it is asked for; a share and a counter are found all the same', async () => {
  const world = new World()
  for (let i = 0; i < 10; i++) world.set(i, i)
  world.figures.follow()
  expect(world.steps).toBe(0)
  expect(world.seen).toEqual({ shares: [], counters: 0, pods: 0 })
  expect(world.figures.shareOf('u', 'n7')?.used).toEqual({ pods: '7' })
  expect(world.figures.counterOf('u', 'h7')?.used).toEqual({ pods: '7' })
  expect([world.figures.shareOf('v', 'n7'), world.figures.counterOf('u', 'h11')]).toEqual([undefined, undefined])
  await world.figures.surveyed()
  expect(world.seen).toEqual(world.expected)
  await world.figures.rank(quota)
  const { namespaces, accounts } = world.figures.of('u').largest(quota.hard) ?? {}
  expect(namespaces?.slice(0, 2).map(({ name }) => name)).toEqual(['n9', 'n8'])
  expect(accounts?.slice(0, 2).map(({ name }) => name)).toEqual(['h9', 'h8'])
})

test('it is read once, and again only if that failed', async () => {
  const world = new World()
  world.set(1, 1)
  world.figures.follow()
  world.fails = true
  await expect(world.figures.surveyed()).rejects.toThrow('no store')
  world.fails = false
  const surveyed = [world.figures.surveyed(), world.figures.surveyed()]
  expect(surveyed[0]).toBe(surveyed[1])
  await surveyed[0]
  const { steps } = world
  expect(world.figures.surveyed()).toBeUndefined()
  expect(world.steps).toBe(steps)
})

test('what comes, changes and goes while it is read is counted once', async () => {
  const change = fc.record({ i: fc.nat(20), pods: fc.option(fc.nat(9), { nil: undefined }) })
  await fc.assert(
    fc.asyncProperty(fc.array(change), fc.array(fc.array(change), { maxLength: 12 }), async (before, during) => {
      const world = new World()
      for (const { i, pods } of before) world.set(i, pods)
      world.figures.follow()
      const surveyed = world.figures.surveyed()
      for (const changes of during) {
        for (const { i, pods } of changes) world.set(i, pods)
        await turn()
      }
      await surveyed
      expect(world.seen).toEqual(world.expected)
    }),
    { numRuns: 60 },
  )
})

test('of a quota nothing is left when its last record has gone', () => {
  const world = new World()
  world.figures.follow()
  for (const i of [1, 2]) world.set(i, i)
  world.set(1, undefined)
  expect([...world.figures.uids()]).toEqual(['u'])
  world.set(2, undefined)
  expect([...world.figures.uids()]).toEqual([])
})

test.each<{ name: string; share: Partial<Share> | undefined; kind: string; is: boolean }>([
  { name: 'counted as it is selected', share: {}, kind: 'team', is: true },
  { name: 'not counted, though it is selected', share: undefined, kind: 'team', is: false },
  { name: 'counted by an earlier spec', share: { counted: '[]' }, kind: 'team', is: false },
  { name: 'on the account of another', share: { holder: 'bob' }, kind: 'team', is: false },
  { name: 'neither selected nor counted', share: undefined, kind: 'lab', is: true },
  { name: 'counted, though it is not selected', share: {}, kind: 'lab', is: false },
])('a namespace that is $name is in line: $is', ({ share, kind, is }) => {
  const metadata = { name: 'n', labels: { kind }, annotations: { 'authorization.k8s.io/creator': 'alice' } }
  const whole = share && { quota: 'u', counted: quota.counted, holder: 'alice', used: {}, ...share }
  expect(isInLine(quota, whole, { metadata })).toBe(is)
})
