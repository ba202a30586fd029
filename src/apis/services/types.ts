/** Services, and what they are given: addresses, which are objects of their own, and ports on every node. */

import type { IpFamily } from '../../kube/ip-address.ts'
import type { Resource } from '../../kube/resource.ts'
import type { KubeObject, MaybeAbsent } from '../../kube/types.ts'

export type Family = IpFamily

export interface ServicePort {
  readonly name?: string
  readonly protocol?: string
  readonly port?: number
  readonly nodePort?: number
  readonly targetPort?: number | string
}

export interface ServiceSpec {
  readonly type?: string
  readonly selector?: Readonly<Record<string, string>>
  readonly ports?: readonly ServicePort[]
  readonly clusterIP?: string
  readonly clusterIPs?: readonly string[]
  readonly ipFamilies?: readonly string[]
  readonly ipFamilyPolicy?: string
  readonly externalTrafficPolicy?: string
  readonly healthCheckNodePort?: number
  readonly allocateLoadBalancerNodePorts?: boolean
}

export interface Service extends KubeObject {
  readonly spec?: ServiceSpec
}

export const serviceResource: Resource<Service> = { group: '', version: 'v1', resource: 'services' }
export const endpointsResource = { group: '', version: 'v1', resource: 'endpoints' } as const
export const endpointSliceResource = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' } as const
export const ipAddressResource: Resource<IpAddress> = {
  group: 'networking.k8s.io',
  version: 'v1',
  resource: 'ipaddresses',
}
export const serviceCidrResource: Resource<ServiceCidr> = {
  group: 'networking.k8s.io',
  version: 'v1',
  resource: 'servicecidrs',
}

/** The ServiceCIDR that the server makes of its own ranges. */
export const defaultServiceCidr = 'kubernetes'

export interface IpAddress extends KubeObject {
  readonly spec?: {
    readonly parentRef?: {
      readonly group?: string
      readonly resource?: string
      readonly namespace?: string
      readonly name?: string
    }
  }
}

export interface ServiceCidr extends KubeObject {
  readonly spec?: { readonly cidrs?: readonly string[] }
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

const noIp = 'None'

type GivenSpec = NonNullable<MaybeAbsent<ServiceSpec>>

export const isHeadless = (spec: GivenSpec): boolean => spec.clusterIP === noIp || spec.clusterIPs?.[0] === noIp

export const isExternalName = (spec: GivenSpec): boolean => spec.type === 'ExternalName'

/** Those that a proxy on each node listens for. */
export const takesNodePorts = (spec: ServiceSpec): boolean => spec.type === 'NodePort' || spec.type === 'LoadBalancer'

/** A balancer that sends traffic only to nodes with pods must be able to ask them. */
export const needsHealthCheckPort = (spec: ServiceSpec): boolean =>
  spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local'
