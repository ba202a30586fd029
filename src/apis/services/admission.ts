/**
 * The address of a Service stays while the Service has it: else it could be given to another. Kubernetes lets it go and
 * makes it anew some minutes later.
 */
import type { AdmissionPlugin } from '../../admission/admission.ts'
import { formatAddress, parseAddress } from '../../kube/ip-address.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import { forbidden } from '../../kube/status-error.ts'
import { type IpAddress, ipAddressResource, type Service, serviceResource } from './types.ts'

export function addressProtection(serviceType: ResourceType): AdmissionPlugin {
  return {
    name: 'IpAddressProtection',
    handles: (operation, type) =>
      operation === 'DELETE' && type.resource === ipAddressResource.resource && type.group === ipAddressResource.group,
    decide({ type, name, oldObject }, view) {
      const parent = (oldObject as IpAddress | undefined)?.spec?.parentRef
      if (parent?.resource !== serviceResource.resource || !parent.namespace || !parent.name) return {}
      const { key, object, expect } = view.see(serviceType, parent.namespace, parent.name)
      if (object && hasAddress(object, name)) {
        throw forbidden(type, name, `it is the address of the service ${parent.namespace}/${parent.name}`)
      }
      return { guards: [{ key, expect }] }
    },
  }
}

function hasAddress(service: Service, name: string): boolean {
  return (service.spec?.clusterIPs ?? []).some((ip) => {
    const address = parseAddress(ip)
    return address !== undefined && formatAddress(address) === name
  })
}
