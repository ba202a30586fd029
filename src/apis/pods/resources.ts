/**
 * What a pod asks for as a whole: its containers together, or what its init containers need before, whichever is more;
 * what is said for the whole pod stands above both.
 * @see k8s.io/component-helpers/resource/helpers.go v0.36
 */
import { addQuantities, findQuantity, maxQuantity, type Quantity } from '../../kube/quantity.ts'
import type { Container, Pod, Requirements } from './types.ts'

export type Amounts = Map<string, Quantity>

export type Side = 'requests' | 'limits'

export const containersOf = (pod: Pod): readonly Container[] => pod.spec?.containers ?? []
export const initContainersOf = (pod: Pod): readonly Container[] => pod.spec?.initContainers ?? []
export const podRequirements = (pod: Pod): Requirements => pod.spec?.resources ?? {}

/** Amounts have passed their schema; what does not parse counts as nothing. */
export function amounts(given: Record<string, string | number> | undefined): Amounts {
  const parsed: Amounts = new Map()
  for (const [name, value] of Object.entries(given ?? {})) {
    const quantity = findQuantity(String(value))
    if (quantity) parsed.set(name, quantity)
  }
  return parsed
}

export const amountsOf = (container: Container, side: Side): Amounts => amounts(container.resources?.[side])

interface ContainerStatus {
  name?: string
  resources?: Requirements
  allocatedResources?: Record<string, string | number>
}

/**
 * While a pod is being resized it has what it had and may get what it wants: the more of both counts. A size that its
 * node can't give does not.
 */
function taken(pod: Pod, side: Side, container: Container): Amounts {
  const status = statusesOf(pod).find((s) => s.name === container.name)
  if (status?.resources === undefined) return amountsOf(container, side)
  const isInfeasible = (pod.status?.conditions ?? []).some(
    (c) => c.type === 'PodResizePending' && c.reason === 'Infeasible',
  )
  const total = isInfeasible ? new Map<string, Quantity>() : amountsOf(container, side)
  raise(total, amounts(status.resources[side]))
  if (side === 'requests') raise(total, amounts(status.allocatedResources))
  return total
}

const statusesOf = (pod: Pod): readonly ContainerStatus[] => [
  ...((pod.status?.['containerStatuses'] as ContainerStatus[] | undefined) ?? []),
  ...((pod.status?.['initContainerStatuses'] as ContainerStatus[] | undefined) ?? []),
]

function add(to: Amounts, more: Amounts): void {
  for (const [name, q] of more) {
    const had = to.get(name)
    to.set(name, had ? addQuantities(had, q) : q)
  }
}

function raise(to: Amounts, other: Amounts): void {
  for (const [name, q] of other) {
    const had = to.get(name)
    to.set(name, had ? maxQuantity(had, q) : q)
  }
}

const isSidecar = (c: Container): boolean => c.restartPolicy === 'Always'

/**
 * What all containers take together, without overhead.
 * @param amountOf of one container that runs on; default: what it says
 */
function containerTotals(
  pod: Pod,
  side: Side,
  amountOf: (container: Container) => Amounts = (container) => amountsOf(container, side),
): Amounts {
  const total: Amounts = new Map()
  for (const container of containersOf(pod)) add(total, amountOf(container))
  // A sidecar runs on beside all that start after it.
  const sidecars: Amounts = new Map()
  const starting: Amounts = new Map()
  for (const container of initContainersOf(pod)) {
    const own = isSidecar(container) ? amountOf(container) : amountsOf(container, side)
    if (isSidecar(container)) {
      add(total, own)
      add(sidecars, own)
      raise(starting, sidecars)
    } else {
      const then: Amounts = new Map(own)
      add(then, sidecars)
      raise(starting, then)
    }
  }
  raise(total, starting)
  return total
}

/** As limits see it: what the pod says, as a whole or by its containers. */
export function saidTotals(pod: Pod, side: Side): Amounts {
  return withWhole(pod, side, containerTotals(pod, side))
}

function withWhole(pod: Pod, side: Side, total: Amounts): Amounts {
  for (const [name, q] of amounts(podRequirements(pod)[side])) total.set(name, q)
  return total
}

/** As quota charges it: with the overhead of the pod's runtime. */
export function podTotals(pod: Pod, side: Side): Amounts {
  const total = withWhole(
    pod,
    side,
    containerTotals(pod, side, (container) => taken(pod, side, container)),
  )
  for (const [name, q] of amounts(pod.spec?.overhead)) {
    const had = total.get(name)
    // What has no limit gets none from its overhead.
    if (side === 'requests') total.set(name, had ? addQuantities(had, q) : q)
    else if (had && had.nanos !== 0n) total.set(name, addQuantities(had, q))
  }
  return total
}
