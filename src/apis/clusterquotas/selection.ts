/** A quota as decisions use it: its selector and its amounts parsed. Pure. */
import { parseJsonText } from '../../base/parse-json-text.ts'
import { labelSelectorOf, matchesLabels } from '../../kube/label-selector.ts'
import { nameOf, uidOf } from '../../kube/metadata.ts'
import type { KubeObject } from '../../kube/types.ts'
import { type Amounts, amounts } from '../pods/resources.ts'
import type { CountedBy } from '../quotas/accountant.ts'
import { scopesOf } from '../quotas/scopes.ts'
import type { ScopeRequirement } from '../quotas/types.ts'
import { creatorOf, ownerOf } from '../templates/match.ts'
import type { ClusterResourceQuota } from './types.ts'

type Named = Pick<KubeObject, 'metadata'>

/** Who has an account of its own. */
export type Per = 'creator' | 'owner'

export interface ParsedQuota {
  readonly name: string
  readonly uid: string
  readonly generation: number
  /** undefined = all selected namespaces share one account. */
  readonly per: Per | undefined
  readonly hard: Amounts
  readonly scopes: readonly ScopeRequirement[]
  /** Equal texts count the same things of an object. */
  readonly counted: string
  selects(namespace: Named): boolean
  /** Whose account a namespace is on; '' = the common one, or that of namespaces without a recorded one. */
  holderOf(namespace: Named): string
}

export function parseQuota({ metadata, spec = {} }: ClusterResourceQuota): ParsedQuota {
  const { selector = {}, quota = {} } = spec
  const labels = selector.labels ? labelSelectorOf(selector.labels) : []
  const annotations = Object.entries(selector.annotations ?? {})
  const per = spec.perCreator ? 'creator' : spec.perOwner ? 'owner' : undefined
  const hard = amounts(quota.hard)
  const scopes = scopesOf({ metadata: {}, spec: quota })
  return {
    name: nameOf(metadata),
    uid: uidOf(metadata),
    generation: Number(metadata.generation ?? 0),
    per,
    hard,
    scopes,
    counted: JSON.stringify([[...hard.keys()].sort(), scopes]),
    selects({ metadata: { labels: given, annotations: noted = {} } }) {
      return matchesLabels(labels, given) && annotations.every(([key, value]) => noted[key] === value)
    },
    holderOf(namespace) {
      if (per === undefined) return ''
      return (per === 'creator' ? creatorOf(namespace) : ownerOf(namespace)) ?? ''
    },
  }
}

/**
 * What a share was counted by. It is kept by that until it is counted again: a spec that is changed and changed back
 * meanwhile finds it complete.
 */
export function countedBy(quota: ParsedQuota, counted: string): CountedBy {
  if (counted === quota.counted) return quota
  const [names, scopes] = parseJsonText(counted) as [string[], ScopeRequirement[]]
  return { hard: new Set(names), scopes }
}

/** Whether the account has a limit: namespaces of which no creator or owner is recorded are counted, not limited. */
export const isLimited = ({ per }: Pick<ParsedQuota, 'per'>, holder: string): boolean =>
  per === undefined || holder !== ''

/** Told behind what upstream says of a quota that is exceeded. */
export function countedOver({ per }: Pick<ParsedQuota, 'per'>, holder: string): string {
  if (per === undefined) return 'counted over all namespaces that this ClusterResourceQuota selects'
  return `counted over the namespaces of ${per} ${JSON.stringify(holder)} that this ClusterResourceQuota selects`
}
