/** A value made of all objects of a kind, kept until one of them changes: for kinds that rarely do. */
import type { ResourceType } from '../kube/resource-type.ts'
import type { KubeObject } from '../kube/types.ts'
import type { Lister } from '../registry/registry.ts'

export function deriveFromObjects<T extends KubeObject, V>(
  lister: Lister,
  type: ResourceType<T>,
  derive: (objects: readonly T[]) => V,
): () => V {
  let derived: { readonly value: V } | undefined
  lister.subscribe(type, () => {
    derived = undefined
  })
  return () => {
    derived ??= { value: derive([...lister.list(type, '')].map(({ object }) => object)) }
    return derived.value
  }
}
