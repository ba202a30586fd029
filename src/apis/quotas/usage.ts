/**
 * What one object uses of what a quota can limit. Pure; the only place that knows how pods, services and claims are
 * measured. Everything else is counted.
 * @see k8s.io/kubernetes/pkg/quota/v1/evaluator/core, k8s.io/apiserver/pkg/quota/v1/generic of 1.36
 */
import type { GroupResource } from '../../kube/gvk.ts'
import { type ExactNumber, isExactNumber } from '../../kube/json-value.ts'
import { type Quantity, wholeQuantity, wholeValue } from '../../kube/quantity.ts'
import type { KubeObject } from '../../kube/types.ts'
import {
  type Amounts,
  amounts,
  amountsOf,
  containersOf,
  initContainersOf,
  podRequirements,
  podTotals,
} from '../pods/resources.ts'
import { hasEnded, type Pod } from '../pods/types.ts'

/** Never counted: told and forgotten by the system itself. */
export const isIgnored = (type: GroupResource): boolean =>
  type.resource === 'events' && (type.group === '' || type.group === 'events.k8s.io')

/** Their usage depends on what they say; that of all others is that they are there. */
export const isMeasured = (type: GroupResource): boolean =>
  isDeviceClaims(type) ||
  (type.group === '' && (type.resource === 'pods' || type.resource === 'services' || isClaims(type)))

export const isClaims = (type: GroupResource): boolean =>
  type.group === '' && type.resource === 'persistentvolumeclaims'
const isDeviceClaims = (type: GroupResource): boolean =>
  type.group === 'resource.k8s.io' && type.resource === 'resourceclaims'
export const isPods = (type: GroupResource): boolean => type.group === '' && type.resource === 'pods'

/** Core resources that have a name in quotas besides `count/<resource>`. */
const aliased = new Set(['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets', 'services'])

const one = wholeQuantity(1)

/** `count/deployments.apps`, and the short name of some. */
export function countNames(type: GroupResource): readonly string[] {
  const name = type.group === '' ? `count/${type.resource}` : `count/${type.resource}.${type.group}`
  return type.group === '' && aliased.has(type.resource) ? [name, type.resource] : [name]
}

export function usageOf(type: GroupResource, object: KubeObject): Amounts {
  if (isPods(type)) return podUsage(object)
  const usage: Amounts = new Map(countNames(type).map((name) => [name, one]))
  if (isDeviceClaims(type)) addDevices(usage, object)
  if (type.group !== '') return usage
  if (type.resource === 'services') addService(usage, object)
  else if (isClaims(type)) addClaim(usage, object)
  return usage
}

function podUsage(pod: Pod): Amounts {
  const usage: Amounts = new Map([['count/pods', one]])
  if (hasEnded(pod)) return usage
  usage.set('pods', one)
  addCompute(usage, podTotals(pod, 'requests'), podTotals(pod, 'limits'))
  return usage
}

const compute = ['cpu', 'memory', 'ephemeral-storage']

function addCompute(usage: Amounts, requests: Amounts, limits: Amounts): void {
  for (const [name, q] of requests) {
    if (compute.includes(name) || name.startsWith('hugepages-')) {
      usage.set(name, q)
      usage.set(`requests.${name}`, q)
    } else if (isExtended(name)) usage.set(`requests.${name}`, q)
  }
  for (const [name, q] of limits) if (compute.includes(name)) usage.set(`limits.${name}`, q)
}

/** Of a device plugin, say. */
const isExtended = (name: string): boolean =>
  name.includes('/') && !name.split('/', 1)[0]?.endsWith('kubernetes.io') && !name.startsWith('requests.')

