/**
 * LimitRanger: fills in what containers leave out, then refuses what is outside the limits of the namespace. Pods when
 * they are created or resized, claims when they are created or changed.
 */
import type { AdmissionPlugin, Attributes } from '../../admission/admission.ts'
import { objectOf } from '../../admission/object-of.ts'
import { runInSlices } from '../../base/resumable.ts'
import { aggregate } from '../../kube/aggregate.ts'
import { forbidden, requestHasTooManyValues } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import { maxValues, TooManyValuesError } from '../../kube/value-count.ts'
import { podResource } from '../pods/types.ts'
import { claimViolations, podViolations } from './check-limits.ts'
import { withDefaultLimits } from './default-limits.ts'
import type { LimitRange } from './types.ts'

export interface LimitRanges {
  /** Those of a namespace, in the order of their names. */
  of(namespace: string): Iterable<LimitRange>
  /** Sees everything acknowledged anywhere before the call. */
  refresh(): Promise<void>
}

export function limitRanger(ranges: LimitRanges): AdmissionPlugin {
  return {
    name: 'LimitRanger',
    handles(operation, type, subresource) {
      if (type.group !== '') return false
      if (!isPod({ type })) {
        return (
          type.resource === 'persistentvolumeclaims' && subresource === '' && operation !== 'DELETE' && ['validate']
        )
      }
      if (subresource === '' && operation === 'CREATE') return true
      return subresource === 'resize' && operation === 'UPDATE' && ['validate']
    },
    /** Of pods that are created. */
    mutate(a) {
      let pod = objectOf(podResource, a)
      try {
        for (const range of ranges.of(a.namespace)) pod = withDefaultLimits(pod, range)
      } catch (error) {
        throw error instanceof TooManyValuesError ? requestHasTooManyValues(maxValues) : error
      }
      return pod === a.object ? undefined : pod
    },
    async validate(a) {
      const object: KubeObject | undefined = a.object
      if (object === undefined || a.oldObject?.metadata.deletionTimestamp !== undefined) return
      if ((await findViolations(ranges.of(a.namespace), a, object)) === undefined) return
      // Believed only from what is there now: the limit may have been lifted elsewhere a moment ago.
      await ranges.refresh()
      const found = await findViolations(ranges.of(a.namespace), a, object)
      if (found) throw forbidden(a.type, a.name, aggregate(found))
    },
  }
}

/** What the first of them that is violated has against the object. */
async function findViolations(
  ranges: Iterable<LimitRange>,
  a: Attributes,
  object: KubeObject,
): Promise<readonly string[] | undefined> {
  for (const range of ranges) {
    const found = isPod(a)
      ? await runInSlices(podViolations(object, a.oldObject, range), a.slice)
      : claimViolations(object, a.oldObject, range)
    if (found.length > 0) return found
  }
  return undefined
}

const isPod = (a: Pick<Attributes, 'type'>): boolean => a.type.resource === 'pods'
