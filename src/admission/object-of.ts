/** The object of a write by the type of its resource, for plugins that handle one resource. */
import type { Resource } from '../kube/resource.ts'
import type { KubeObject, Unvalidated } from '../kube/types.ts'
import type { Attributes } from './admission.ts'

/** @throws TypeError where the write is about something else, or has no object: the plugin handles too much */
export function objectOf<T extends KubeObject>(resource: Resource<T>, a: Pick<Attributes, 'type' | 'object'>): T
export function objectOf<T extends KubeObject>(
  resource: Resource<T>,
  a: Pick<Attributes<Unvalidated>, 'type' | 'object'>,
): Unvalidated<T>
export function objectOf(
  { group, resource }: Resource,
  { type, object }: Pick<Attributes<unknown>, 'type' | 'object'>,
) {
  if (type.resource !== resource || type.group !== group || object === undefined)
    throw new TypeError(`a write of ${type.resource}.${type.group} has no object of ${resource}.${group}`)
  return object
}
