/** What the checker of quotas notices, and what it takes for right: commits by hand. */
import { describe, expect, test } from 'vitest'
import type { RawChange, StoredObject } from './etcd-commits.ts'
import { QuotaTruth } from './quota-truth.ts'

const counted = (...names: string[]): string => JSON.stringify([names, []])
const gone = (key: string): RawChange => ({ key, object: undefined })
const put = (key: string, object: object): RawChange => ({ key, object: { metadata: {}, ...object } as StoredObject })
const quota = (configmaps: number, more: object = {}, status: object = {}): RawChange =>
  put('clusterresourcequotas.policy.borough.dev/q', {
    metadata: { name: 'q', uid: 'u', generation: 1 },
    spec: { selector: { labels: { matchLabels: { kind: 'team' } } }, quota: { hard: { configmaps } }, ...more },
    status,
  })
const namespace = (name: string, kind = 'team'): RawChange =>
  put(`namespaces/${name}`, { metadata: { name, labels: { kind } } })
const configMap = (place: string): RawChange => put(`configmaps/${place}`, {})
const account = (name: string, configmaps: number, more: object = {}): RawChange =>
  put(`borough/quotaaccount/${name}`, {
    shares: [
      { quota: 'u', holder: '', counted: counted('configmaps'), used: { configmaps: `${configmaps}` }, ...more },
    ],
  })
const counter = (namespaces: number, configmaps: number): RawChange =>
  put('borough/quotacounter/u.all', { quota: 'u', holder: '', namespaces, used: { configmaps: `${configmaps}` } })

/** What is wrong after the last of these commits; nothing may be after the others. */
function afterAll(...commits: readonly (readonly RawChange[])[]): readonly string[] {
  const truth = new QuotaTruth()
  const problems = commits.map((changes, i) => truth.take({ revision: i + 1, changes }))
  expect(problems.slice(0, -1).flat()).toEqual([])
  return problems.at(-1) ?? []
}

const two = [
  [quota(2)],
  [namespace('a'), configMap('a/one'), account('a', 1), counter(1, 1)],
  [namespace('b'), configMap('b/one'), account('b', 1), counter(2, 2)],
] as const

describe('it is content with', () => {
  test('charges that go with what they are for', () => {
    expect(afterAll(...two, [gone('configmaps/a/one'), account('a', 0), counter(2, 1)])).toEqual([])
  })

  test('what the controller brings in line beyond the limit, and no less of it afterwards', () => {
    const over = [[configMap('c/one')], [namespace('c')], [account('c', 1), counter(3, 3)]] as const
    expect(afterAll(...two, ...over)).toEqual([])
    expect(afterAll(...two, ...over, [gone('configmaps/c/one'), account('c', 0), counter(3, 2)])).toEqual([])
  })

  test('a limit that is lowered below what is there', () => {
    expect(afterAll(...two, [quota(1)])).toEqual([])
  })
})

describe('it notices', () => {
  test('a counter of 13 where a recount gives 17', () => {
    const created = [1, 2, 3, 4].map((i) => configMap(`a/n-${i}`))
    expect(afterAll([quota(99)], ...two.slice(1), [...created, account('a', 5)])).toEqual([
      'the counter u  says 2 {"configmaps":2}, its accounts come to 2 {"configmaps":6}',
    ])
  })

  test('content that nothing charged, and a charge for nothing', () => {
    expect(afterAll(...two, [configMap('a/two')])).toEqual([
      'a is counted for u as {"configmaps":1}, a recount gives {"configmaps":2}',
    ])
    expect(afterAll(...two, [account('a', 0), counter(2, 1)])).toEqual([
      'a is counted for u as {}, a recount gives {"configmaps":1}',
    ])
  })

  test('a create beyond the limit, and a namespace that is taken into the quota beyond it', () => {
    const problem = "q allowed 2 of configmaps to '', and went from 2 to 3"
    expect(afterAll(...two, [configMap('a/two'), account('a', 2), counter(2, 3)])).toEqual([problem])
    expect(afterAll(...two, [namespace('c'), configMap('c/one'), account('c', 1), counter(3, 3)])).toEqual([problem])
  })

  test('a namespace that is not counted by a quota which says that it counts all', () => {
    expect(afterAll(...two, [quota(2, {}, { observedGeneration: 1 })], [namespace('c')])).toEqual([
      'q has observed its spec, and counts c for , not for ',
    ])
  })

  test('an account without its namespace, and one without a counter', () => {
    expect(afterAll([quota(2)], [account('a', 0)])).toEqual([
      'an account without namespace a',
      'there is no counter u ',
    ])
  })

  test('a ResourceQuota that says another number than there is', () => {
    const limits = put('resourcequotas/a/limits', {
      spec: {},
      status: { hard: { configmaps: '4' }, used: { configmaps: '1' } },
    })
    expect(afterAll([limits])).toEqual(['ResourceQuota a/limits says {"configmaps":1}, a recount gives {}'])
  })

  test('what a quota that is gone has left', () => {
    const truth = new QuotaTruth()
    for (const [i, changes] of two.entries()) truth.take({ revision: i, changes })
    truth.take({ revision: 9, changes: [gone('clusterresourcequotas.policy.borough.dev/q')] })
    expect(truth.leftovers()).toEqual([
      'a is counted for u, which is gone',
      'b is counted for u, which is gone',
      'there is a counter u.all of a quota that is gone',
    ])
  })
})
