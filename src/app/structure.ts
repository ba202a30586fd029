import type { Schema } from '../kube/schema/schema.ts'
import type { JsonObject } from '../kube/types.ts'

export function checkStructure(
  object: JsonObject,
  _schema: Schema,
  _report: boolean,
): { object: JsonObject; unknown: string[] } {
  return { object: structuredClone(object), unknown: [] }
}
