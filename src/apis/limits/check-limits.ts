/**
 * What a LimitRange has against a pod or a claim, in upstream's words.
 * @see PodValidateLimitFunc, PersistentVolumeClaimValidateLimitFunc in plugin/pkg/admission/limitranger/admission.go of
 *   Kubernetes 1.36
 */
import { compareQuantities, maxQuantity, printQuantity, type Quantity, wholeValue } from '../../kube/quantity.ts'
import type { KubeObject } from '../../kube/types.ts'
import {
  type Amounts,
  amounts,
  amountsOf,
  type Container,
  containersOf,
  initContainersOf,
  podRequirements,
  type Side,
} from '../pods/resources.ts'
import type { Pod } from '../pods/types.ts'
import type { LimitRange, LimitRangeItem } from './types.ts'

interface Asked {
  readonly requests: Amounts
  readonly limits: Amounts
}

export function podViolations(pod: Pod, range: LimitRange): string[] {
  const all = [...containersOf(pod), ...initContainersOf(pod)].map(askedBy)
  return (range.spec?.limits ?? []).flatMap((item) => {
    if (item.type === 'Container') return all.flatMap((asked) => violations(item, asked))
    if (item.type === 'Pod') return violations(item, askedByPod(pod))
    return []
  })
}

export function claimViolations(claim: KubeObject, range: LimitRange): string[] {
  const { resources } = (claim['spec'] ?? {}) as { resources?: { requests?: Record<string, string> } }
  const requests = amounts(resources?.requests)
  return (range.spec?.limits ?? []).flatMap((item) => {
    if (item.type !== 'PersistentVolumeClaim') return []
    return [
      ...each(item.min, (name, bound) => atLeast(item, name, bound, { requests, limits: new Map() })),
      ...each(item.max, (name, bound) => {
        const request = requests.get(name)
        if (!request) return `${maximum(item, name, bound)}.  No request is specified`
        return compareQuantities(request, bound) > 0
          ? `${maximum(item, name, bound)}, but request is ${printQuantity(request)}`
          : undefined
      }),
    ]
  })
}

const askedBy = (container: Container): Asked => ({
  requests: amountsOf(container, 'requests'),
  limits: amountsOf(container, 'limits'),
})

const askedByPod = (pod: Pod): Asked => ({ requests: podTotal(pod, 'requests'), limits: podTotal(pod, 'limits') })

/** Of a resource that one container does not name, the pod as a whole names none: it might take any amount. */
function podTotal(pod: Pod, side: Side): Amounts {
  const running = [...containersOf(pod), ...initContainersOf(pod).filter((c) => c.restartPolicy === 'Always')]
  const [first, ...rest] = running.map((c) => amountsOf(c, side))
  const total: Amounts = new Map()
  for (const [name, q] of first ?? []) {
    let { nanos } = q
    if (!rest.every((r) => r.has(name))) continue
    for (const r of rest) nanos += r.get(name)?.nanos ?? 0n
    total.set(name, { nanos, format: 'DecimalSI' })
  }
  for (const container of initContainersOf(pod)) {
    if (container.restartPolicy === 'Always') continue
    for (const [name, q] of amountsOf(container, side)) {
      const had = total.get(name)
      total.set(name, had ? maxQuantity(had, q) : q)
    }
  }
  for (const [name, q] of amounts(podRequirements(pod)[side])) total.set(name, q)
  return total
}

function violations(item: LimitRangeItem, asked: Asked): string[] {
  return [
    ...each(item.min, (name, bound) => atLeast(item, name, bound, asked)),
    ...each(item.max, (name, bound) => atMost(item, name, bound, asked)),
    ...each(item.maxLimitRequestRatio, (name, bound) => inRatio(item, name, bound, asked)),
  ]
}

function each(
  bounds: Record<string, string | number> | undefined,
  check: (name: string, bound: Quantity) => string | undefined,
): string[] {
  return [...amounts(bounds)].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([name, bound]) => check(name, bound) ?? [])
}

const maximum = (item: LimitRangeItem, name: string, bound: Quantity): string =>
  `maximum ${name} usage per ${item.type} is ${printQuantity(bound)}`

function atLeast(item: LimitRangeItem, name: string, bound: Quantity, { requests, limits }: Asked): string | undefined {
  const text = `minimum ${name} usage per ${item.type} is ${printQuantity(bound)}`
  const request = requests.get(name)
  const limit = limits.get(name)
  if (!request) return `${text}.  No request is specified`
  if (compareQuantities(request, bound) < 0) return `${text}, but request is ${printQuantity(request)}`
  if (limit && compareQuantities(limit, bound) < 0) return `${text}, but limit is ${printQuantity(limit)}`
  return undefined
}

function atMost(item: LimitRangeItem, name: string, bound: Quantity, { requests, limits }: Asked): string | undefined {
  const request = requests.get(name)
  const limit = limits.get(name)
  if (!limit) return `${maximum(item, name, bound)}.  No limit is specified`
  if (compareQuantities(limit, bound) > 0) return `${maximum(item, name, bound)}, but limit is ${printQuantity(limit)}`
  if (request && compareQuantities(request, bound) > 0) {
    return `${maximum(item, name, bound)}, but request is ${printQuantity(request)}`
  }
  return undefined
}

function inRatio(item: LimitRangeItem, name: string, bound: Quantity, { requests, limits }: Asked): string | undefined {
  const text = `${name} max limit to request ratio per ${item.type} is ${printQuantity(bound)}`
  const request = requests.get(name)
  const limit = limits.get(name)
  if (!request || request.nanos === 0n) return `${text}, but no request is specified or request is 0`
  if (!limit || limit.nanos === 0n) return `${text}, but no limit is specified or limit is 0`
  // Compared exactly, told as upstream does.
  if (limit.nanos * 1_000_000_000n <= bound.nanos * request.nanos) return undefined
  return `${text}, but provided ratio is ${ratioOf(limit, request).toFixed(6)}`
}

/** Small amounts by thousandths, large ones whole. */
function ratioOf(limit: Quantity, request: Quantity): number {
  const small = limit.nanos < 1_000_000_000_000n || request.nanos < 1_000_000_000_000n
  return small ? Number(limit.nanos) / Number(request.nanos) : Number(wholeValue(limit)) / Number(wholeValue(request))
}
