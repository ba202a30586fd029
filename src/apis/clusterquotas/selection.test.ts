/** A quota as decisions use it: which namespaces it counts, on whose account, and what is counted. */
import { describe, expect, test } from 'vitest'
import { countedBy, countedOver, isLimited, type ParsedQuota, parseQuota } from './selection.ts'
import type { ClusterResourceQuotaSpec } from './types.ts'

const parsed = (spec: ClusterResourceQuotaSpec = {}): ParsedQuota =>
  parseQuota({ metadata: { name: 'q', uid: 'u', generation: 3 }, spec })
const namespace = (labels?: Record<string, string>, annotations?: Record<string, string>) => ({
  metadata: { name: 'n', ...(labels && { labels }), ...(annotations && { annotations }) },
})

describe('it selects', () => {
  test.each<{ name: string; selector: ClusterResourceQuotaSpec['selector']; of: object; is: boolean }>([
    { name: 'by label', selector: { labels: { matchLabels: { a: 'b' } } }, of: namespace({ a: 'b' }), is: true },
    { name: 'not by another', selector: { labels: { matchLabels: { a: 'b' } } }, of: namespace({ a: 'c' }), is: false },
    { name: 'not what has none', selector: { labels: { matchLabels: { a: 'b' } } }, of: namespace(), is: false },
    { name: 'by annotation', selector: { annotations: { a: 'b' } }, of: namespace({}, { a: 'b' }), is: true },
    { name: 'not by another', selector: { annotations: { a: 'b' } }, of: namespace({ a: 'b' }, { a: 'c' }), is: false },
    {
      name: 'not what has no annotations',
      selector: { annotations: { a: 'b' } },
      of: namespace({ a: 'b' }),
      is: false,
    },
    {
      name: 'by all of them',
      selector: { labels: { matchLabels: { a: 'b' } }, annotations: { c: 'd', e: 'f' } },
      of: namespace({ a: 'b' }, { c: 'd', e: 'f' }),
      is: true,
    },
    {
      name: 'not by one of them',
      selector: { labels: { matchLabels: { a: 'b' } }, annotations: { c: 'd', e: 'f' } },
      of: namespace({ a: 'b' }, { c: 'd' }),
      is: false,
    },
  ])('$name', ({ selector, of, is }) => expect(parsed({ ...(selector && { selector }) }).selects(of as never)).toBe(is))
})

describe('an account', () => {
  const creator = { 'authorization.k8s.io/creator': 'alice' }
  const both = { ...creator, 'borough.dev/owner': 'bob' }
  test.each<{ name: string; spec: ClusterResourceQuotaSpec; annotations: Record<string, string>; holder: string }>([
    { name: 'is common', spec: {}, annotations: both, holder: '' },
    { name: 'is the creator’s', spec: { perCreator: true }, annotations: both, holder: 'alice' },
    { name: 'is the owner’s', spec: { perOwner: true }, annotations: both, holder: 'bob' },
    {
      name: 'is the creator’s, where no owner is named',
      spec: { perOwner: true },
      annotations: creator,
      holder: 'alice',
    },
    { name: 'is that of all of which none is recorded', spec: { perCreator: true }, annotations: {}, holder: '' },
    { name: 'of an owner likewise', spec: { perOwner: true }, annotations: {}, holder: '' },
  ])('$name', ({ spec, annotations, holder }) => {
    expect(parsed(spec).holderOf(namespace({}, annotations))).toBe(holder)
  })

  test('has a limit but where none is recorded of whose it is', () => {
    expect(isLimited({ per: undefined }, '')).toBe(true)
    expect(isLimited({ per: 'creator' }, 'alice')).toBe(true)
    expect(isLimited({ per: 'owner' }, '')).toBe(false)
  })

  test('is told by whose it is', () => {
    const told = (per: ParsedQuota['per'], holder: string): string => countedOver({ per }, holder)
    expect(told(undefined, '')).toBe('counted over all namespaces that this ClusterResourceQuota selects')
    expect(told('creator', 'a "b"')).toBe(
      'counted over the namespaces of creator "a \\"b\\"" that this ClusterResourceQuota selects',
    )
    expect(told('owner', 'bob')).toBe(
      'counted over the namespaces of owner "bob" that this ClusterResourceQuota selects',
    )
  })
})

describe('what is counted', () => {
  test('is told by names and scopes, in one order', () => {
    const scope = { hard: { pods: '1', configmaps: '2' }, scopes: ['BestEffort'] }
    const { counted, scopes, name, uid, generation } = parsed({ quota: scope })
    expect([name, uid, generation]).toEqual(['q', 'u', 3])
    expect(JSON.parse(counted)).toEqual([['configmaps', 'pods'], scopes])
    expect(scopes).toHaveLength(1)
    expect(parsed({ quota: { ...scope, hard: { configmaps: '9', pods: '8' } } }).counted).toBe(counted)
    expect(parsed({ quota: { hard: { pods: '1', configmaps: '2' } } }).counted).not.toBe(counted)
    expect(parsed({ quota: { ...scope, hard: { pods: '1' } } }).counted).not.toBe(counted)
  })

  test('is the quota itself, or what a share was counted by', () => {
    const quota = parsed({ quota: { hard: { pods: '1' } } })
    expect(countedBy(quota, quota.counted)).toBe(quota)
    const before = parsed({ quota: { hard: { configmaps: '1', secrets: '1' }, scopes: ['BestEffort'] } })
    const by = countedBy(quota, before.counted)
    expect([by.hard.has('configmaps'), by.hard.has('secrets'), by.hard.has('pods')]).toEqual([true, true, false])
    expect(by.scopes).toEqual(before.scopes)
  })

  test('of one that nothing has counted yet is nothing', () => {
    expect(parseQuota({ metadata: {} } as never)).toMatchObject({
      name: '',
      uid: '',
      generation: 0,
      counted: '[[],[]]',
    })
  })
})
