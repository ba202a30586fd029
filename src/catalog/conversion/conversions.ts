/**
 * Types that show stored objects with other fields. Kinds of several versions or groups that differ in apiVersion only
 * need none.
 */
import type { Conversion } from '../../kube/resource-type.ts'
import { toAutoscalerV1, toAutoscalerV2 } from './autoscalers.ts'
import { toCoreEvent, toNewEvent } from './events.ts'

/** By `version resource` or `version resource.group`. */
export const conversions: Readonly<Record<string, Conversion>> = {
  'v1 horizontalpodautoscalers.autoscaling': { toStored: toAutoscalerV2, fromStored: toAutoscalerV1 },
  'v1 events.events.k8s.io': { toStored: toCoreEvent, fromStored: toNewEvent },
}
