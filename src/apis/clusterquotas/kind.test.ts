/** What clients are told of both kinds: `kubectl explain`, OpenAPI and the columns of `kubectl get`. */
import { expect, test } from 'vitest'
import { declarationFaults } from '../../../test/support/declaration-faults.ts'
import { loadCatalog } from '../../catalog/catalog.ts'
import { columnsOf } from '../../catalog/kinds/columns-of.ts'
import { appliedQuotaKind } from './applied.ts'
import { clusterQuotaKind } from './kind.ts'
import { parseQuota } from './selection.ts'

test.each([clusterQuotaKind, appliedQuotaKind])('$kind is declared whole', (declaration) => {
  expect(declarationFaults(declaration)).toEqual([])
})

const shown = ({ columns = [] }: typeof clusterQuotaKind) =>
  columns.map(({ name, jsonPath, priority }) => [name, jsonPath, priority ?? 0])

test('their columns are the same, but for how many namespaces there are, which a tenant does not learn', () => {
  const columns = [
    ['Used', '.status.total.used', 0],
    ['Hard', '.spec', 0],
    ['Age', '.metadata.creationTimestamp', 0],
    ['Per creator', '.spec.perCreator', 1],
    ['Per owner', '.spec.perOwner', 1],
  ]
  expect(shown(clusterQuotaKind)).toEqual([['Namespaces', '.status.namespaceCount', 0], ...columns])
  expect(shown(appliedQuotaKind)).toEqual(columns)
  const used = ({ columns = [] }: typeof clusterQuotaKind) => columns.find(({ name }) => name === 'Used')?.description
  expect([used(clusterQuotaKind), used(appliedQuotaKind)]).toEqual([
    'What all of them use.',
    'What the account that is charged uses.',
  ])
})

test('amounts are shown as `kubectl get quota` names them', () => {
  const { definitions, cells } = columnsOf(loadCatalog().declare(clusterQuotaKind))
  const hard = { pods: '10', configmaps: '200' }
  const object = {
    metadata: { name: 'per-person' },
    spec: { quota: { hard } },
    status: { total: { hard, used: { pods: '3', configmaps: '12' } }, namespaceCount: 4 },
  }
  const row = Object.fromEntries(cells(object, 0).map((cell, i) => [definitions[i]?.name, cell]))
  expect(row).toMatchObject({ Used: 'configmaps: 12, pods: 3', Hard: 'configmaps: 200, pods: 10', Namespaces: 4 })
})

test.each([
  { spec: { perOwner: true }, hard: 'pods: 10 (each owner)' },
  { spec: { perCreator: true }, hard: 'pods: 10 (each creator)' },
  { spec: { perOwner: false }, hard: 'pods: 10' },
])('a limit of each account is not taken for one of what all use: $hard', ({ spec, hard }) => {
  const { definitions, cells } = columnsOf(loadCatalog().declare(clusterQuotaKind))
  const object = { metadata: { name: 'q' }, spec: { quota: { hard: { pods: '10' } }, ...spec } }
  const row = Object.fromEntries(cells(object, 0).map((cell, i) => [definitions[i]?.name, cell]))
  expect(row).toMatchObject({ Hard: hard })
})

test('the one is written to, the other only read', () => {
  expect(clusterQuotaKind).toMatchObject({
    ...{ group: 'policy.borough.dev', version: 'v1alpha1', resource: 'clusterresourcequotas', namespaced: false },
    ...{ kind: 'ClusterResourceQuota', shortNames: ['clusterquota'], hasStatus: true },
  })
  expect(appliedQuotaKind).toMatchObject({
    ...{ group: 'policy.borough.dev', version: 'v1alpha1', resource: 'appliedclusterresourcequotas', namespaced: true },
    ...{
      kind: 'AppliedClusterResourceQuota',
      shortNames: ['appliedclusterquota'],
      stored: false,
      verbs: ['get', 'list'],
    },
  })
})

test('a quota that says nothing of accounts has one for all', () => {
  expect(parseQuota({ metadata: { name: 'q' } })).toMatchObject({ name: 'q', uid: '', per: undefined, scopes: [] })
})
