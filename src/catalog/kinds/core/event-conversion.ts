/**
 * Events have two faces and one store: what is kept is core/v1, `events.k8s.io/v1` has other names for the same fields.
 * @see pkg/apis/events/v1/conversion.go of Kubernetes 1.36
 */
import type { KubeObject } from '../../../kube/types.ts'

/** core/v1 → events.k8s.io/v1 */
const newNames: Readonly<Record<string, string>> = {
  involvedObject: 'regarding',
  message: 'note',
  source: 'deprecatedSource',
  firstTimestamp: 'deprecatedFirstTimestamp',
  lastTimestamp: 'deprecatedLastTimestamp',
  count: 'deprecatedCount',
  reportingComponent: 'reportingController',
}
const oldNames: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(newNames).map(([older, newer]) => [newer, older]),
)

function rename(object: KubeObject, names: Readonly<Record<string, string>>, apiVersion: string): KubeObject {
  const out: KubeObject = { metadata: object.metadata }
  for (const [field, value] of Object.entries(object)) out[names[field] ?? field] = value
  if (object.apiVersion !== undefined) out.apiVersion = apiVersion
  return out
}

export const toCoreEvent = (event: KubeObject): KubeObject => rename(event, oldNames, 'v1')
export const toNewEvent = (event: KubeObject): KubeObject => rename(event, newNames, 'events.k8s.io/v1')
