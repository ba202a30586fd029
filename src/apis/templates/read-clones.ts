/** What is cloned, for who has no watch on its sources: read once. */
import type { Client } from '../../client/client.ts'
import { findObject } from '../../client/find-object.ts'
import { findStatusError } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import { clonesIn, sourceKey } from './clone-sources.ts'
import { cloneResolver, cloneResource, type ResolveClone } from './clones.ts'
import type { PopulatedIndex } from './populated-index.ts'
import type { NamespaceTemplate } from './types.ts'

/** The sources of clones as the user who asks may read them. */
export async function readClones(
  client: Client,
  index: PopulatedIndex,
  templates: readonly NamespaceTemplate[],
  signal: AbortSignal,
): Promise<ResolveClone> {
  const found = new Map<string, KubeObject | string | undefined>()
  for (const [key, { from }] of clonesIn(templates)) {
    try {
      found.set(key, await findObject(client, cloneResource(from), from, { signal }))
    } catch (error) {
      const status = findStatusError(error)
      if (status === undefined) throw error
      found.set(key, status.message)
    }
  }
  return cloneResolver({
    find: (from) => found.get(sourceKey(from)),
    madeIn: (namespace) => index.claimsIn(namespace),
  })
}
