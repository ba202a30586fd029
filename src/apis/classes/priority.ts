/**
 * A pod has the priority of the class it names, or of the one that is the default: the number is the server's to say.
 * One class at most is the default.
 * @see plugin/pkg/admission/priority/admission.go of Kubernetes 1.36
 */

import type { AdmissionPlugin, Attributes } from '../../admission/admission.ts'
import { objectOf } from '../../admission/object-of.ts'
import { andThen } from '../../base/eventual.ts'
import type { Resource } from '../../kube/resource.ts'
import { forbidden } from '../../kube/status-error.ts'
import type { KubeObject, Unvalidated } from '../../kube/types.ts'
import { type Pod, podForbidden, podResource } from '../pods/types.ts'
import { type ClassLookup, findClass } from './class-lookup.ts'

export interface PriorityClass extends KubeObject {
  readonly value?: number
  readonly globalDefault?: boolean
  readonly preemptionPolicy?: string
}

export const priorityClassResource: Resource<PriorityClass> = {
  group: 'scheduling.k8s.io',
  version: 'v1',
  resource: 'priorityclasses',
}

/** Made at the first start; pods of the system name them. */
export const systemPriorityClasses: readonly PriorityClass[] = [
  {
    metadata: { name: 'system-node-critical' },
    value: 2_000_001_000,
    description: 'For pods without which their node does not work.',
  },
  {
    metadata: { name: 'system-cluster-critical' },
    value: 2_000_000_000,
    description: 'For pods without which the cluster does not work, on whatever node they are.',
  },
]

type About = Pick<Attributes, 'type' | 'name'>

const usualPreemption = 'PreemptLowerPriority'

export function podPriority(classes: ClassLookup): AdmissionPlugin {
  return {
    name: 'Priority',
    handles(operation, { group, resource }, subresource) {
      if (subresource !== '' || (operation !== 'CREATE' && operation !== 'UPDATE')) return false
      if (group === '' && resource === podResource.resource) return ['mutate']
      return group === priorityClassResource.group && resource === priorityClassResource.resource && ['validate']
    },
    /** Of pods. */
    mutate(a) {
      const pod = objectOf(podResource, a)
      if (a.operation === 'UPDATE') return keepPriority(pod, a.oldObject as Pod)
      const named = pod.spec?.priorityClassName ?? ''
      if (named === '') return withPriority(a, pod, defaultClass(classes))
      return andThen(findClass(classes, named), (found) => {
        if (found === undefined) throw podForbidden(a, pod, `no PriorityClass with name ${named} was found`)
        return withPriority(a, pod, found)
      })
    },
    /** Of classes. */
    validate(a) {
      const given = objectOf(priorityClassResource, a)
      if (given.globalDefault !== true) return
      const other = defaultClass(classes)?.metadata.name
      if (other === undefined || (a.operation === 'UPDATE' && other === given.metadata.name)) return
      const why = `PriorityClass ${other} is already marked as default. Only one default can exist`
      throw forbidden(a.type, a.name || (given.metadata.name ?? ''), why)
    },
  }
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null

/** Of several, which a race can leave, the lowest. */
function defaultClass(classes: ClassLookup): PriorityClass | undefined {
  let lowest: PriorityClass | undefined
  for (const next of classes.all() as readonly PriorityClass[]) {
    if (next.globalDefault === true && (next.value ?? 0) < (lowest?.value ?? Number.POSITIVE_INFINITY)) lowest = next
  }
  return lowest
}

function withPriority(a: About, pod: Unvalidated<Pod>, known: PriorityClass | undefined): Unvalidated<Pod> {
  const priority = known?.value ?? 0
  const preemptionPolicy = known?.preemptionPolicy ?? usualPreemption
  const given = pod.spec ?? {}
  if (isGiven(given.priority) && given.priority !== priority) {
    throw podForbidden(
      a,
      pod,
      `the integer value of priority (${String(given.priority)}) must not be provided in pod spec; ` +
        `priority admission controller computed ${priority} from the given PriorityClass name`,
    )
  }
  if (isGiven(given.preemptionPolicy) && given.preemptionPolicy !== preemptionPolicy) {
    throw podForbidden(
      a,
      pod,
      `the string value of PreemptionPolicy (${given.preemptionPolicy}) must not be provided in ` +
        `pod spec; priority admission controller computed ${preemptionPolicy} from the given PriorityClass name`,
    )
  }
  const name = known?.metadata.name
  const priorityClassName = name === undefined ? {} : { priorityClassName: name }
  return { ...pod, spec: { ...given, ...priorityClassName, priority, preemptionPolicy } }
}

/** Who leaves out what was given means to keep it. */
function keepPriority(pod: Unvalidated<Pod>, old: Pod): Unvalidated<Pod> | undefined {
  const missing = (['priority', 'preemptionPolicy'] as const).filter(
    (field) => !isGiven(pod.spec?.[field]) && old.spec?.[field] !== undefined,
  )
  if (missing.length === 0) return undefined
  return { ...pod, spec: { ...pod.spec, ...Object.fromEntries(missing.map((field) => [field, old.spec?.[field]])) } }
}
