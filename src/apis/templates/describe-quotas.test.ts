/** What limits a namespace of a template. */
import { describe, expect, test } from 'vitest'
import type { Client } from '../../client/client.ts'
import { forbidden } from '../../kube/status-error.ts'
import type { ClusterResourceQuota, ClusterResourceQuotaSpec } from '../clusterquotas/types.ts'
import { type DescribedQuota, quotasIn, quotasOver } from './describe-quotas.ts'
import type { NamespaceTemplate } from './types.ts'

type Spec = NonNullable<NamespaceTemplate['spec']>
const of = (spec: Spec): NamespaceTemplate => ({ metadata: { name: 't' }, spec })
const signal = new AbortController().signal
const over = (spec: Spec, ...quotas: ClusterResourceQuotaSpec[]): Promise<DescribedQuota[] | undefined> => {
  const items = quotas.map((spec, i): ClusterResourceQuota => ({ metadata: { name: `q${i}` }, spec }))
  return quotasOver({ list: async () => ({ items }) } as unknown as Client, of(spec), signal)
}

test('quotas and limits that it makes, and when', () => {
  const object = (kind: string, spec: unknown) => ({ apiVersion: 'v1', kind, metadata: { name: 'o' }, spec }) as never
  const limits = [{ type: 'Container', default: { cpu: '1' } }]
  const templates = [
    object('ResourceQuota', { hard: { pods: '10' }, scopes: ['BestEffort'], quota: 'odd' }),
    object('LimitRange', { limits }),
    object('LimitRange', null),
    object('ConfigMap', undefined),
  ]
  const objects = [{ when: 'true', template: object('ResourceQuota', { hard: { cpu: '$(cpu)' } }) }]
  expect(quotasIn(of({ templates, objects }))).toEqual([
    { quota: 'ResourceQuota/o', hard: { pods: '10' }, scopes: ['BestEffort'] },
    { quota: 'LimitRange/o', limits },
    { quota: 'LimitRange/o', limits: [] },
    { quota: 'ResourceQuota/o', hard: { cpu: '$(cpu)' }, when: 'true' },
  ])
})

test('quotas over several namespaces: how much, and over whose', async () => {
  const selector = { labels: {} }
  const quota = { hard: { pods: '10' } }
  const about = (i: number) => ({ quota: `ClusterResourceQuota/q${i}`, ...quota })
  expect(
    await over({}, { selector, quota }, { selector, quota, perCreator: true }, { selector, quota, perOwner: true }),
  ).toEqual([about(0), { ...about(1), per: 'creator' }, { ...about(2), per: 'owner' }])
})

test('who may not list them is not told that there are none', async () => {
  const client = {
    async list() {
      throw forbidden({ group: 'g', version: 'v', resource: 'r' } as never, '', 'no')
    },
  } as unknown as Client
  expect(await quotasOver(client, of({}), signal)).toBeUndefined()
})

describe('whether one counts a namespace of the template', () => {
  const labelled = (matchLabels: Record<string, string>) => ({ labelSelector: { matchLabels } })
  const expressed = (key: string, operator: string, ...values: string[]) => ({
    labelSelector: { matchExpressions: [{ key, operator, ...(values.length > 0 ? { values } : {}) }] },
  })
  const parameter = { name: 'p', fromLabel: 'a' }
  const always = true
  const never = false
  test.each<{ spec: Spec; labels?: object; annotations?: Record<string, string>; counts: boolean | string }>([
    { spec: { namespaces: labelled({ a: '1' }) }, labels: { matchLabels: { a: '1' } }, counts: always },
    { spec: { namespaces: labelled({ a: '1' }) }, labels: { matchLabels: { a: '2' } }, counts: never },
    { spec: {}, labels: { matchLabels: { a: '1' } }, counts: never },
    { spec: {}, labels: { matchExpressions: [{ key: 'a', operator: 'DoesNotExist' }] }, counts: always },
    { spec: { namespaces: expressed('a', 'In', '1') }, labels: { matchLabels: { a: '1' } }, counts: always },
    { spec: { namespaces: expressed('a', 'In', '1', '2') }, labels: { matchLabels: { a: '1' } }, counts: 'labels a=1' },
    { spec: { namespaces: expressed('a', 'Exists') }, labels: { matchLabels: { a: '1' } }, counts: 'labels a=1' },
    { spec: { namespaces: expressed('a', 'NotIn', '1') }, labels: { matchLabels: { a: '1' } }, counts: never },
    { spec: { parameters: [parameter] }, labels: { matchLabels: { a: '1' } }, counts: 'labels a=1' },
    {
      spec: { parameters: [parameter], namespaces: labelled({ a: '1' }) },
      labels: { matchLabels: { a: '1' } },
      counts: always,
    },
    { spec: { namespaceMetadata: { labels: { a: '1' } } }, labels: { matchLabels: { a: '1' } }, counts: always },
    { spec: { namespaceMetadata: { labels: { a: '1' } } }, labels: { matchLabels: { a: '2' } }, counts: never },
    {
      spec: { namespaceMetadata: { labels: { a: '$(p)' } } },
      labels: { matchLabels: { a: '1' } },
      counts: 'labels a=1',
    },
    {
      spec: { namespaces: { nameSelector: { include: ['x'] } } },
      labels: { matchLabels: { 'kubernetes.io/metadata.name': 'x' } },
      counts: always,
    },
    {
      spec: { namespaces: { nameSelector: { include: ['x', 'y'] } } },
      labels: { matchLabels: { 'kubernetes.io/metadata.name': 'x' } },
      counts: 'labels kubernetes.io/metadata.name=x',
    },
    { spec: { namespaceMetadata: { annotations: { a: '1' } } }, annotations: { a: '1' }, counts: always },
    { spec: {}, annotations: { a: '1' }, counts: never },
    { spec: { parameters: [{ name: 'p', fromAnnotation: 'a' }] }, annotations: { a: '1' }, counts: 'annotation a=1' },
    {
      spec: { parameters: [parameter, { name: 'q', fromAnnotation: 'b' }] },
      labels: { matchLabels: { a: '1' } },
      annotations: { b: '2' },
      counts: 'labels a=1, annotation b=2',
    },
  ])('$spec, $labels $annotations: $counts', async ({ spec, labels, annotations, counts }) => {
    const [found] =
      (await over(spec, { selector: { ...(labels && { labels }), ...(annotations && { annotations }) } })) ?? []
    expect(found === undefined ? never : (found.counts ?? always)).toBe(counts)
  })
})
