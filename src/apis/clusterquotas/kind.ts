/** The kind ClusterResourceQuota. */
import type { TypeDeclaration } from '../../catalog/catalog.ts'
import { isJsonObject } from '../../kube/json-value.ts'
import type { Column } from '../../kube/resource-type.ts'
import type { JsonValue } from '../../kube/types.ts'
import { clusterQuotaProperties, clusterQuotaResource } from './types.ts'

/** As `kubectl get quota` names them. */
const amountsText = (amounts: JsonValue): string | undefined =>
  isJsonObject(amounts)
    ? Object.entries(amounts)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, amount]) => `${name}: ${String(amount)}`)
        .join(', ')
    : undefined

/** What all use together stands beside it: without a word 47 of 3 would look like too much. */
function hardText(spec: JsonValue): string | undefined {
  if (!isJsonObject(spec) || !isJsonObject(spec['quota'])) return undefined
  const each = spec['perOwner'] === true ? 'owner' : spec['perCreator'] === true ? 'creator' : undefined
  const amounts = amountsText(spec['quota']['hard'] ?? {})
  return each === undefined ? amounts : `${amounts} (each ${each})`
}

const columns: readonly Column[] = [
  {
    name: 'Namespaces',
    type: 'integer',
    jsonPath: '.status.namespaceCount',
    description: 'Selected namespaces that are counted.',
  },
  {
    name: 'Used',
    type: 'string',
    jsonPath: '.status.total.used',
    description: 'What all of them use.',
    textOf: amountsText,
  },
  {
    name: 'Hard',
    type: 'string',
    jsonPath: '.spec',
    description: 'What they may use: together, or each creator or owner.',
    textOf: hardText,
  },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'Since it was created.' },
  {
    name: 'Per creator',
    type: 'boolean',
    jsonPath: '.spec.perCreator',
    description: 'Each creator has this much.',
    priority: 1,
  },
  {
    name: 'Per owner',
    type: 'boolean',
    jsonPath: '.spec.perOwner',
    description: 'Each owner has this much.',
    priority: 1,
  },
]

export const clusterQuotaKind: TypeDeclaration = {
  ...clusterQuotaResource,
  kind: 'ClusterResourceQuota',
  namespaced: false,
  properties: clusterQuotaProperties,
  description:
    'ClusterResourceQuota limits what the namespaces it selects use: together, or each creator or owner by itself.',
  hasStatus: true,
  shortNames: ['clusterquota'],
  columns,
}
