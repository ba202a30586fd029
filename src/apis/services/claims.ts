/**
 * What a Service holds, and the claims that say so: of an address the IPAddress object that Kubernetes keeps of it, of
 * a node port the key `/registry/borough/nodeport-<number>`, which Kubernetes shows nothing of.
 */
import { type Address, formatAddress, parseAddress } from '../../kube/ip-address.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import type { KubeObject } from '../../kube/types.ts'
import {
  type IpAddress,
  isExternalName,
  isHeadless,
  needsHealthCheckPort,
  type ServiceSpec,
  serviceResource,
  takesNodePorts,
} from './types.ts'

const portPrefix = 'nodeport-'

/** The name of a node port's claim. */
export const portClaim = (port: number): string => `${portPrefix}${port}`

/** Undefined for the name of something else. */
export const claimedPort = (name: string): number | undefined =>
  name.startsWith(portPrefix) ? Number(name.slice(portPrefix.length)) : undefined

/** Claims of node ports, as if they were objects of a kind. */
export const portClaims = (like: ResourceType): ResourceType => ({ ...like, storageName: 'borough' })

export interface ClaimedNumbers {
  /** By their canonical form. */
  readonly addresses: ReadonlyMap<string, Address>
  readonly ports: ReadonlySet<number>
}

export function holdingsOf(spec: ServiceSpec): ClaimedNumbers {
  const addresses = new Map<string, Address>()
  const ports = new Set<number>()
  if (!isExternalName(spec) && !isHeadless(spec)) {
    for (const ip of spec.clusterIPs ?? []) {
      const address = parseAddress(ip)
      if (address) addresses.set(formatAddress(address), address)
    }
  }
  if (takesNodePorts(spec)) for (const { nodePort } of spec.ports ?? []) if (nodePort) ports.add(nodePort)
  if (needsHealthCheckPort(spec) && spec.healthCheckNodePort) ports.add(spec.healthCheckNodePort)
  return { addresses, ports }
}

export function isClaimOf(
  claim: KubeObject | undefined,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): boolean {
  const parent = (claim as IpAddress | undefined)?.spec?.parentRef
  return parent?.resource === serviceResource.resource && parent.namespace === namespace && parent.name === name
}
