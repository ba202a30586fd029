/**
 * What a pod asks for as a whole: its containers together, or what its init containers need before, whichever is more;
 * what is said for the whole pod stands above both.
 * @see k8s.io/component-helpers/resource/helpers.go v0.36
 */
import { addQuantities, findQuantity, maxQuantity, type Quantity } from '../../kube/quantity.ts'
import type { Pod } from './types.ts'

export type Amounts = Map<string, Quantity>

export interface Requirements {
  requests?: Record<string, string | number>
  limits?: Record<string, string | number>
}

export interface Container {
  name?: string
  restartPolicy?: string
  resources?: Requirements
}

export type Side = 'requests' | 'limits'

export const containersOf = (pod: Pod): readonly Container[] => (pod.spec?.['containers'] as Container[]) ?? []
export const initContainersOf = (pod: Pod): readonly Container[] => (pod.spec?.['initContainers'] as Container[]) ?? []
export const podRequirements = (pod: Pod): Requirements => (pod.spec?.['resources'] as Requirements) ?? {}

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

/** What all containers take together, overhead not included. */
export function containerTotals(pod: Pod, side: Side): Amounts {
  const total: Amounts = new Map()
  for (const container of containersOf(pod)) add(total, amountsOf(container, side))
  // A sidecar runs on beside all that start after it.
  const sidecars: Amounts = new Map()
  const starting: Amounts = new Map()
  for (const container of initContainersOf(pod)) {
    const own = amountsOf(container, side)
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

/** As quota charges it: with the overhead of the pod's runtime. */
export function podTotals(pod: Pod, side: Side): Amounts {
  const total = containerTotals(pod, side)
  for (const [name, q] of amounts(podRequirements(pod)[side])) total.set(name, q)
  for (const [name, q] of amounts(pod.spec?.['overhead'] as Record<string, string> | undefined)) {
    const had = total.get(name)
    // What has no limit gets none from its overhead.
    if (had) total.set(name, addQuantities(had, q))
    else if (side === 'requests') total.set(name, q)
  }
  return total
}
