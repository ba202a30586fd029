/**
 * What Services are given: cluster addresses and node ports, each to one Service at a time. Asked at every commit of a
 * Service, it answers what must be claimed and given back in the same transaction. A claim is a key that must be absent
 * at that moment, so two replicas never give the same twice, and nothing is left behind by who fails.
 *
 * What a Service had before and still wants is kept; a claim that is missing (a Service older than this) is made up
 * for, also by an update that changes nothing, which `reconcile.ts` sends.
 * @see pkg/registry/core/service/storage/alloc.go of Kubernetes 1.36 (who is given what, and the errors)
 */
import type { Accountant, ContentChange, DecidedWrite, Decision, DecisionView } from '../../admission/admission.ts'
import { append } from '../../base/append.ts'
import { fieldInvalid } from '../../kube/field-error.ts'
import { type Address, formatAddress, parseAddress } from '../../kube/ip-address.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import { internalError, invalid } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import { type AddressRange, isWithin } from './address-range.ts'
import { type ClaimedNumbers, holdingsOf, isClaimOf, portClaim, portClaims } from './claims.ts'
import type { FreePorts } from './free-ports.ts'
import {
  type Family,
  isExternalName,
  isHeadless,
  needsHealthCheckPort,
  type Service,
  type ServicePort,
  type ServiceSpec,
  serviceResource,
  takesNodePorts,
} from './types.ts'

export interface AllocatorDeps {
  readonly addressType: ResourceType
  readonly freePorts: FreePorts
  ranges(family: Family): readonly AddressRange[]
  /** Those that are probably free, the best first. */
  freeAddresses(range: AddressRange): Iterable<bigint>
  /** The write that stores a new object; uid and time are added. */
  newObject(storageName: string, object: KubeObject): DecidedWrite
}

/** Each is a key of its own, and a transaction holds a hundred: the Service can always be deleted. */
const mostHeld = 90
const mostChanged = 95

export function serviceAllocator(deps: AllocatorDeps): Accountant {
  const portType = portClaims(deps.addressType)
  return {
    handles: ({ group, resource }) => resource === serviceResource.resource && group === serviceResource.group,
    account(change, view): Decision {
      const { before, after } = change
      if (after !== undefined && change.subresource === 'status') return {}
      const claims = new Claims(deps, portType, change, view)
      if (after !== undefined) {
        const spec = (after as Service).spec ?? {}
        const given = claims.withNodePorts(claims.withAddresses(spec))
        const writes = claims.writes(holdingsOf(given))
        return given === spec ? { writes } : { writes, object: { ...after, spec: given } }
      }
      return before === undefined ? {} : { writes: claims.writes(holdingsOf({ type: 'ExternalName' })) }
    },
    /** A Service that was stored before there were claims. */
    owes({ type, after, subresource }, view): boolean {
      if (type.resource !== serviceResource.resource || type.group !== serviceResource.group) return false
      if (after === undefined || subresource === 'status') return false
      const { addresses, ports } = holdingsOf((after as Service).spec ?? {})
      const isMissing = (of: ResourceType, name: string): boolean => view.see(of, '', name).expect === 'absent'
      return (
        [...addresses.keys()].some((name) => isMissing(deps.addressType, name)) ||
        [...ports].some((port) => isMissing(portType, portClaim(port)))
      )
    },
  }
}

/** One decision. */
class Claims {
  readonly #deps: AllocatorDeps
  readonly #portType: ResourceType
  readonly #change: ContentChange
  readonly #view: DecisionView
  readonly #held: ClaimedNumbers
  readonly #taken = new Map<string, DecidedWrite>()

  constructor(deps: AllocatorDeps, portType: ResourceType, change: ContentChange, view: DecisionView) {
    this.#deps = deps
    this.#portType = portType
    this.#change = change
    this.#view = view
    this.#held = holdingsOf(change.before?.spec ?? { type: 'ExternalName' })
  }

  withAddresses(spec: ServiceSpec): ServiceSpec {
    if (isExternalName(spec) || isHeadless(spec)) return spec
    const ips = [...(spec.clusterIPs ?? [])]
    let isNew = false
    ;(spec.ipFamilies ?? []).forEach((family, i) => {
      const asked = ips[i] ?? ''
      if (asked === '') {
        ips[i] = this.#nextAddress(family as Family)
        isNew = true
      } else this.#takeAddress(asked, ips)
    })
    return isNew ? { ...spec, clusterIP: ips[0] ?? '', clusterIPs: ips } : spec
  }

  withNodePorts(spec: ServiceSpec): ServiceSpec {
    let given = spec
    if (takesNodePorts(spec)) {
      const ports = this.#portsOf(spec)
      if (ports !== undefined) given = { ...given, ports }
    }
    if (needsHealthCheckPort(spec)) {
      const port = this.#healthCheckPort(spec.healthCheckNodePort ?? 0)
      if (port !== spec.healthCheckNodePort) given = { ...given, healthCheckNodePort: port }
    }
    return given
  }

