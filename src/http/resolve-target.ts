/**
 * From a path to what it is about, once, before authorization. Authorization and dispatch both work on this record: a
 * path can't be authorized as one thing and served as another.
 *
 * A path whose scope does not fit its type is no route at all: a cluster-scoped type under `namespaces/{namespace}/`,
 * or an object of a namespaced type without a namespace. It is 404 for authenticated users. Anonymous ones are
 * authorized by what the path says, as upstream, and are refused before they learn which types exist.
 */
import type { ResourceType, ResourceTypes } from '../kube/resource-type.ts'
import type { Stage } from './api.ts'
import type { RequestInfo } from './request-info.ts'
import type { Resolution } from './resolution.ts'

export function resolveTarget(types: ResourceTypes): Stage {
  return (next) => (request, context) => {
    context.resolution = resolutionOf(types, context.info)
    return next(request, context)
  }
}

export function resolutionOf(types: ResourceTypes, info: RequestInfo): Resolution {
  if (!info.isResource) return 'no resource'
  const { verb, group, version, resource, parts } = info
  const type = types.find({ group, version, resource })
  if (type === undefined) return types.hasGroup(group) ? 'no such type' : 'no such group'
  if (parts.length > 3 || parts.includes('') || !scopeFits(type, info)) return 'no such path'
  return {
    type,
    verb,
    namespace: type.namespaced ? info.namespace : '',
    name: parts[1] ?? '',
    subresource: parts[2] ?? '',
  }
}

function scopeFits(type: ResourceType, { underNamespace, namespace, parts }: RequestInfo): boolean {
  if (!type.namespaced) return !underNamespace && (namespace === '' || isNamespaces(type))
  // All namespaces at once, also written as `namespaces//pods`: only a collection.
  if (namespace === '') return parts.length === 1
  // Else it is `namespaces/x` of a group that has a type of that name.
  return underNamespace
}

/** The core type, whose objects are addressed as scopes of others. */
export const isNamespaces = ({ group, resource }: ResourceType): boolean => group === '' && resource === 'namespaces'
