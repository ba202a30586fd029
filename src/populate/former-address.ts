/** Another process of `borough populate` that API servers are about to stop asking. */
import type { Client } from '../client/client.ts'
import { findObject } from '../client/find-object.ts'
import { holderOf, leases, specOf } from '../controller/lease.ts'
import type { KubeObject } from '../kube/types.ts'
import { installName } from './names.ts'

export interface FormerAddress {
  /** Where API servers ask until now. */
  readonly urls: readonly string[]
  /** Of the Lease, which it may have left behind a moment ago. */
  readonly holder: string
}

interface Registered {
  readonly webhooks?: readonly { readonly clientConfig?: { readonly url?: string } }[]
}

const urlsOf = (objects: readonly KubeObject[]): string[] =>
  objects
    .flatMap((object) => (object as Registered).webhooks ?? [])
    .flatMap(({ clientConfig }) => (clientConfig?.url === undefined ? [] : [new URL(clientConfig.url).origin]))

/** Undefined: API servers are told the same address as before, or no process held the Lease there. */
export async function findFormerAddress(
  client: Pick<Client, 'get'>,
  namespace: string,
  before: readonly KubeObject[],
  next: readonly KubeObject[],
  nowMs: number,
): Promise<FormerAddress | undefined> {
  const own = new Set(urlsOf(next))
  const urls = [...new Set(urlsOf(before))].filter((url) => !own.has(url))
  if (urls.length === 0) return undefined
  const lease = await findObject(client, leases, { namespace, name: installName })
  const { renewTime = '', leaseDurationSeconds = 0 } = specOf(lease) ?? {}
  const holder = holderOf(lease)
  const isHeld = holder !== '' && Date.parse(renewTime) + leaseDurationSeconds * 1000 > nowMs
  return isHeld ? { urls, holder } : undefined
}
