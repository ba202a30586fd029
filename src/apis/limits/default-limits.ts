/**
 * Containers that do not say what they need are given what the LimitRange says. An annotation tells what was filled in.
 * @see mergePodResourceRequirements in plugin/pkg/admission/limitranger/admission.go of Kubernetes 1.36
 */
import type { MaybeAbsent, Unvalidated } from '../../kube/types.ts'
import { maxValues, ValueBudget } from '../../kube/value-count.ts'
import type { Side } from '../pods/resources.ts'
import type { Container, Pod, Requirements } from '../pods/types.ts'
import type { LimitRange } from './types.ts'

export const limitRangerAnnotation = 'kubernetes.io/limit-ranger'

type Given<T> = NonNullable<MaybeAbsent<T>>
type Amounts = NonNullable<Requirements[Side]>

/** The pod with its gaps filled; the same one if there are none. @throws TooManyValuesError */
export function withDefaultLimits(pod: Unvalidated<Pod>, range: LimitRange): Unvalidated<Pod> {
  const defaults: Record<Side, Amounts> = { requests: {}, limits: {} }
  for (const item of range.spec?.limits ?? []) {
    if (item.type !== 'Container') continue
    Object.assign(defaults.requests, item.defaultRequest)
    Object.assign(defaults.limits, item.default)
  }
  const told: string[] = []
  // A few defaults for each of thousands of containers are more than an object may hold.
  const room = new ValueBudget(maxValues)
  const filled = (container: Given<Container>, what: string): Given<Container> => {
    const { requests, limits } = container.resources ?? {}
    const missing = { requests: gaps(requests, defaults.requests), limits: gaps(limits, defaults.limits) }
    let next = container
    for (const side of ['requests', 'limits'] as const) {
      const names = Object.keys(missing[side]).sort()
      if (names.length === 0) continue
      room.take(names.length)
      told.push(`${names.join(', ')} ${side === 'requests' ? 'request' : 'limit'} for ${what} ${container.name ?? ''}`)
      next = withAmounts(next, side, missing[side])
    }
    return next
  }
  const containers = pod.spec?.containers?.map((c) => filled(c, 'container'))
  const initContainers = pod.spec?.initContainers?.map((c) => filled(c, 'init container'))
  if (told.length === 0) return pod
  const annotations = {
    ...pod.metadata.annotations,
    [limitRangerAnnotation]: `LimitRanger plugin set: ${told.join('; ')}`,
  }
  return {
    ...pod,
    metadata: { ...pod.metadata, annotations },
    spec: { ...pod.spec, ...(containers ? { containers } : {}), ...(initContainers ? { initContainers } : {}) },
  }
}

function gaps(given: MaybeAbsent<Amounts> | undefined, defaults: Amounts): Amounts {
  return Object.fromEntries(Object.entries(defaults).filter(([name]) => given?.[name] === undefined))
}

function withAmounts(container: Given<Container>, side: Side, more: Amounts): Given<Container> {
  const resources = { ...container.resources, [side]: { ...container.resources?.[side], ...more } }
  return { ...container, resources }
}
