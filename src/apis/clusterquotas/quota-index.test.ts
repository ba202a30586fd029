/** Which quotas are known, and of what their followers are told. */
import { beforeEach, expect, test } from 'vitest'
import { loadCatalog } from '../../catalog/catalog.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import type { Lister, StoredObject } from '../../registry/registry.ts'
import { clusterQuotaKind } from './kind.ts'
import { QuotaIndex } from './quota-index.ts'
import type { ClusterResourceQuota } from './types.ts'

const type = loadCatalog().declare(clusterQuotaKind) as ResourceType<ClusterResourceQuota>
const quota = (uid: string, generation: number, status = {}): StoredObject => {
  const metadata = { name: 'q', uid, generation }
  const spec = { selector: { labels: { matchLabels: { of: `${uid}-${generation}` } } } }
  return { name: 'q', metadata, object: { metadata, spec, status } } as unknown as StoredObject
}

let index: QuotaIndex
let told: number
let change: (next: StoredObject | undefined, old?: StoredObject) => void

beforeEach(() => {
  index = new QuotaIndex()
  told = 0
  const lister: Pick<Lister, 'subscribe'> = {
    subscribe(_type, listener) {
      change = (next, old) => listener(next as never, old as never, 1)
      return () => {}
    },
  }
  index.follow(lister as Lister, type, () => void told++)
})

const selecting = (of: string) => ({ metadata: { name: 'n', labels: { of } } })
const known = () => [...index.all()].map(({ uid, generation }) => [uid, generation])

test('there is none at first', () => {
  expect(index.isEmpty).toBe(true)
  expect(index.find('q')).toBeUndefined()
})

test('one that comes is known by name and by uid', () => {
  change(quota('u', 1))
  expect(told).toBe(1)
  expect(index.isEmpty).toBe(false)
  expect(index.find('q')?.selects(selecting('u-1'))).toBe(true)
  expect(index.byUid('u')).toBe(index.find('q'))
})

test('a status that changes is told to no follower, and the quota stays as it was parsed', () => {
  change(quota('u', 1))
  const before = index.find('q')
  change(quota('u', 1, { namespaceCount: 7 }), quota('u', 1))
  expect(told).toBe(1)
  expect(index.find('q')).toBe(before)
})

test('a spec that changes is told, and holds from then on', () => {
  change(quota('u', 1))
  change(quota('u', 2), quota('u', 1))
  expect(told).toBe(2)
  expect(known()).toEqual([['u', 2]])
  expect(index.byUid('u')?.selects(selecting('u-2'))).toBe(true)
  expect(index.byUid('u')?.selects(selecting('u-1'))).toBe(false)
})

test('one that is made again under its name is another, of the same generation too', () => {
  change(quota('u', 1))
  change(quota('v', 1), quota('u', 1))
  expect(told).toBe(2)
  expect(known()).toEqual([['v', 1]])
  expect(index.byUid('u')).toBeUndefined()
  expect(index.byUid('v')).toBe(index.find('q'))
})

test('one that goes is known no more', () => {
  change(quota('u', 1))
  change(undefined, quota('u', 1))
  expect(told).toBe(2)
  expect(index.isEmpty).toBe(true)
  expect(known()).toEqual([])
  expect(index.byUid('u')).toBeUndefined()
})
