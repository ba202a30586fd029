/**
 * AppliedClusterResourceQuota: what a quota over several namespaces comes to in one of them, for readers of that
 * namespace that may not read the quota. It shows the figures that count there and no others: a tenant learns neither
 * the names nor the use of other tenants.
 */
import type { TypeDeclaration } from '../../catalog/catalog.ts'
import { nameOf } from '../../kube/metadata.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { Projection } from '../../registry/registry.ts'
import type { Figures } from './figures.ts'
import { clusterQuotaKind } from './kind.ts'
import type { QuotaIndex } from './quota-index.ts'
import type { ParsedQuota } from './selection.ts'
import { figuresApplied } from './status.ts'
import { appliedQuotaResource, type ClusterResourceQuota } from './types.ts'

export const appliedQuotaKind: TypeDeclaration = {
  ...appliedQuotaResource,
  kind: 'AppliedClusterResourceQuota',
  namespaced: true,
  stored: false,
  verbs: ['get', 'list'],
  properties: clusterQuotaKind.properties,
  description:
    'AppliedClusterResourceQuota shows a ClusterResourceQuota in a namespace that it counts: what is used there, and ' +
    'of the account that is charged. It can only be read.',
  shortNames: ['appliedclusterquota'],
  columns: (clusterQuotaKind.columns ?? []).flatMap((column) => {
    if (column.name === 'Namespaces') return []
    return column.name === 'Used' ? [{ ...column, description: 'What the account that is charged uses.' }] : [column]
  }),
}

export interface AppliedQuotaDeps {
  readonly source: ResourceType<ClusterResourceQuota>
  readonly quotas: QuotaIndex
  readonly figures: Figures
  findNamespace(name: string): Pick<KubeObject, 'metadata'> | undefined
}

export function appliedQuotas({ source, quotas, figures, findNamespace }: AppliedQuotaDeps): Projection {
  return {
    source,
    viewOf(name) {
      const namespace = name === '' ? undefined : findNamespace(name)
      if (namespace === undefined) return undefined
      const parsedOf = ({ metadata }: KubeObject): ParsedQuota | undefined => {
        const quota = quotas.find(nameOf(metadata))
        return quota?.uid === metadata.uid ? quota : undefined
      }
      return {
        sees: (quota) => parsedOf(quota)?.selects(namespace) === true,
        show(quota: ClusterResourceQuota) {
          const { metadata, spec, status } = quota
          const { uid, per } = parsedOf(quota) ?? { uid: '', per: undefined }
          const share = figures.shareOf(uid, name)
          const counter = share && figures.counterOf(uid, share.holder)
          const applied = figuresApplied({ quota, per, name, share, counter, observed: status?.observedGeneration })
          return {
            metadata: { ...metadata, namespace: name },
            ...(spec === undefined ? {} : { spec }),
            status: applied,
          }
        },
      }
    },
  }
}
