/**
 * Which webhooks or policies match an operation on a resource: worked out once and remembered until their list, or
 * what is served, changes. A request that none matches pays for one look into a map.
 */
import type { Operation } from '../../admission/admission.ts'
import type { ResourceType } from '../../kube/resource-type.ts'

export class RememberedMatches<T> {
  readonly #match: (operation: Operation, type: ResourceType, subresource: string) => readonly T[]
  #found = new WeakMap<ResourceType, Map<string, readonly T[]>>()

  constructor(match: (operation: Operation, type: ResourceType, subresource: string) => readonly T[]) {
    this.#match = match
  }

  of(operation: Operation, type: ResourceType, subresource: string): readonly T[] {
    let ofType = this.#found.get(type)
    if (ofType === undefined) {
      ofType = new Map()
      this.#found.set(type, ofType)
    }
    const key = `${operation} ${subresource}`
    let found = ofType.get(key)
    if (found === undefined) {
      found = this.#match(operation, type, subresource)
      ofType.set(key, found)
    }
    return found
  }

  forget(): void {
    this.#found = new WeakMap()
  }
}
