/** The status that new objects of a type have, whatever the client sent: what defaults make of nothing. */
import type { ResourceType } from '../kube/resource-type.ts'
import type { JsonValue } from '../kube/types.ts'
import type { RegistryDeps } from './parts.ts'

/** Worked out once for each type. Undefined for custom resources: their status is what was written. */
export function newStatuses(
  applyDefaults: RegistryDeps['applyDefaults'],
): (type: ResourceType) => JsonValue | undefined {
  const known = new WeakMap<ResourceType, { readonly status: JsonValue | undefined }>()
  return (type) => {
    if (type.custom) return undefined
    let found = known.get(type)
    if (found === undefined) {
      const { status } = applyDefaults(type, { metadata: {} })
      known.set(type, (found = { status: status as JsonValue | undefined }))
    }
    return found.status
  }
}
