/** What is made of all objects of a kind, kept until one of them changes: for kinds that rarely do. */
import type { ResourceType } from '../kube/resource-type.ts'
import type { KubeObject } from '../kube/types.ts'
import type { Lister } from '../registry/registry.ts'

export function madeOfAll<T>(lister: Lister, type: ResourceType, make: (objects: readonly KubeObject[]) => T): () => T {
  let made: { readonly value: T } | undefined
  lister.subscribe(type, () => {
    made = undefined
  })
  return () => {
    made ??= { value: make([...lister.list(type, '')].map(({ object }) => object)) }
    return made.value
  }
}
