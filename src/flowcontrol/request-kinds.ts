/**
 * Remembers an answer for each kind of request of one user: verb, group, resource and namespace, or verb and path.
 * Nested maps, because a key put together for each request would cost more than the four look-ups. Mostly a user asks
 * for what it asked for last, which is compared first.
 */
import type { RequestAttributes } from './flow-control.ts'

/**
 * Of the names in a key together. What is longer is not kept: clients choose paths, and over HTTP/2 the method, so they
 * would choose our memory.
 */
const maxKeyLength = 512

type ByName<T> = Map<string, T>
type ResourceKind = Pick<RequestAttributes, 'verb' | 'group' | 'resource' | 'subresource' | 'namespace'>

export class RequestKinds<T> {
  readonly #byPath: ByName<ByName<T>> = new Map()
  /** Verb → group → resource → subresource and namespace. */
  readonly #byResource: ByName<ByName<ByName<ByName<T>>>> = new Map()
  #last: { readonly kind: ResourceKind; readonly value: T } | undefined

  get(info: RequestAttributes): T | undefined {
    if (!info.isResource) return this.#byPath.get(info.verb)?.get(info.path)
    if (this.#last !== undefined && areOneKind(this.#last.kind, info)) return this.#last.value
    const { verb, group, resource, subresource, namespace } = info
    const value = this.#byResource.get(verb)?.get(group)?.get(resource)?.get(placeOf(info))
    // Not the attributes themselves: they hold the whole request.
    if (value !== undefined) this.#last = { kind: { verb, group, resource, subresource, namespace }, value }
    return value
  }

  /** False if it is not kept. */
  set(info: RequestAttributes, value: T): boolean {
    const { isResource, verb, path, group, resource } = info
    if (!isResource) {
      if (verb.length + path.length > maxKeyLength) return false
      entry(this.#byPath, verb).set(path, value)
      return true
    }
    const place = placeOf(info)
    if (group.length + resource.length + place.length > maxKeyLength) return false
    entry(entry(entry(this.#byResource, verb), group), resource).set(place, value)
    return true
  }
}

const areOneKind = (a: ResourceKind, b: ResourceKind): boolean =>
  a.verb === b.verb &&
  a.resource === b.resource &&
  a.namespace === b.namespace &&
  a.group === b.group &&
  a.subresource === b.subresource

/** A namespace has no slash, so the two can't be mistaken for each other. */
const placeOf = ({ subresource, namespace }: RequestAttributes): string =>
  subresource === '' ? namespace : `${subresource}/${namespace}`

function entry<K, V>(map: Map<string, Map<K, V>>, key: string): Map<K, V> {
  let found = map.get(key)
  if (found === undefined) {
    found = new Map()
    map.set(key, found)
  }
  return found
}
