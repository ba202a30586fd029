/** The status of a quota, from what is recorded of it. */
import { describe, expect, test } from 'vitest'
import { runAtOnce } from '../../base/resumable.ts'
import { type Amounts, amounts } from '../pods/resources.ts'
import type { QuotaRecordsSeen } from './figures.ts'
import { Largest, type Ranked } from './largest.ts'
import type { Counter, Share } from './records.ts'
import { figuresApplied, figuresShown } from './status.ts'
import type { ClusterResourceQuota, Printed } from './types.ts'

const hard = { pods: '10', memory: '10Gi' }
const quota: ClusterResourceQuota = {
  metadata: { name: 'q' },
  spec: { quota: { hard } },
  status: { observedGeneration: 2 },
}
const parsedHard = amounts(hard)
const share = (used: Printed, holder = ''): Share => ({ quota: 'u', counted: 'c', holder, used })
const counter = (holder: string, namespaces: number | undefined, used?: Printed): Counter => ({
  ...{ metadata: { name: holder }, quota: 'u', holder },
  ...(namespaces === undefined ? {} : { namespaces }),
  ...(used === undefined ? {} : { used }),
})

function ranked<T extends { readonly used?: Printed }>(
  all: ReadonlyMap<string, T>,
  nameOf: (key: string, one: T) => string,
  limits: Amounts = parsedHard,
): readonly Ranked<T>[] {
  const largest = new Largest(all, nameOf)
  runAtOnce(largest.rank(limits))
  return largest.listed(limits) ?? []
}

function shown(seen: Partial<QuotaRecordsSeen>, per: 'creator' | 'owner' | undefined = undefined, generation?: number) {
  const { shares = new Map(), counters = new Map<string, Counter>(), total = amounts({}) } = seen
  const accounts = ranked(counters, (_key, { holder = '' }) => holder)
  const largest = { namespaces: ranked(shares, (name) => name), accounts }
  return figuresShown(quota, per, { shares, total, largest }, generation)
}

describe('of a quota', () => {
  test('that counts nothing yet is zero', () => {
    expect(shown({})).toEqual({
      ...{ observedGeneration: 2, namespaceCount: 0, namespaces: [] },
      total: { hard, used: { pods: '0', memory: '0' } },
    })
    const bare = figuresShown({ metadata: {} } as never, undefined, {
      shares: new Map(),
      total: amounts({}),
      largest: { namespaces: [], accounts: [] },
    })
    expect(bare).toEqual({ total: { hard: {}, used: {} }, namespaceCount: 0, namespaces: [] })
  })

  test('tells from which generation on it is exact', () => {
    expect(shown({}, undefined, 5).observedGeneration).toBe(5)
  })

  test('shows what is limited of all and of each namespace', () => {
    const shares = new Map([['n', share({ pods: '3', secrets: '7' })]])
    expect(shown({ shares, total: amounts({ pods: '3', secrets: '7' }) })).toMatchObject({
      total: { hard, used: { pods: '3', memory: '0' } },
      namespaceCount: 1,
      namespaces: [{ namespace: 'n', status: { hard, used: { pods: '3', memory: '0' } } }],
    })
  })

  test('shows accounts where each has its own, but that of none', () => {
    const counters = new Map([
      ['1', counter('alice', 2, { pods: '4' })],
      ['2', counter('', 7, { pods: '9' })],
      ['3', counter('bob', undefined)],
    ])
    expect(shown({ counters }, 'creator').accounts).toEqual([
      { name: 'alice', namespaces: 2, used: { pods: '4', memory: '0' } },
      { name: 'bob', namespaces: 0, used: { pods: '0', memory: '0' } },
    ])
    expect(shown({ counters })).not.toHaveProperty('accounts')
  })
})

