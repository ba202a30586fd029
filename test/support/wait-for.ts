import { vi } from 'vitest'
import type { Client, ObjectRef } from '../../src/client/client.ts'
import type { GroupVersionResource } from '../../src/kube/gvk.ts'
import type { KubeObject } from '../../src/kube/types.ts'

/** A guard, not a measure: whatever is waited for comes when it comes, on a machine that is busy. */
const patienceMs = 30_000

/**
 * The object as soon as `want` holds of it (undefined = it does not exist), told by a watch. Fails with the last that
 * was seen.
 */
export async function waitFor(
  client: Client,
  resource: GroupVersionResource,
  ref: ObjectRef,
  want: (object: KubeObject | undefined) => boolean,
): Promise<KubeObject | undefined> {
  const signal = AbortSignal.timeout(patienceMs)
  const selection = {
    ...(ref.namespace === undefined ? {} : { namespace: ref.namespace }),
    fieldSelector: `metadata.name=${ref.name}`,
    includeUninitialized: true,
  }
  const { items, metadata } = await client.list(resource, selection)
  let last = items[0]
  if (want(last)) return last
  const from = metadata.resourceVersion ?? ''
  for await (const event of client.watch(resource, { ...selection, resourceVersion: from, signal })) {
    if (event.type === 'BOOKMARK') continue
    last = event.type === 'DELETED' ? undefined : event.object
    if (want(last)) return last
  }
  throw new Error(`waited in vain for ${resource.resource} ${ref.name}; last seen: ${JSON.stringify(last)}`)
}

export const isThere = (object: KubeObject | undefined): boolean => object !== undefined
export const isGone = (object: KubeObject | undefined): boolean => object === undefined

const reviews = { group: 'authorization.k8s.io', version: 'v1', resource: 'selfsubjectaccessreviews' }

/** Until the client's user may do it: an API server hears of roles and bindings by a watch. */
export async function waitUntilAllowed(
  client: Client,
  verb: string,
  { group, resource }: GroupVersionResource,
  namespace = '',
): Promise<void> {
  const spec = { resourceAttributes: { verb, group, resource, namespace } }
  const isAllowed = async (): Promise<boolean> => {
    const { status } = (await client.create(reviews, {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      metadata: {},
      spec,
    })) as { status?: { allowed?: boolean } }
    return status?.allowed === true
  }
  await vi.waitUntil(isAllowed, { timeout: patienceMs, interval: 20 })
}
