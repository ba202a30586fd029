/**
 * What limits a namespace of a template: the quotas and limits that it is given, and the ClusterResourceQuotas that
 * count it. Whether one counts it may lie with what the author of the namespace gives: then it is told of which.
 */
import type { Client } from '../../client/client.ts'
import { ifReadable } from '../../client/if-readable.ts'
import { isJsonObject } from '../../kube/json-value.ts'
import { holds, type LabelRequirement, labelSelectorOf, printLabelSelector } from '../../kube/label-selector.ts'
import { nameOf } from '../../kube/metadata.ts'
import { type ClusterResourceQuota, clusterQuotaResource } from '../clusterquotas/types.ts'
import type { LimitRangeItem } from '../limits/types.ts'
import { nameLabel } from '../namespaces/types.ts'
import type { ResourceQuota } from '../quotas/types.ts'
import { exampleNamespace } from './example-namespace.ts'
import { titleOf } from './render.ts'
import { objectsOf } from './template-objects.ts'
import { hasToken } from './tokens.ts'
import type { NamespaceTemplate } from './types.ts'

type QuotaSpec = NonNullable<ResourceQuota['spec']>

export interface DescribedQuota extends QuotaSpec {
  /** `ResourceQuota/quota`, `LimitRange/limits`, `ClusterResourceQuota/per-person` */
  readonly quota: string
  /** Of a LimitRange. */
  readonly limits?: readonly LimitRangeItem[]
  /** CEL: the template gives it where this is true. */
  readonly when?: string
  /** Of a ClusterResourceQuota: each creator or owner has this much over all of theirs; absent = all together. */
  readonly per?: 'creator' | 'owner'
  /** Of a ClusterResourceQuota that counts only some namespaces of the template: what such a one has. */
  readonly counts?: string
}

/** Those that the template makes. */
export function quotasIn(template: NamespaceTemplate): DescribedQuota[] {
  return objectsOf(template).flatMap(({ source, when }) => {
    const about = { quota: titleOf(source), ...(when === undefined ? {} : { when }) }
    const { kind, spec } = source
    if (kind === 'ResourceQuota') return { ...(spec as QuotaSpec), ...about }
    if (kind !== 'LimitRange') return []
    const limits = isJsonObject(spec) && Array.isArray(spec['limits']) ? spec['limits'].filter(isJsonObject) : []
    return { ...about, limits: limits as LimitRangeItem[] }
  })
}

/** undefined = the caller may not list them, or the cluster has none. */
export async function quotasOver(
  client: Pick<Client, 'list'>,
  template: NamespaceTemplate,
  signal: AbortSignal,
): Promise<DescribedQuota[] | undefined> {
  const listed = await ifReadable(client.list(clusterQuotaResource, { signal }))
  if (listed === undefined) return undefined
  const known = knownOf(template)
  return (listed.items as ClusterResourceQuota[]).flatMap(({ metadata, spec = {} }) => {
    const open = openIn(spec, known)
    if (open === undefined) return []
    return {
      ...spec.quota,
      quota: `ClusterResourceQuota/${nameOf(metadata)}`,
      ...(spec.perCreator ? { per: 'creator' } : spec.perOwner ? { per: 'owner' } : {}),
      ...(open.length === 0 ? {} : { counts: open.join(', ') }),
    } as DescribedQuota
  })
}

interface Known {
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  /** `label size`: what it is lies with the namespace. */
  readonly open: ReadonlySet<string>
}

function knownOf(template: NamespaceTemplate): Known {
  const { namespaces = {}, parameters = [], namespaceMetadata: sets = {} } = template.spec ?? {}
  const { metadata } = exampleNamespace(template)
  const { include = [] } = namespaces.nameSelector ?? {}
  const isOneName = include.length === 1 && metadata.name === include[0]
  const open = new Set<string>(isOneName ? [] : [`label ${nameLabel}`])
  for (const { fromLabel, fromAnnotation } of parameters) {
    open.add(fromLabel === undefined ? `annotation ${fromAnnotation}` : `label ${fromLabel}`)
  }
  for (const { key, operator, values } of labelSelectorOf(namespaces.labelSelector ?? {})) {
    if (operator === 'exists' || (operator === 'in' && values.length > 1)) open.add(`label ${key}`)
    // One value, of whatever a parameter might be.
    else if (operator === '=' || operator === 'in') open.delete(`label ${key}`)
  }
  for (const part of ['labels', 'annotations'] as const) {
    for (const [key, value] of Object.entries(sets[part] ?? {})) {
      const title = `${part.slice(0, -1)} ${key}`
      if (hasToken(value)) open.add(title)
      else open.delete(title)
    }
  }
  return {
    labels: { ...metadata.labels, ...sets.labels, ...(isOneName ? { [nameLabel]: metadata.name } : {}) },
    annotations: { ...metadata.annotations, ...sets.annotations },
    open,
  }
}

/** What is left to the namespace; undefined = the quota counts none of the template. */
function openIn({ selector = {} }: NonNullable<ClusterResourceQuota['spec']>, known: Known): string[] | undefined {
  const requirements = selector.labels ? labelSelectorOf(selector.labels) : []
  const isOpen = ({ key }: LabelRequirement): boolean => known.open.has(`label ${key}`)
  const annotations = Object.entries(selector.annotations ?? {})
  const openAnnotations = annotations.filter(([key]) => known.open.has(`annotation ${key}`))
  const fits =
    requirements.every((requirement) => isOpen(requirement) || holds(requirement, known.labels)) &&
    annotations.every(([key, value]) => known.open.has(`annotation ${key}`) || known.annotations[key] === value)
  if (!fits) return undefined
  const open = requirements.filter(isOpen)
  return [
    ...(open.length === 0 ? [] : [`labels ${printLabelSelector(open)}`]),
    ...openAnnotations.map(([key, value]) => `annotation ${key}=${value}`),
  ]
}