describe('listed are', () => {
  const listed = (used: Record<string, Printed>): string[] => {
    const shares = new Map(Object.entries(used).map(([name, figures]) => [name, share(figures)]))
    return (shown({ shares }).namespaces ?? []).map(({ namespace }) => namespace)
  }

  test('those first that use most of what they use most of, then by name', () => {
    const used = {
      c: { pods: '1' },
      most: { pods: '1', memory: '9Gi' },
      a: { pods: '1' },
      b: { pods: '1' },
      none: {},
      more: { pods: '8', memory: '1' },
    }
    expect(listed(used)).toEqual(['most', 'more', 'a', 'b', 'c', 'none'])
    expect(listed(Object.fromEntries(Object.entries(used).reverse()))).toEqual(['most', 'more', 'a', 'b', 'c', 'none'])
  })

  test('the hundred largest, however they come', () => {
    const name = (i: number): string => `n${String(i).padStart(3, '0')}`
    const all = Array.from({ length: 250 }, (_, i) => [name(i), { pods: String(i % 7) }] as const)
    const want = all
      .toSorted(([a, { pods: p }], [b, { pods: q }]) => Number(q) - Number(p) || (a < b ? -1 : 1))
      .slice(0, 100)
      .map(([of]) => of)
    expect(listed(Object.fromEntries(all))).toEqual(want)
    expect(listed(Object.fromEntries(all.toReversed()))).toEqual(want)
    expect(listed(Object.fromEntries(all.slice(0, 100)))).toHaveLength(100)
  })

  test('as many as 64 KiB hold, as JSON', () => {
    const long = (i: number): string => `${i}`.padStart(3, '0').padEnd(1000, 'x')
    const names = listed(Object.fromEntries(Array.from({ length: 100 }, (_, i) => [long(i), {}])))
    const one = { namespace: long(0), status: { hard, used: { pods: '0', memory: '0' } } }
    expect(names).toHaveLength(Math.floor((64 * 1024) / JSON.stringify(one).length))
    expect(names[0]).toBe(long(0))
  })
})

describe('the part of a limit', () => {
  const partOf = (used: Printed | undefined, limits = parsedHard): number | undefined =>
    ranked(new Map([['n', used === undefined ? {} : { used }]]), (name) => name, limits)[0]?.part

  test.each<{ name: string; used: Printed | undefined; part: number }>([
    { name: 'of nothing', used: undefined, part: 0 },
    { name: 'of what is not limited', used: { secrets: '9' }, part: 0 },
    { name: 'is the largest', used: { pods: '5', memory: '1Gi' }, part: 0.5 },
    { name: 'may be beyond it', used: { memory: '20Gi' }, part: 2 },
  ])('$name', ({ used, part }) => expect(partOf(used)).toBe(part))

  test('of nothing at all is larger the more is used', () => {
    const none = amounts({ pods: '0' })
    expect(partOf({ pods: '2' }, none)).toBeGreaterThan(partOf({ pods: '1' }, none) ?? 0)
    expect(partOf({ pods: '1' }, none)).toBeGreaterThan(1)
  })
})

describe('in one namespace', () => {
  const applied = (more: Partial<Parameters<typeof figuresApplied>[0]>) =>
    figuresApplied({
      quota,
      per: undefined,
      name: 'n',
      share: undefined,
      counter: undefined,
      observed: undefined,
      ...more,
    })
  const used = { pods: '1', memory: '0' }

  test('that is not counted yet it says as much', () => {
    expect(applied({})).toEqual({})
    expect(applied({ observed: 2 })).toEqual({ observedGeneration: 2 })
  })

  test('it shows the account that is charged, and the namespace', () => {
    expect(applied({ share: share({ pods: '1' }), counter: counter('', 3, { pods: '4' }), observed: 2 })).toEqual({
      ...{ observedGeneration: 2, namespaceCount: 3 },
      total: { hard, used: { pods: '4', memory: '0' } },
      namespaces: [{ namespace: 'n', status: { hard, used } }],
    })
    expect(applied({ share: share({ pods: '1' }) })).toEqual({
      ...{ namespaceCount: 0, total: { hard, used: { pods: '0', memory: '0' } } },
      namespaces: [{ namespace: 'n', status: { hard, used } }],
    })
  })

  test('it names the holder of the account, where there is one', () => {
    const of = { per: 'owner' as const, counter: counter('bob', 1, { pods: '1' }) }
    expect(applied({ ...of, share: share({ pods: '1' }, 'bob') }).accounts).toEqual([
      { name: 'bob', namespaces: 1, used },
    ])
    expect(applied({ ...of, share: share({ pods: '1' }) })).not.toHaveProperty('accounts')
    expect(applied({ ...of, per: undefined, share: share({ pods: '1' }, 'bob') })).not.toHaveProperty('accounts')
  })
})
