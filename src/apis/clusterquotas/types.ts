/**
 * ClusterResourceQuota: its shape and its schema. The spec is that of OpenShift's `quota.openshift.io/v1`, with two
 * fields of ours. Vocabulary only; how it is kept exact begins in `accountant.ts`.
 */
import type { LabelSelectorObject } from '../../kube/label-selector.ts'
import type { Resource } from '../../kube/resource.ts'
import type { Schema } from '../../kube/schema/schema.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { ResourceQuota } from '../quotas/types.ts'

export interface NamespaceSelector {
  labels?: LabelSelectorObject
  /** Each must be there with this value. */
  annotations?: Record<string, string>
}

export interface ClusterResourceQuotaSpec {
  selector?: NamespaceSelector
  quota?: NonNullable<ResourceQuota['spec']>
  /** Each creator of namespaces has this much over all of theirs. */
  perCreator?: boolean
  /** Each owner of namespaces has this much over all of theirs. */
  perOwner?: boolean
}

export type Printed = Record<string, string | number>

export interface QuotaFigures {
  hard: Printed
  used: Printed
}

export interface ClusterResourceQuotaStatus {
  /** The spec of this generation is counted everywhere: from here on what is used is exact. */
  observedGeneration?: number
  total?: QuotaFigures
  /** Selected namespaces that are counted. */
  namespaceCount?: number
  /** The largest of them. */
  namespaces?: { namespace: string; status: QuotaFigures }[]
  /** Creators or owners that are charged, where each has its own account: the largest. */
  accounts?: { name: string; namespaces: number; used: Printed }[]
}

export interface ClusterResourceQuota extends KubeObject {
  spec?: ClusterResourceQuotaSpec
  status?: ClusterResourceQuotaStatus
}

export const clusterQuotaResource: Resource<ClusterResourceQuota> = {
  group: 'policy.borough.dev',
  version: 'v1alpha1',
  resource: 'clusterresourcequotas',
}

/** What of a quota is shown in one namespace that it counts: `applied.ts`. */
export const appliedQuotaResource: Resource<ClusterResourceQuota> = {
  group: 'policy.borough.dev',
  version: 'v1alpha1',
  resource: 'appliedclusterresourcequotas',
}

/** What a namespace itself uses. No other cluster-scoped kind is counted. */
export const namespacesName = 'count/namespaces'

/** Listed in the status of a quota: namespaces, and creators or owners. */
export const mostListed = 100
/** That each of the two lists takes, as JSON. */
export const mostListedBytes: number = 64 * 1024

const string: Schema = { type: 'string' }
const strings: Schema = { type: 'array', listType: 'atomic', items: string }
const texts: Schema = { type: 'object', additionalProperties: string }
const quantities: Schema = { type: 'object', additionalProperties: { type: 'quantity' } }
const integer: Schema = { type: 'integer', format: 'int32' }

const object = (properties: Record<string, Schema>, description?: string): Schema => ({
  type: 'object',
  properties: new Map(Object.entries(properties)),
  ...(description === undefined ? {} : { description }),
})
const describe = (schema: Schema, description: string): Schema => ({ ...schema, description })
const listOf = (items: Schema, description: string): Schema => ({
  type: 'array',
  listType: 'atomic',
  items,
  description,
})

const labelSelector = object(
  {
    matchLabels: texts,
    matchExpressions: {
      type: 'array',
      listType: 'atomic',
      items: { ...object({ key: string, operator: string, values: strings }), required: ['key', 'operator'] },
    },
  },
  'Namespaces by label.',
)

const scopeSelector = object({
  matchExpressions: {
    type: 'array',
    listType: 'atomic',
    items: { ...object({ scopeName: string, operator: string, values: strings }), required: ['scopeName', 'operator'] },
  },
})

const spec = object({
  selector: object(
    {
      labels: labelSelector,
      annotations: describe(texts, 'Namespaces by annotation: each must be there with this value.'),
    },
    'Which namespaces are counted together. Both parts must match where both are given; one must be given.',
  ),
  quota: object(
    {
      hard: describe(quantities, 'What is limited, as in a ResourceQuota; count/namespaces limits namespaces.'),
      scopes: describe(strings, 'As in a ResourceQuota.'),
      scopeSelector: describe(scopeSelector, 'As in a ResourceQuota.'),
    },
    'The limits, as in the spec of a ResourceQuota.',
  ),
  perCreator: {
    type: 'boolean',
    description: 'Each creator of namespaces has this much over all of theirs, instead of all together.',
  },
  perOwner: {
    type: 'boolean',
    description:
      'Each owner of namespaces (annotation borough.dev/owner, else the creator) has this much over all of theirs.',
  },
})

const status = object({
  observedGeneration: {
    type: 'integer',
    format: 'int64',
    description: 'The generation of the spec from which on what is used is exact.',
  },
  total: object({ hard: quantities, used: quantities }, 'What is limited, and what all selected namespaces use of it.'),
  namespaceCount: describe(integer, 'Selected namespaces.'),
  namespaces: listOf(
    object({ namespace: string, status: object({ hard: quantities, used: quantities }) }),
    `What namespaces use: the largest ${mostListed}, as many as 64 KiB hold.`,
  ),
  accounts: listOf(
    object({ name: string, namespaces: integer, used: quantities }),
    `What creators or owners use, where each has its own account: the largest ${mostListed}, as many as 64 KiB hold.`,
  ),
})

/** Everything but metadata, which every kind shares. */
export const clusterQuotaProperties: Readonly<Record<string, Schema>> = { spec, status }