  /** Of what was claimed, and of what is held no more. */
  writes(now: ClaimedNumbers): DecidedWrite[] {
    const writes = [...this.#taken.values()]
    const held = now.addresses.size + now.ports.size
    if (held > mostHeld) throw this.#tooMany(held)
    for (const address of this.#held.addresses.keys()) {
      if (!now.addresses.has(address)) append(writes, this.#released(this.#deps.addressType, address))
    }
    for (const port of this.#held.ports) {
      if (!now.ports.has(port)) append(writes, this.#released(this.#portType, portClaim(port)))
    }
    if (writes.length > mostChanged) {
      throw this.#invalid('spec.ports', writes.length, `at most ${mostChanged} node ports can change at a time`)
    }
    return writes
  }

  #takeAddress(text: string, all: readonly string[]): void {
    const address = parseAddress(text)
    if (address === undefined) return
    const name = formatAddress(address)
    if (this.#held.addresses.has(name)) {
      if (this.#isFree(this.#deps.addressType, name)) this.#claimAddress(address)
      return
    }
    const isOurs = this.#deps.ranges(address.family).some((range) => isWithin(range, address))
    const why = !isOurs
      ? 'the provided network does not match the current range'
      : this.#isFree(this.#deps.addressType, name)
        ? undefined
        : 'provided IP is already allocated'
    if (why !== undefined) throw this.#invalid('spec.clusterIPs', all, `failed to allocate IP ${text}: ${why}`)
    this.#claimAddress(address)
  }

  #nextAddress(family: Family): string {
    for (const range of this.#deps.ranges(family)) {
      for (const value of this.#deps.freeAddresses(range)) {
        const name = formatAddress({ family, value })
        if (!this.#isFree(this.#deps.addressType, name)) continue
        this.#claimAddress({ family, value })
        return name
      }
    }
    throw internalError('failed to allocate a serviceIP: range is full')
  }

  /** undefined = they are right as they are. */
  #portsOf(spec: ServiceSpec): readonly ServicePort[] | undefined {
    const ports = spec.ports ?? []
    const allocates = spec.type === 'NodePort' || spec.allocateLoadBalancerNodePorts !== false
    const isNew = this.#change.before === undefined
    let changed = false
    // TCP and UDP of one port of a new Service share a node port, unless the client says otherwise.
    const shared = new Map<number | undefined, number>()
    if (isNew) {
      for (const { port, nodePort } of ports) if (nodePort && !shared.has(port)) shared.set(port, nodePort)
    }
    const given = ports.map((port, i) => {
      if (!port.nodePort) {
        if (!allocates) return port
        changed = true
        const nodePort = shared.get(port.port) ?? this.#nextPort('a nodePort')
        if (isNew) shared.set(port.port, nodePort)
        return { ...port, nodePort }
      }
      const why = this.#takePort(port.nodePort)
      if (why !== undefined) throw this.#invalid(`spec.ports[${i}].nodePort`, port.nodePort, why)
      return port
    })
    return changed ? given : undefined
  }

  #healthCheckPort(asked: number): number {
    if (asked === 0) return this.#nextPort('a HealthCheck NodePort 0')
    const why = this.#takePort(asked)
    if (why !== undefined) throw internalError(`failed to allocate requested HealthCheck NodePort ${asked}: ${why}`)
    return asked
  }

  /** Answers why it can't be had. */
  #takePort(port: number): string | undefined {
    const name = portClaim(port)
    if (this.#held.ports.has(port)) {
      if (this.#isFree(this.#portType, name)) this.#claimPort(port)
      return undefined
    }
    if (this.#taken.has(name)) return undefined
    const { first, last } = this.#deps.freePorts.range
    if (port < first || port > last) {
      return `provided port is not in the valid range. The range of valid ports is ${first}-${last}`
    }
    if (!this.#isFree(this.#portType, name)) return 'provided port is already allocated'
    this.#claimPort(port)
    return undefined
  }

  #nextPort(what: string): number {
    for (const port of this.#deps.freePorts.candidates()) {
      if (!this.#isFree(this.#portType, portClaim(port)) || this.#held.ports.has(port)) continue
      this.#claimPort(port)
      return port
    }
    throw internalError(`failed to allocate ${what}: range is full`)
  }

  /** Nothing that is stored is parsed for it: near the end of a range many are looked at. */
  #isFree(type: ResourceType, name: string): boolean {
    if (this.#taken.has(name)) return false
    const seen = this.#view.see(type, '', name)
    if (seen.expect === 'absent') return true
    return typeof seen.expect !== 'number' && seen.object === undefined
  }

  #claimAddress(address: Address): void {
    const { namespace, name } = this.#change
    this.#claim(this.#deps.addressType, {
      metadata: {
        name: formatAddress(address),
        labels: {
          'ipaddress.kubernetes.io/ip-family': address.family,
          'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
        },
      },
      spec: { parentRef: { resource: serviceResource.resource, namespace, name } },
    })
  }

  #claimPort(port: number): void {
    const { namespace, name } = this.#change
    this.#claim(this.#portType, {
      metadata: { name: portClaim(port) },
      spec: { parentRef: { resource: serviceResource.resource, namespace, name } },
    })
  }

  #claim(type: ResourceType, object: KubeObject): void {
    const name = object.metadata.name ?? ''
    // A body has room for many thousand ports: stop before they are all looked for.
    if (this.#taken.size === mostHeld) throw this.#tooMany(mostHeld + 1)
    const { expect } = this.#view.see(type, '', name)
    this.#taken.set(name, { ...this.#deps.newObject(type.storageName, object), expect })
  }

  /** Nothing, if it is another's. */
  #released(type: ResourceType, name: string): DecidedWrite[] {
    const { key, object, expect } = this.#view.see(type, '', name)
    return isClaimOf(object, this.#change) ? [{ key, value: undefined, expect }] : []
  }

  #tooMany(held: number): Error {
    return this.#invalid('spec.ports', held, `a service has at most ${mostHeld} addresses and node ports`)
  }

  #invalid(field: string, value: unknown, why: string): Error {
    return invalid(this.#change.type, this.#change.name, [fieldInvalid(field, value, why)])
  }
}
