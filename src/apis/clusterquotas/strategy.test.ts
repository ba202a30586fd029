/** What must be right about a quota itself, and what of it a client does not write. */
import { describe, expect, test } from 'vitest'
import { runAtOnce } from '../../base/resumable.ts'
import { loadCatalog } from '../../catalog/catalog.ts'
import { fieldInvalid, fieldRequired } from '../../kube/field-error.ts'
import { clusterQuotaStrategy } from './strategy.ts'
import type { ClusterResourceQuotaSpec } from './types.ts'

const asked: unknown[] = []
const limits = {
  *validate(object: object, old: object | undefined, context: object) {
    asked.push([object, old, context])
    yield
    const { spec } = object as { spec: { hard?: object } }
    return spec.hard === undefined ? [] : [fieldInvalid('spec.hard[x]', 'x', 'no'), fieldRequired('other.spec')]
  },
} as never
const { types } = loadCatalog()
const strategy = clusterQuotaStrategy({ limits, recordsCreators: true, types })

function told(spec: ClusterResourceQuotaSpec | undefined, by = strategy, old?: ClusterResourceQuotaSpec): string[] {
  const object = { metadata: { name: 'q' }, ...(spec && { spec }) }
  const before = old && { metadata: { name: 'q' }, spec: old }
  const errors = by.validate?.(object as never, before as never, { subresource: 'status' } as never) ?? []
  return runAtOnce(errors as never as Generator<undefined, ReturnType<typeof fieldInvalid>[], undefined>).map(
    ({ field, body }) => `${field}: ${body}`,
  )
}
const labels = { matchLabels: { a: 'b' } }
const restrict = 'must restrict the selected namespaces'

describe('a quota', () => {
  test.each<{ name: string; spec: ClusterResourceQuotaSpec | undefined; errors: unknown[] }>([
    { name: 'selects by label', spec: { selector: { labels } }, errors: [] },
    {
      name: 'selects by an expression',
      spec: { selector: { labels: { matchExpressions: [{ key: 'a', operator: 'Exists' }] } } },
      errors: [],
    },
    { name: 'selects by annotation', spec: { selector: { annotations: { a: 'b' } } }, errors: [] },
    { name: 'counts by creator', spec: { selector: { labels }, perCreator: true }, errors: [] },
    { name: 'counts by owner', spec: { selector: { labels }, perOwner: true, perCreator: false }, errors: [] },
    { name: 'must select', spec: undefined, errors: [`spec.selector: Required value: ${restrict}`] },
    {
      name: 'must select by something',
      spec: { selector: {} },
      errors: [`spec.selector: Required value: ${restrict}`],
    },
    {
      name: 'must select by some annotation',
      spec: { selector: { annotations: {} } },
      errors: [`spec.selector: Required value: ${restrict}`],
    },
    {
      name: 'must not select all',
      spec: { selector: { labels: {} } },
      errors: [`spec.selector.labels: Invalid value: {}: ${restrict}`],
    },
    {
      name: 'must not select all, whatever its annotations',
      spec: { selector: { labels: { matchLabels: {}, matchExpressions: [] }, annotations: { a: 'b' } } },
      errors: [`spec.selector.labels: Invalid value: {"matchLabels":{},"matchExpressions":[]}: ${restrict}`],
    },
    {
      name: 'selects by labels that can be some',
      spec: { selector: { labels: { matchExpressions: [{ key: 'a', operator: 'Like' }] } } },
      errors: [
        expect.stringMatching(/^spec\.selector\.labels\.matchExpressions\[0\]\.operator: Invalid value: "Like"/),
      ],
    },
    {
      name: 'selects by annotations that can be some',
      spec: { selector: { annotations: { 'a b': 'c' } } },
      errors: [expect.stringMatching(/^spec\.selector\.annotations: Invalid value: "a b"/)],
    },
    {
      name: 'counts by one of both',
      spec: { selector: { labels }, perCreator: true, perOwner: true },
      errors: ['spec.perOwner: Invalid value: true: may not be set together with `perCreator`'],
    },
    {
      name: 'has limits as a ResourceQuota, told where they stand here',
      spec: { selector: { labels }, quota: { hard: { x: '1' } } },
      errors: ['spec.quota.hard[x]: Invalid value: "x": no', 'other.spec: Required value'],
    },
  ])('$name', ({ spec, errors }) => expect(told(spec)).toEqual(errors))

  test('counts by creator or owner where the server records them, or where it did so before', () => {
    const elsewhere = clusterQuotaStrategy({ limits, recordsCreators: false, types })
    const why =
      'Forbidden: this server does not record who creates and owns namespaces: it takes population or the feature ' +
      'gate NamespaceInitializers'
    const [creator, owner] = [
      { selector: { labels }, perCreator: true },
      { selector: { labels }, perOwner: true },
    ]
    expect(told(creator, elsewhere)).toEqual([`spec.perCreator: ${why}`])
    expect(told(owner, elsewhere, creator)).toEqual([`spec.perOwner: ${why}`])
    expect(told(owner, elsewhere, owner)).toEqual([])
    expect(told({ selector: { labels }, perOwner: false }, elsewhere)).toEqual([])
  })

  test('asks of its limits as of a ResourceQuota that is written itself', () => {
    asked.length = 0
    told({ selector: { labels }, quota: { scopes: ['BestEffort'] } })
    expect(asked).toEqual([[{ metadata: {}, spec: { scopes: ['BestEffort'] } }, undefined, { subresource: '' }]])
  })
})

test('the status is the server’s own: a client writes none, and keeps the one that is there', () => {
  const prepared = (next: object, old?: object): unknown => strategy.prepare?.(next as never, old as never, {} as never)
  const given = { metadata: { name: 'q' }, spec: {}, status: { total: 1 } }
  const bare = { metadata: { name: 'q' }, spec: {} }
  expect(prepared(given)).toEqual(bare)
  expect(prepared(given, bare)).toEqual(bare)
  expect(prepared(bare, given)).toEqual(given)
})

test('a limit of what is not served, or of what does not live in namespaces, is taken with a warning', () => {
  const served = ['count/namespaces', 'count/pods', 'count/deployments.apps', 'configmaps', 'requests.cpu']
  const uncounted = ['count/namespacess', 'count/nodes', 'count/deployments', 'count/widgets.example.com']
  const hard = Object.fromEntries([...served, ...uncounted].map((name) => [name, '1']))
  const warned = strategy.warnings?.({ metadata: { name: 'q' }, spec: { quota: { hard } } } as never)
  const why = 'no namespaced resource of this name is served, so nothing is counted'
  expect(warned).toEqual(
    uncounted.map((name) => {
      const hint = name === 'count/deployments' ? '; `count/deployments.apps` is' : ''
      return `spec.quota.hard[${name}]: ${why}${hint}`
    }),
  )
  expect(strategy.warnings?.({ metadata: { name: 'q' } })).toEqual([])
})
