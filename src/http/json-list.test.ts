import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ResourceType } from '../kube/resource-type.ts'
import { encodeStored } from '../kube/stored-form.ts'
import type { StoredObject } from '../registry/registry.ts'
import { ObjectVersion } from '../watch/stored-object.ts'
import { JsonLists } from './json-list.ts'

const type = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  listKind: 'ConfigMapList',
  resource: 'configmaps',
  custom: false,
} as ResourceType

function object(name: string, revision: number): StoredObject {
  const bytes = encodeStored({ metadata: { name, namespace: 'a' }, data: { filler: 'x'.repeat(300) } })
  return ObjectVersion.of(`a/${name}`, revision, bytes).as(type)
}

const many = (count: number): StoredObject[] => Array.from({ length: count }, (_, i) => object(`o${i}`, i + 1))
const read = (body: Uint8Array | readonly Uint8Array[]): unknown =>
  JSON.parse((body instanceof Uint8Array ? Buffer.from(body) : Buffer.concat(body)).toString())

function expected(revision: number, items: readonly StoredObject[]): object {
  return {
    kind: 'ConfigMapList',
    apiVersion: 'v1',
    metadata: { resourceVersion: String(revision) },
    items: items.map((item) => ({
      metadata: { name: item.name, namespace: 'a', resourceVersion: String(item.revision) },
      data: { filler: 'x'.repeat(300) },
    })),
  }
}

const free = (): void => {}

describe('a JSON list', () => {
  it('is the same bytes while nothing changes', () => {
    const lists = new JsonLists()
    const items = many(100)
    const first = lists.body(type, { revision: 7, items }, free)
    expect(lists.body(type, { revision: 7, items: [...items] }, free)).toBe(first)
    expect(read(first)).toEqual(expected(7, items))
  })

  it('tells the revision of each reading, also where the items are those of another', () => {
    const lists = new JsonLists()
    const items = many(100)
    lists.body(type, { revision: 7, items }, free)
    expect(read(lists.body(type, { revision: 12_345, items }, free))).toEqual(expected(12_345, items))
    expect(read(lists.body(type, { revision: 7, items, continue: 'next', remainingItemCount: 3 }, free))).toEqual({
      ...expected(7, items),
      metadata: { resourceVersion: '7', continue: 'next', remainingItemCount: 3 },
    })
  })

  it('is what its versions say, whatever was listed before', () => {
    const versions = Array.from({ length: 120 }, (_, i) => [object(`o${i}`, i + 1), object(`o${i}`, 1000 + i)] as const)
    const step = fc.record({
      revision: fc.integer({ min: 1, max: 3 }),
      from: fc.integer({ min: 0, max: 2 }),
      count: fc.constantFrom(0, 1, 100, 118),
      changed: fc.constantFrom(undefined, 0, 50, 99),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const lists = new JsonLists()
        for (const { revision, from, count, changed } of steps) {
          const items = versions.slice(from, from + count).map((both, i) => both[i === changed ? 1 : 0])
          expect(read(lists.body(type, { revision, items }, free))).toEqual(expected(revision, items))
        }
      }),
      { numRuns: 30 },
    )
  })
})
