/** What the three JSON kinds of patch make of an object. */
import type { Eventual } from '../../base/eventual.ts'
import { runInSlices } from '../../base/resumable.ts'
import type { Slice } from '../../base/turns.ts'
import { applyingJsonPatch, parseJsonPatch } from '../../kube/patch/json-patch.ts'
import { applyingMergePatch, parseMergePatch } from '../../kube/patch/merge-patch.ts'
import { applyingStrategicMergePatch, parseStrategicMergePatch } from '../../kube/patch/strategic-merge-patch.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import type { JsonObject, JsonValue } from '../../kube/types.ts'

export const jsonPatch = 'application/json-patch+json'
export const mergePatch = 'application/merge-patch+json'
export const strategicMergePatch = 'application/strategic-merge-patch+json'

/** May be called again, on another version of the object. */
export type Change = (current: JsonObject, slice: Slice | undefined) => Eventual<JsonValue>

/** @throws StatusError BadRequest, RequestEntityTooLarge */
export function changeOf(mediaType: string, value: JsonValue, type: ResourceType): Change {
  switch (mediaType) {
    case jsonPatch: {
      const patch = parseJsonPatch(value)
      return (current, slice) => runInSlices(applyingJsonPatch(current, patch), slice)
    }
    case mergePatch: {
      const patch = parseMergePatch(value)
      return (current, slice) => runInSlices(applyingMergePatch(current, patch), slice)
    }
    default: {
      const patch = parseStrategicMergePatch(value)
      return (current, slice) => runInSlices(applyingStrategicMergePatch(current, patch, type.schema), slice)
    }
  }
}
