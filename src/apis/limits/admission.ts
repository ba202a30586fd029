/**
 * LimitRanger: fills in what containers leave out, then refuses what is outside the limits of the namespace. Pods when
 * they are created, claims also when they are changed.
 */
import type { AdmissionPlugin, Attributes } from '../../admission/admission.ts'
import { forbidden } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { Pod } from '../pods/types.ts'
import { claimViolations, podViolations } from './check-limits.ts'
import { withDefaultLimits } from './default-limits.ts'
import type { LimitRange } from './types.ts'

/** @param rangesOf the LimitRanges of a namespace, in the order of their names */
export function limitRanger(rangesOf: (namespace: string) => Iterable<LimitRange>): AdmissionPlugin {
  return {
    name: 'LimitRanger',
    handles: (operation, type, subresource) =>
      subresource === '' &&
      type.group === '' &&
      ((type.resource === 'pods' && operation === 'CREATE') ||
        (type.resource === 'persistentvolumeclaims' && operation !== 'DELETE')),
    async mutate(a) {
      if (!isPod(a)) return undefined
      let pod = a.object as Pod
      for (const range of rangesOf(a.namespace)) pod = withDefaultLimits(pod, range)
      return pod === a.object ? undefined : pod
    },
    async validate(a) {
      const object: KubeObject | undefined = a.object
      if (object === undefined || a.oldObject?.metadata.deletionTimestamp !== undefined) return
      for (const range of rangesOf(a.namespace)) {
        const found = isPod(a) ? podViolations(object as Pod, range) : claimViolations(object, range)
        if (found.length === 0) continue
        throw forbidden(a.type, a.name, found.length === 1 ? (found[0] ?? '') : `[${found.join(', ')}]`)
      }
    },
  }
}

const isPod = (a: Attributes): boolean => a.type.resource === 'pods'
