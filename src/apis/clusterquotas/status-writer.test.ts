/** How often a status is stored, and how much it says. */
import { expect, test } from 'vitest'
import type { Decision, DecisionView } from '../../admission/admission.ts'
import { silentLog } from '../../base/log.ts'
import { loadCatalog } from '../../catalog/catalog.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import type { Lister } from '../../registry/registry.ts'
import { usedIn } from './charges.ts'
import type { Figures, QuotaRecordsSeen } from './figures.ts'
import { clusterQuotaKind } from './kind.ts'
import { QuotaIndex } from './quota-index.ts'
import type { Share } from './records.ts'
import { figuresShown } from './status.ts'
import { StatusWriter } from './status-writer.ts'
import type { ClusterResourceQuota, Printed } from './types.ts'

const type = loadCatalog().declare(clusterQuotaKind) as ResourceType<ClusterResourceQuota>
const quotaOf = (hard: Printed): ClusterResourceQuota => ({
  metadata: { name: 'q', uid: 'u', generation: 1 },
  spec: { selector: { labels: { matchLabels: { kind: 'team' } } }, quota: { hard } },
})
const shareOf = { quota: 'u', counted: '', holder: '' }
const shares = (used: Printed, namespaces: number): Map<string, Share> =>
  new Map(Array.from({ length: namespaces }, (_, i) => [`n${i}`, { ...shareOf, used }]))

/** Writes are decided at once, and done when the test says so. */
class World {
  stored: ClusterResourceQuota = quotaOf({ pods: '9' })
  used = 0
  isRanked = false
  ranked = 0
  onRanked: () => void = () => {}
  readonly undone: { done(): void; fail(): void }[] = []
  readonly #tell = new Set<(uid: string) => void>()
  readonly writer: StatusWriter

  constructor() {
    const quotas = new QuotaIndex()
    const lister: Pick<Lister, 'subscribe'> = {
      subscribe: (_type, listener) => {
        listener({ name: 'q', metadata: this.stored.metadata, object: this.stored } as never, undefined, 1)
        return () => {}
      },
    }
    quotas.follow(lister as Lister, type, () => {})
    const figures: Pick<Figures, 'of' | 'surveyed' | 'rank' | 'onChange'> = {
      of: () => this.#seen(),
      surveyed: () => undefined,
      rank: async () => {
        this.ranked++
        this.isRanked = true
        this.onRanked()
      },
      onChange: (listener: (uid: string) => void) => {
        this.#tell.add(listener)
        return () => {}
      },
    }
    const view = { see: () => ({ key: 'q', expect: 'absent', object: this.stored }) } as unknown as DecisionView
    this.writer = new StatusWriter({
      ...{ quotas, type, log: silentLog },
      figures: figures as unknown as Figures,
      writeRecords: (decide: (view: DecisionView) => Decision | undefined) => {
        const decision = decide(view)
        if (decision === undefined) return Promise.resolve()
        const object = decision.writes?.[0]?.object as ClusterResourceQuota
        return new Promise((resolve, reject) => {
          this.undone.push({
            done: () => {
              this.stored = object
              resolve()
            },
            fail: () => reject(new Error('no store')),
          })
        })
      },
    })
  }

  #seen(): QuotaRecordsSeen {
    const used = { pods: String(this.used) }
    const largest = { namespaces: [{ name: 'n', part: 1, one: { ...shareOf, used } }], accounts: [] }
    return {
      shares: shares(used, 1),
      counters: new Map(),
      total: usedIn(used),
      largest: () => (this.isRanked ? largest : undefined),
    }
  }

  change(): void {
    this.used++
    for (const listener of this.#tell) listener('u')
  }

  /** What a reader is shown. */
  async read(): Promise<Printed | undefined> {
    await this.writer.settled('q')
    return this.stored.status?.total?.used
  }
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('readers at one time are shown all that was acknowledged, by one write for each change', async () => {
  const world = new World()
  world.change()
  const first = [world.read(), world.read()]
  await settle()
  // It was decided on all that is known and is not done: the next reader waits for it.
  first.push(world.read())
  world.change()
  const second = [world.read(), world.read()]
  await settle()
  expect(world.undone).toHaveLength(1)
  world.undone[0]?.done()
  expect(await Promise.all(first)).toEqual([{ pods: '1' }, { pods: '1' }, { pods: '1' }])
  await settle()
  expect(world.undone).toHaveLength(2)
  world.undone[1]?.done()
  expect(await Promise.all(second)).toEqual([{ pods: '2' }, { pods: '2' }])
  expect(await world.read()).toEqual({ pods: '2' })
  expect(world.undone).toHaveLength(2)
})

test('a reader waits for each write that is under way, also when others of them are done', async () => {
  const world = new World()
  const writes: Promise<void>[] = []
  for (let i = 0; i < 2; i++) {
    world.change()
    writes.push(world.writer.write('q'))
    await settle()
  }
  world.undone[0]?.done()
  await writes[0]
  const read = world.read()
  await settle()
  world.undone[1]?.done()
  expect(await read).toEqual({ pods: '2' })
})

test('figures are never given to another quota that has taken the name', async () => {
  const world = new World()
  world.change()
  world.stored = { ...world.stored, metadata: { name: 'q', uid: 'v' } }
  const read = world.read()
  await settle()
  expect(world.undone).toEqual([])
  expect(await read).toBeUndefined()
})

test('a status that could not be stored is stored for the next reader', async () => {
  const world = new World()
  world.change()
  const refused = world.read()
  await settle()
  world.undone[0]?.fail()
  expect(await refused).toBeUndefined()
  const next = world.read()
  await settle()
  world.undone[1]?.done()
  expect(await next).toEqual({ pods: '1' })
})

test('what is listed is ranked before the write, and again if it is not known when that is decided', async () => {
  const world = new World()
  world.change()
  const first = world.read()
  await settle()
  expect(world.ranked).toBe(1)
  world.undone[0]?.done()
  await first
  world.change()
  // Decided once the ranking is gone again: nothing is written, and it is ranked anew.
  world.onRanked = () => {
    if (world.ranked < 4) world.isRanked = false
  }
  const second = world.read()
  await settle()
  expect(world.undone).toHaveLength(2)
  expect(world.ranked).toBe(4)
  world.undone[1]?.done()
  expect(await second).toEqual({ pods: '2' })
})

test('a quota of many resources lists as many namespaces as fit, and its total is exact', () => {
  const hard = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`count/kinds-${i}.example.com`, '1000']))
  const used = Object.fromEntries(Object.keys(hard).map((name) => [name, '7']))
  const quota = quotaOf(hard)
  const all = shares(used, 5000)
  const namespaces = [...all].slice(0, 100).map(([name, one]) => ({ name, part: 0.007, one }))
  const seen = { shares: all, total: usedIn(used), largest: { namespaces, accounts: [] } }
  const status = figuresShown(quota, undefined, seen, 1)
  expect(status).toMatchObject({ namespaceCount: 5000, total: { hard, used } })
  expect(JSON.stringify(status).length).toBeLessThan(128 * 1024)
  expect(status.namespaces?.length).toBeGreaterThan(0)
})