function addService(usage: Amounts, object: KubeObject): void {
  const spec = (object['spec'] ?? {}) as {
    type?: string
    ports?: { nodePort?: number }[]
    allocateLoadBalancerNodePorts?: boolean
  }
  const ports = spec.ports ?? []
  if (spec.type === 'NodePort') usage.set('services.nodeports', wholeQuantity(ports.length))
  if (spec.type !== 'LoadBalancer') return
  const taken = spec.allocateLoadBalancerNodePorts === false ? ports.filter((p) => p.nodePort) : ports
  usage.set('services.nodeports', wholeQuantity(taken.length))
  usage.set('services.loadbalancers', one)
}

const classAnnotation = 'volume.beta.kubernetes.io/storage-class'

function addClaim(usage: Amounts, object: KubeObject): void {
  const spec = (object['spec'] ?? {}) as {
    storageClassName?: string
    resources?: { requests?: Record<string, string> }
  }
  const status = (object['status'] ?? {}) as { allocatedResources?: Record<string, string> }
  const storageClass = object.metadata.annotations?.[classAnnotation] ?? spec.storageClassName ?? ''
  const set = (name: string, q: Quantity): void => {
    usage.set(name, q)
    if (storageClass !== '') usage.set(`${storageClass}.storageclass.storage.k8s.io/${name}`, q)
  }
  set('persistentvolumeclaims', one)
  const requested = amounts(spec.resources?.requests).get('storage')
  const allocated = amounts(status.allocatedResources).get('storage')
  const storage = requested && allocated && allocated.nanos > requested.nanos ? allocated : requested
  // A part of a byte takes the byte.
  if (storage) set('requests.storage', wholeQuantity(wholeValue(storage), storage.format))
}

interface DeviceRequest {
  deviceClassName?: string
  allocationMode?: string
  /** int64 */
  count?: number | ExactNumber
}

/** As many as one claim can be allocated: what `All` may come to. */
const maxDevices = 32n

/** Of each class of devices, what may be allocated at worst. */
function addDevices(usage: Amounts, object: KubeObject): void {
  const { devices } = (object['spec'] ?? {}) as {
    devices?: { requests?: { exactly?: DeviceRequest; firstAvailable?: DeviceRequest[] }[] }
  }
  const totals = new Map<string, bigint>()
  for (const { exactly, firstAvailable = [] } of devices?.requests ?? []) {
    const worst = new Map<string, bigint>()
    for (const request of exactly ? [exactly] : firstAvailable) {
      const name = request.deviceClassName ?? ''
      const [known = 0n, count] = [worst.get(name), devicesIn(request)]
      worst.set(name, count > known ? count : known)
    }
    for (const [name, count] of worst) totals.set(name, (totals.get(name) ?? 0n) + count)
  }
  for (const [name, count] of totals) usage.set(`${name}.deviceclass.resource.k8s.io/devices`, wholeQuantity(count))
}

function devicesIn({ allocationMode = 'ExactCount', count = 1 }: DeviceRequest): bigint {
  if (allocationMode === 'All') return maxDevices
  // A mode from a newer version that was here before counts nothing, as upstream.
  if (allocationMode !== 'ExactCount') return 0n
  return BigInt(isExactNumber(count) ? count.rawJSON : count)
}

/** What each container must say if a quota limits it, or the sum would mean nothing. */
const mustBeSaid = ['cpu', 'limits.cpu', 'limits.memory', 'memory', 'requests.cpu', 'requests.memory']

/** `limits.memory for: a; requests.cpu for: a,b`; '' if nothing is missing. */
export function unsaid(pod: Pod, limited: (name: string) => boolean): string {
  const whole = podRequirements(pod)
  return mustBeSaid
    .filter(limited)
    .flatMap((name) => {
      const side = name.startsWith('limits.') ? 'limits' : 'requests'
      const resource = name.replace(/^(requests|limits)\./, '')
      if (amounts(whole[side]).has(resource)) return []
      const silent = [...containersOf(pod), ...initContainersOf(pod)].filter((c) => !amountsOf(c, side).has(resource))
      if (silent.length === 0) return []
      return `${name} for: ${[...new Set(silent.map((c) => c.name ?? ''))].sort().join(',')}`
    })
    .join('; ')
}
