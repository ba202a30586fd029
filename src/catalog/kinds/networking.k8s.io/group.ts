/** Ingresses, network policies, service addresses. */
import type { BuiltInKinds } from '../kind.ts'
import { ingress } from './ingress.ts'
import { ingressClass } from './ingress-class.ts'
import { ipAddress } from './ip-address.ts'
import { networkPolicy } from './network-policy.ts'
import { serviceCidr } from './service-cidr.ts'

export const networkingKinds: BuiltInKinds = {
  'ingressclasses.networking.k8s.io': ingressClass,
  'ingresses.networking.k8s.io': ingress,
  'ipaddresses.networking.k8s.io': ipAddress,
  'networkpolicies.networking.k8s.io': networkPolicy,
  'servicecidrs.networking.k8s.io': serviceCidr,
}
