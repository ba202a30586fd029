/**
 * What a LimitRange has against a pod or a claim, in upstream's words.
 * @see PodValidateLimitFunc, PersistentVolumeClaimValidateLimitFunc in plugin/pkg/admission/limitranger/admission.go of
 *   Kubernetes 1.36
 */
import { append } from '../../base/append.ts'
import { inBatches, type Resumable } from '../../base/resumable.ts'
import { compareQuantities, printQuantity, type Quantity, wholeValue } from '../../kube/quantity.ts'
import type { KubeObject } from '../../kube/types.ts'
import { type Amounts, amounts, amountsOf, containersOf, initContainersOf, saidTotals } from '../pods/resources.ts'
import type { Container, Pod } from '../pods/types.ts'
import type { LimitRange, LimitRangeItem } from './types.ts'

interface Asked {
  readonly requests: Amounts
  readonly limits: Amounts
}

const containersAtOnce = 100

/**
 * With places for a pause: a pod may have ten thousand containers. @param old what is there: amounts that stay as they
 * are are not measured again
 */
export function* podViolations(pod: Pod, old: Pod | undefined, range: LimitRange): Resumable<string[]> {
  const all = [...containersOf(pod), ...initContainersOf(pod)]
  const before = new Map(old && [...containersOf(old), ...initContainersOf(old)].map((c) => [c.name, c]))
  const found: string[] = []
  for (const item of range.spec?.limits ?? []) {
    if (item.type !== 'Pod' && item.type !== 'Container') continue
    const check = checkOf(item)
    if (item.type === 'Pod') append(found, check(askedByPod(pod), askedByPod(old)))
    else {
      yield* inBatches(all, containersAtOnce, (container) => {
        append(found, check(askedBy(container), askedBy(before.get(container.name))))
      })
    }
  }
  return found
}

export function claimViolations(claim: KubeObject, old: KubeObject | undefined, range: LimitRange): string[] {
  const asked = askedByClaim(claim)
  const isNew = changed(asked, old && askedByClaim(old))
  return (range.spec?.limits ?? []).flatMap((item) => {
    if (item.type !== 'PersistentVolumeClaim') return []
    return [
      ...each(readBounds(item.min), isNew, (name, bound) => atLeast(item, name, bound, asked)),
      ...each(readBounds(item.max), isNew, (name, bound) => {
        const request = asked.requests.get(name)
        if (!request) return `${maximum(item, name, bound)}.  No request is specified`
        return compareQuantities(request, bound) > 0
          ? `${maximum(item, name, bound)}, but request is ${printQuantity(request)}`
          : undefined
      }),
    ]
  })
}

function askedBy(container: Container): Asked
function askedBy(container: Container | undefined): Asked | undefined
function askedBy(container: Container | undefined): Asked | undefined {
  return container && { requests: amountsOf(container, 'requests'), limits: amountsOf(container, 'limits') }
}

function askedByPod(pod: Pod): Asked
function askedByPod(pod: Pod | undefined): Asked | undefined
function askedByPod(pod: Pod | undefined): Asked | undefined {
  return pod && { requests: saidTotals(pod, 'requests'), limits: saidTotals(pod, 'limits') }
}

/** Only what a claim requests counts. */
function askedByClaim(claim: KubeObject): Asked {
  const { resources } = (claim['spec'] ?? {}) as { resources?: { requests?: Record<string, string> } }
  return { requests: amounts(resources?.requests), limits: new Map() }
}

/** Tells whether an amount is another than before. */
function changed(asked: Asked, old: Asked | undefined): (name: string) => boolean {
  if (old === undefined) return () => true
  const differs = (a: Quantity | undefined, b: Quantity | undefined): boolean => a?.nanos !== b?.nanos
  return (name) =>
    differs(asked.requests.get(name), old.requests.get(name)) || differs(asked.limits.get(name), old.limits.get(name))
}

/** What an item has against what is asked. Its bounds are read once, and not for each container. */
function checkOf(item: LimitRangeItem): (asked: Asked, old: Asked | undefined) => string[] {
  const [min, max, ratio] = [item.min, item.max, item.maxLimitRequestRatio].map(readBounds) as [Read, Read, Read]
  return (asked, old) => {
    const isNew = changed(asked, old)
    return [
      ...each(min, isNew, (name, bound) => atLeast(item, name, bound, asked)),
      ...each(max, isNew, (name, bound) => atMost(item, name, bound, asked)),
      ...each(ratio, isNew, (name, bound) => inRatio(item, name, bound, asked)),
    ]
  }
}

type Bounds = Record<string, string | number>
type Read = readonly (readonly [string, Quantity])[]

/** By name. */
const readBounds = (bounds: Bounds | undefined): Read => [...amounts(bounds)].sort(([a], [b]) => (a < b ? -1 : 1))

const each = (
  bounds: Read,
  isNew: (name: string) => boolean,
  check: (name: string, bound: Quantity) => string | undefined,
): string[] => bounds.flatMap(([name, bound]) => (isNew(name) ? (check(name, bound) ?? []) : []))

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
