/**
 * Remembers an answer for each kind of request of one user: verb, group, resource and namespace, or verb and path.
 * Nested maps, because a key put together for each request would cost more than the four look-ups.
 */
import type { RequestAttributes } from './flow-control.ts'

/**
 * Of the names in a key together. What is longer is not kept: clients choose paths, and over HTTP/2 the method, so they
 * would choose our memory.
 */
const maxKeyLength = 512

type ByName<T> = Map<string, T>

export class RequestKinds<T> {
  readonly #byPath: ByName<ByName<T>> = new Map()
  /** Verb → group → resource → subresource and namespace. */
  readonly #byResource: ByName<ByName<ByName<ByName<T>>>> = new Map()

  get(info: RequestAttributes): T | undefined {
    if (!info.isResource) return this.#byPath.get(info.verb)?.get(info.path)
    return this.#byResource.get(info.verb)?.get(info.group)?.get(info.resource)?.get(placeOf(info))
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
