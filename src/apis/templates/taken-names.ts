/**
 * Names that a template gives to its objects, and that objects without a label of ours have: tenants made them, and
 * they are in the way, or would be taken over. The index knows nothing of them.
 */
import type { Client } from '../../client/client.ts'
import { listAll } from '../../client/list-all.ts'
import type { GroupVersionResource } from '../../kube/gvk.ts'
import { nameOf } from '../../kube/metadata.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { Namespace } from '../namespaces/types.ts'
import type { PopulatedObjects } from './populated-objects.ts'
import { objectsOf } from './template-objects.ts'
import { hasToken } from './tokens.ts'
import { type NamespaceTemplate, templateNameLabel } from './types.ts'

/** By namespace, as `takenKey` says. */
export type TakenNames = ReadonlyMap<string, ReadonlySet<string>>

export const takenKey = ({ group, resource }: GroupVersionResource, name: string): string =>
  `${group}/${resource}/${name}`

/** One list for each object that is not everywhere; none for a name with a token in it. */
export async function readTakenNames(
  {
    client,
    index,
    signal,
  }: { readonly client: Client; readonly index: PopulatedObjects; readonly signal: AbortSignal },
  template: NamespaceTemplate,
  selected: readonly Namespace[],
): Promise<TakenNames> {
  const taken = new Map<string, Set<string>>()
  const read = new Set<string>()
  for (const { source } of objectsOf(template)) {
    const { apiVersion, kind: kindName, metadata } = source as Partial<KubeObject>
    const { name = '' } = metadata ?? {}
    const kind = await client.discovery.findKind(apiVersion ?? '', kindName ?? '')
    if (kind === undefined || !kind.namespaced || name === '' || hasToken(name)) continue
    const key = takenKey(kind, name)
    const isEverywhere = selected.every((n) => index.find(kind, nameOf(n.metadata), name) !== undefined)
    if (isEverywhere || read.has(key)) continue
    read.add(key)
    const selectors = { labelSelector: `!${templateNameLabel}`, fieldSelector: `metadata.name=${name}` }
    for (const object of await listAll(client, kind, { ...selectors, metadataOnly: true, signal })) {
      const { namespace = '' } = object.metadata
      const names = taken.get(namespace) ?? new Set<string>()
      taken.set(namespace, names.add(key))
    }
  }
  return taken
}
