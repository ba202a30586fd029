/**
 * Which quotas count a namespace, on whose account, and what is used of them: read through the API with the rights of
 * the caller, in the namespace or of the quotas themselves. A caller who may read neither, or a cluster without them,
 * is told nothing.
 */
import type { Client } from '../../client/client.ts'
import { ifReadable } from '../../client/if-readable.ts'
import { nameOf } from '../../kube/metadata.ts'
import type { KubeObject } from '../../kube/types.ts'
import { amounts } from '../pods/resources.ts'
import { countedOver, isLimited, parseQuota } from './selection.ts'
import {
  appliedQuotaResource,
  type ClusterResourceQuota,
  clusterQuotaResource,
  mostListed,
  type Printed,
} from './types.ts'

/** One line for each quota. */
export async function explainQuotas(
  client: Pick<Client, 'list'>,
  namespace: Pick<KubeObject, 'metadata'>,
  signal: AbortSignal,
): Promise<string[]> {
  const name = nameOf(namespace.metadata)
  // As the namespace sees them: its account is there, however many others have more.
  const applied = await ifReadable(client.list(appliedQuotaResource, { namespace: name, signal }))
  const quotas = applied ?? (await ifReadable(client.list(clusterQuotaResource, { signal })))
  return (quotas?.items ?? []).flatMap((quota) => explainQuota(quota, namespace) ?? [])
}

function explainQuota(quota: ClusterResourceQuota, namespace: Pick<KubeObject, 'metadata'>): string | undefined {
  const parsed = parseQuota(quota)
  if (!parsed.selects(namespace)) return undefined
  const subject = `ClusterResourceQuota ${JSON.stringify(parsed.name)} counts it`
  const holder = parsed.holderOf(namespace)
  if (!isLimited(parsed, holder)) return `${subject} and does not limit it: no ${parsed.per} is recorded`
  const { total, accounts = [] } = quota.status ?? {}
  const used = parsed.per === undefined ? total?.used : accounts.find(({ name }) => name === holder)?.used
  const over = countedOver(parsed, holder)
  if (used === undefined) return `${subject}, ${over}, which is not among the largest ${mostListed} in its status`
  return `${subject}: ${figures(used, quota.spec?.quota?.hard ?? {})}, ${over}`
}

/** `pods 3 of 5, secrets 2 of 2 (no more)` */
function figures(used: Printed, hard: Printed): string {
  const [left, limits] = [amounts(used), amounts(hard)]
  return Object.keys(hard)
    .sort()
    .map((name) => {
      const isFull = (left.get(name)?.nanos ?? 0n) >= (limits.get(name)?.nanos ?? 0n)
      return `${name} ${used[name] ?? '0'} of ${hard[name]}${isFull ? ' (no more)' : ''}`
    })
    .join(', ')
}
