/** Between the versions of a kind that share their objects. Others differ in apiVersion only. */
import { apiVersionOf, type GroupVersionKind, type GroupVersionResource, qualifiedResource } from '../../kube/gvk.ts'
import type { KubeObject } from '../../kube/types.ts'
import { toAutoscalerV1, toAutoscalerV2 } from './autoscalers.ts'
import { toCoreEvent, toNewEvent } from './events.ts'

export type Converter = (object: KubeObject) => KubeObject

/** Where it comes from does not matter: the forms that differ are told apart by where they go. */
const converters: Readonly<Record<string, Converter>> = {
  'v1 events': toCoreEvent,
  'v1 events.events.k8s.io': toNewEvent,
  'v1 horizontalpodautoscalers.autoscaling': toAutoscalerV1,
  'v2 horizontalpodautoscalers.autoscaling': toAutoscalerV2,
}

type Face = GroupVersionResource & GroupVersionKind

/** Never changes its argument; gives it back when there is nothing to do. */
export function convert(object: KubeObject, from: Face, to: Face): KubeObject {
  if (from.group === to.group && from.version === to.version) return object
  const convertTo = converters[`${to.version} ${qualifiedResource(to)}`]
  if (convertTo) return convertTo(object)
  return object.apiVersion === undefined ? object : { ...object, apiVersion: apiVersionOf(to), kind: to.kind }
}

/** True if the two print different fields, so that stored bytes of one are no answer for the other. */
export function needsConversion(from: Face, to: Face): boolean {
  const same = from.group === to.group && from.version === to.version
  return !same && converters[`${to.version} ${qualifiedResource(to)}`] !== undefined
}
