/**
 * What a status counts is not below zero. Most of what is wrong with an object shows when it is sent back whole
 * (`trial.ts`), but a status that is sent back is dropped: this looks at what was accepted itself.
 */
import type { Subject } from './subjects.ts'
import type { Variation } from './variations.ts'

/** Numbers that upstream takes as they come, and those that are no counts: `kind: status.field`. */
const taken: ReadonlySet<string> = new Set([
  'CustomResourceDefinition: status.conditions.observedGeneration',
  'CustomResourceDefinition: status.observedGeneration',
  'HorizontalPodAutoscaler: status.currentCPUUtilizationPercentage',
  'HorizontalPodAutoscaler: status.observedGeneration',
  'Node: status.daemonEndpoints.kubeletEndpoint.Port',
  'Node: status.images.sizeBytes',
  'Node: status.nodeInfo.swap.capacity',
  'PodDisruptionBudget: status.observedGeneration',
  'Service: status.conditions.observedGeneration',
  'ServiceCIDR: status.conditions.observedGeneration',
  'ValidatingAdmissionPolicy: status.conditions.observedGeneration',
  'ValidatingAdmissionPolicy: status.observedGeneration',
  'VolumeAttachment: status.attachError.errorCode',
  'VolumeAttachment: status.detachError.errorCode',
  ...['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'].flatMap((list) => [
    `Pod: status.${list}.restartCount`,
    `Pod: status.${list}.allocatedResources.key`,
  ]),
  'Pod: status.allocatedResources.key',
  'Pod: status.resources.limits.key',
  'Pod: status.resources.requests.key',
  // What is allocated of devices is not validated (`docs/compatibility.md`).
  'Pod: status.nodeAllocatableResourceClaimStatuses.resources.key',
  'ResourceClaim: status.devices.conditions.observedGeneration',
  'ResourceClaim: status.devices.data',
  // The server counts itself, and shows nothing else.
  'ResourceQuota: status.used.key',
])

/** Their controllers alone write their status. */
const isOurs = ({ group, kind }: Subject['gvk']): boolean =>
  group.endsWith('borough.dev') || kind === 'NamespaceTemplate'

/** `answered`: what was accepted. A write of the object itself leaves its status as it was. */
export function negativeCount(
  { gvk, isCustom }: Subject,
  { path, value }: Variation,
  answered: unknown,
): string | undefined {
  if (value !== -1 || path[0] !== 'status' || isCustom || isOurs(gvk)) return undefined
  if (findAt(answered, path) !== -1) return undefined
  const field = `${gvk.kind}: ${path.filter((step) => typeof step === 'string').join('.')}`
  return taken.has(field) ? undefined : `took a number below zero at ${field}`
}

const findAt = (object: unknown, path: Variation['path']): unknown =>
  path.reduce((at, step) => (at as Readonly<Record<number | string, unknown>> | undefined)?.[step], object)
