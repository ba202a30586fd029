/**
 * Takes a finalizer off a namespace that is being deleted, and off its content: the way out when the controller that
 * should do it never will. Every removal is an ordinary request of who asks: RBAC decides, the audit log tells.
 */
import type { Client } from '../../client/client.ts'
import { findStatusError, isConflict, isNotFound } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import { type LeftObject, remainingContent } from './remaining-content.ts'
import { type Namespace, namespaceResource } from './types.ts'

export interface FinalizerRelease {
  readonly finalizer: string
  readonly dryRun: boolean
}

/** What it was taken off: `configmaps/held`, or `namespace` for the namespace itself. */
export type Released = readonly string[]

/** The content lies in more pages than one read: as many rounds as it takes, but not for ever. */
const maxRounds = 1000

/**
 * May be called again after a failure: it goes on with what is left.
 * @throws StatusError of the first request that is refused; Error if the finalizer holds nothing here
 */
export async function releaseFinalizer(
  client: Client,
  name: string,
  { finalizer, dryRun }: FinalizerRelease,
  signal: AbortSignal,
): Promise<Released> {
  const namespace = (await client.get(namespaceResource, { name }, { signal })) as Namespace
  if (namespace.metadata.deletionTimestamp === undefined) {
    throw new Error(`namespace ${name} is not being deleted: its finalizers do their work when it is`)
  }
  const released: string[] = []
  for (let round = 0; round < maxRounds; round++) {
    const { objects } = await remainingContent(client, namespace, signal)
    const held = objects.filter((o) => o.deletionTimestamp !== undefined && o.finalizers.includes(finalizer))
    for (const object of held) {
      if (await releaseObject(client, name, object, { finalizer, dryRun }, signal)) {
        released.push(`${object.resource}/${object.name}`)
      }
    }
    if (held.length === 0 || dryRun) break
  }
  if (await releaseNamespace(client, name, { finalizer, dryRun }, signal)) released.push('namespace')
  if (released.length === 0) {
    throw new Error(`finalizer ${finalizer} holds nothing in namespace ${name}; 'borough why ${name}' says what does`)
  }
  return released
}

const without = (finalizers: readonly string[] | undefined, finalizer: string): string[] =>
  (finalizers ?? []).filter((f) => f !== finalizer)

/** False = it is not there any more. */
async function releaseObject(
  client: Client,
  namespace: string,
  { type, name }: LeftObject,
  { finalizer, dryRun }: FinalizerRelease,
  signal: AbortSignal,
): Promise<boolean> {
  return untilUnchanged(async () => {
    const { metadata } = await client.get(type, { namespace, name }, { signal })
    if (!metadata.finalizers?.includes(finalizer)) return false
    await client.patch(type, { namespace, name }, finalizersPatch(metadata, finalizer), { dryRun, signal })
    return true
  })
}

const finalizersPatch = ({ resourceVersion, finalizers }: KubeObject['metadata'], finalizer: string): object => ({
  metadata: { resourceVersion, finalizers: without(finalizers, finalizer) },
})

/** Both of its lists: that of its metadata, and that of its spec, which only `/finalize` changes. */
async function releaseNamespace(
  client: Client,
  name: string,
  { finalizer, dryRun }: FinalizerRelease,
  signal: AbortSignal,
): Promise<boolean> {
  const fromMetadata = await untilUnchanged(async () => {
    const { metadata } = await client.get(namespaceResource, { name }, { signal })
    if (!metadata.finalizers?.includes(finalizer)) return false
    await client.patch(namespaceResource, { name }, finalizersPatch(metadata, finalizer), { dryRun, signal })
    return true
  })
  const fromSpec = await untilUnchanged(async () => {
    const namespace = (await client.get(namespaceResource, { name }, { signal })) as Namespace
    if (!namespace.spec?.finalizers?.includes(finalizer)) return false
    const spec = { ...namespace.spec, finalizers: without(namespace.spec.finalizers, finalizer) }
    await client.update(
      namespaceResource,
      { ...namespace, spec },
      {
        subresource: 'finalize',
        dryRun,
        signal,
      },
    )
    return true
  })
  return fromMetadata || fromSpec
}

/** Tried again when another client changed it meanwhile. A conflict with causes is another matter: content is left. */
async function untilUnchanged(attempt: () => Promise<boolean>): Promise<boolean> {
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (isNotFound(error)) return false
      if (!isConflict(error) || findStatusError(error)?.details?.causes !== undefined) throw error
    }
  }
}
