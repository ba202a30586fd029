/**
 * Takes `borough populate` off a cluster: webhooks and policies, and the finalizer of its controller from templates.
 * Once no controller is left to prune, a template that is deleted would wait for ever, and so would its kind.
 */
import { templateFinalizer, templateResource } from '../apis/templates/types.ts'
import type { Clock } from '../base/clock.ts'
import type { Client } from '../client/client.ts'
import { isConflict, isNotFound } from '../kube/status-error.ts'
import { uninstallAdmission } from './admission.ts'
import { installName } from './names.ts'
import { populatesItself } from './own-kind.ts'

interface UninstallOptions {
  readonly client: Client
  readonly clock: Clock
  /** Where its Lease is. */
  readonly namespace: string
  readonly signal: AbortSignal
}

export interface Uninstalled {
  /** `resource/name`: webhooks and policies that were deleted. */
  readonly removed: readonly string[]
  /** Templates that wait for no controller any more. */
  readonly released: readonly string[]
  /** A replica runs: it prunes what deleted templates leave, so they keep waiting for it. */
  readonly leader: string | undefined
}

export async function uninstallPopulation(options: UninstallOptions): Promise<Uninstalled> {
  const { client, clock, signal } = options
  const removed = await uninstallAdmission(client, { signal }, clock)
  const leader = await findLeader(options)
  // A Borough that populates by itself prunes its templates.
  const isWaitedFor = leader !== undefined || (await populatesItself(client))
  return { removed, released: isWaitedFor ? [] : await releaseTemplates(client, signal), leader }
}

async function findLeader({ client, clock, namespace, signal }: UninstallOptions): Promise<string | undefined> {
  const leases = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' }
  try {
    const { spec = {} } = (await client.get(leases, { namespace, name: installName }, { signal })) as unknown as {
      spec?: { holderIdentity?: string; renewTime?: string; leaseDurationSeconds?: number }
    }
    const until = Date.parse(spec.renewTime ?? '') + 1000 * (spec.leaseDurationSeconds ?? 0)
    return spec.holderIdentity && until > clock.now() ? spec.holderIdentity : undefined
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

async function releaseTemplates(client: Client, signal: AbortSignal): Promise<string[]> {
  const released: string[] = []
  for (const name of await namesOfTemplates(client, signal)) {
    if (await releaseTemplate(client, name, signal)) released.push(name)
  }
  return released
}

async function namesOfTemplates(client: Client, signal: AbortSignal): Promise<string[]> {
  try {
    const { items } = await client.list(templateResource, { signal })
    return items.map(({ metadata }) => metadata.name ?? '')
  } catch (error) {
    // The kind is gone already.
    if (isNotFound(error)) return []
    throw error
  }
}

async function releaseTemplate(client: Client, name: string, signal: AbortSignal): Promise<boolean> {
  for (;;) {
    try {
      const { metadata } = await client.get(templateResource, { name }, { signal })
      const { finalizers = [], resourceVersion } = metadata
      if (!finalizers.includes(templateFinalizer)) return false
      const kept = finalizers.filter((f) => f !== templateFinalizer)
      await client.patch(templateResource, { name }, { metadata: { finalizers: kept, resourceVersion } }, { signal })
      return true
    } catch (error) {
      if (isNotFound(error)) return false
      if (!isConflict(error)) throw error
    }
  }
}
