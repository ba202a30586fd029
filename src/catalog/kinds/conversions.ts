/**
 * Types that show stored objects with other fields. Kinds of several versions or groups that differ in apiVersion only
 * need none.
 */
import type { Conversion } from '../../kube/resource-type.ts'
import type { Schema } from '../../kube/schema/schema.ts'
import { autoscalerConversion } from './autoscaling/autoscaler-conversion.ts'
import { toCoreEvent, toNewEvent } from './core/event-conversion.ts'

/** By `version resource` or `version resource.group`. */
export const conversionsWith = (schemaOf: (typeName: string) => Schema): Readonly<Record<string, Conversion>> => ({
  'v1 horizontalpodautoscalers.autoscaling': autoscalerConversion(() =>
    schemaOf('io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler'),
  ),
  'v1 events.events.k8s.io': { toStored: toCoreEvent, fromStored: toNewEvent },
})
