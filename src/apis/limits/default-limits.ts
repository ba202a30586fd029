/**
 * Containers that do not say what they need are given what the LimitRange says. An annotation tells what was filled in.
 * @see mergePodResourceRequirements in plugin/pkg/admission/limitranger/admission.go of Kubernetes 1.36
 */
import type { Container, Requirements, Side } from '../pods/resources.ts'
import { containersOf, initContainersOf } from '../pods/resources.ts'
import type { Pod } from '../pods/types.ts'
import type { LimitRange } from './types.ts'

export const limitRangerAnnotation = 'kubernetes.io/limit-ranger'

/** The pod with its gaps filled; the same one if there are none. */
export function withDefaultLimits(pod: Pod, range: LimitRange): Pod {
  const defaults: Required<Requirements> = { requests: {}, limits: {} }
  for (const item of range.spec?.limits ?? []) {
    if (item.type !== 'Container') continue
    Object.assign(defaults.requests, item.defaultRequest)
    Object.assign(defaults.limits, item.default)
  }
  const told: string[] = []
  const filled = (container: Container, what: string): Container => {
    const { requests, limits } = container.resources ?? {}
    const missing = { requests: gaps(requests, defaults.requests), limits: gaps(limits, defaults.limits) }
    let next = container
    for (const side of ['requests', 'limits'] as const) {
      const names = Object.keys(missing[side]).sort()
      if (names.length === 0) continue
      told.push(`${names.join(', ')} ${side === 'requests' ? 'request' : 'limit'} for ${what} ${container.name ?? ''}`)
      next = withAmounts(next, side, missing[side])
    }
    return next
  }
  const containers = containersOf(pod).map((c) => filled(c, 'container'))
  const initContainers = initContainersOf(pod).map((c) => filled(c, 'init container'))
  if (told.length === 0) return pod
  const annotations = {
    ...pod.metadata.annotations,
    [limitRangerAnnotation]: `LimitRanger plugin set: ${told.join('; ')}`,
  }
  return {
    ...pod,
    metadata: { ...pod.metadata, annotations },
    spec: { ...pod.spec, containers, ...(initContainers.length > 0 ? { initContainers } : {}) },
  }
}

function gaps(
  given: Requirements[Side] = {},
  defaults: NonNullable<Requirements[Side]>,
): NonNullable<Requirements[Side]> {
  return Object.fromEntries(Object.entries(defaults).filter(([name]) => given[name] === undefined))
}

function withAmounts(container: Container, side: Side, more: NonNullable<Requirements[Side]>): Container {
  const resources = { ...container.resources, [side]: { ...container.resources?.[side], ...more } }
  return { ...container, resources }
}
