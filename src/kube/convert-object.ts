import { apiVersionOf } from './gvk.ts'
import type { ResourceType } from './resource-type.ts'
import { shownAs } from './stored-form.ts'
import type { KubeObject } from './types.ts'

/** An object of one type as another one of the same storage shows it. @throws StatusError */
export function convertObject(
  object: KubeObject,
  from: ResourceType,
  to: ResourceType,
): KubeObject | Promise<KubeObject> {
  const remote = to.conversion?.remote
  return remote
    ? remote.from({ ...object, kind: from.kind, apiVersion: apiVersionOf(from) })
    : shownAs(object, from, to)
}
