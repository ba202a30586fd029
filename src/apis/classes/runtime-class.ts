/**
 * A pod that names a RuntimeClass is given what the class says of it: its overhead, and where it can run. No other pod
 * says anything of overhead.
 * @see plugin/pkg/admission/runtimeclass/admission.go, pkg/util/tolerations of Kubernetes 1.36
 */

import type { AdmissionPlugin, Attributes } from '../../admission/admission.ts'
import { objectOf } from '../../admission/object-of.ts'
import { andThen } from '../../base/eventual.ts'
import { jsonEqual } from '../../kube/json-value.ts'
import type { Resource } from '../../kube/resource.ts'
import type { KubeObject, Unvalidated } from '../../kube/types.ts'
import { type Pod, podForbidden, podResource } from '../pods/types.ts'
import { type ClassLookup, findClass } from './class-lookup.ts'

export interface RuntimeClass extends KubeObject {
  readonly overhead?: { readonly podFixed?: Readonly<Record<string, string>> }
  readonly scheduling?: {
    readonly nodeSelector?: Readonly<Record<string, string>>
    readonly tolerations?: readonly object[]
  }
}

export const runtimeClassResource: Resource<RuntimeClass> = {
  group: 'node.k8s.io',
  version: 'v1',
  resource: 'runtimeclasses',
}

export function podRuntime(classes: ClassLookup): AdmissionPlugin {
  return {
    name: 'RuntimeClass',
    handles: (operation, type, subresource) =>
      operation === 'CREATE' && subresource === '' && type.group === '' && type.resource === podResource.resource,
    mutate(a) {
      const pod = objectOf(podResource, a)
      const name = pod.spec?.runtimeClassName
      if (!name) return undefined
      return andThen(findClass(classes, name), (found) => {
        if (found === undefined)
          throw podForbidden(a, pod, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`)
        return withRuntime(a, pod, found)
      })
    },
    validate(a) {
      const pod = objectOf(podResource, a)
      const overhead = overheadOf(pod)
      const name = pod.spec?.runtimeClassName
      const known = name ? classes.find(name) : undefined
      if (overhead !== undefined && known?.overhead === undefined) {
        throw podForbidden(a, pod, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead')
      }
    },
  }
}

function overheadOf(pod: Pod | Unvalidated<Pod>): object | undefined {
  const overhead = pod.spec?.overhead ?? undefined
  return overhead === undefined || Object.keys(overhead).length === 0 ? undefined : overhead
}

function withRuntime(
  a: Pick<Attributes, 'type' | 'name'>,
  pod: Unvalidated<Pod>,
  { overhead, scheduling = {} }: RuntimeClass,
): Unvalidated<Pod> {
  const spec = { ...pod.spec }
  if (overhead !== undefined) {
    const fixed = overhead.podFixed ?? {}
    const given = overheadOf(pod)
    if (given !== undefined && !jsonEqual(given, fixed)) {
      throw podForbidden(a, pod, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
    }
    spec.overhead = fixed
  }
  const { nodeSelector = {}, tolerations = [] } = scheduling
  const own = spec.nodeSelector ?? {}
  for (const [key, value] of Object.entries(nodeSelector)) {
    if (!Object.hasOwn(own, key) || own[key] === value) continue
    throw podForbidden(
      a,
      pod,
      `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own[key]}`,
    )
  }
  if (Object.keys(nodeSelector).length > 0) spec.nodeSelector = { ...own, ...nodeSelector }
  if (tolerations.length > 0) {
    const had = spec.tolerations ?? []
    spec.tolerations = [...had, ...tolerations.filter((next) => !had.some((known) => jsonEqual(known, next)))]
  }
  return { ...pod, spec }
}
