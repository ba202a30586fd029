/** Services: addresses and node ports, claimed in the commit. */

import { changesOf, sweep } from '../../controller/source.ts'
import type { Feature, FeatureContext } from '../../feature/feature.ts'
import { newObjectWriter } from '../../feature/new-object.ts'
import { laterFeed, versionSteps } from '../../feature/type-feed.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import type { StoredObject } from '../../registry/registry.ts'
import { recorderOf } from '../events/recorder.ts'
import { events, may } from '../rbac/bootstrap-rules.ts'
import type { AddressRange } from './address-range.ts'
import { addressProtection } from './admission.ts'
import type { FollowTaken } from './allocation-bitmap.ts'
import { serviceAllocator } from './allocator.ts'
import { portClaims } from './claims.ts'
import { FreeAddresses } from './free-addresses.ts'
import { FreePorts, type PortRange } from './free-ports.ts'
import { claimFaults, type ServiceClaims, serviceClaimControllerName, serviceClaimReconciler } from './reconcile.ts'
import { ServiceRanges } from './service-ranges.ts'
import { serviceStrategy } from './strategy.ts'
import { ipAddressResource, type Service, serviceCidrResource, serviceResource } from './types.ts'

export interface ServicesOptions {
  /** The preferred family first. */
  readonly ranges: readonly AddressRange[]
  readonly nodePorts: PortRange
}

export const services = (options: ServicesOptions): Feature => ({
  name: 'services',
  controllerRules: {
    // Claims what Services of earlier builds have.
    [serviceClaimControllerName]: [may('get update', '', 'services'), events],
  },
  open(context) {
    const { lister, stored, typeOf } = context
    const serviceType = typeOf(serviceResource)
    const addressType = typeOf(ipAddressResource)
    const portType = portClaims(addressType)
    const taken = (type: ResourceType): FollowTaken => {
      return (changed) => lister.subscribe(type, (next, old) => changed((next ?? old)?.name ?? '', next !== undefined))
    }
    const ranges = serviceRanges(context)
    const freeAddresses = new FreeAddresses(Math.random, taken(addressType))
    const claims: ServiceClaims = {
      address: (name) => lister.find(addressType, '', name)?.object,
      port: (claim) => lister.find(portType, '', claim)?.object,
    }
    const families = options.ranges.map(({ family }) => family)
    const unclaimed = (service: StoredObject<Service>) =>
      claimFaults(service.object, claims).length > 0 ? { namespace: service.namespace, name: service.name } : undefined
    return {
      strategies: { services: serviceStrategy(serviceType, families) },
      admission: [addressProtection(serviceType)],
      accountants: [
        serviceAllocator({
          addressType,
          freePorts: new FreePorts(options.nodePorts, Math.random, taken(portType)),
          ranges: (family) => ranges.of(family),
          freeAddresses: (range) => freeAddresses.of(range),
          newObject: newObjectWriter(context),
        }),
      ],
      controllers: (run) => [
        {
          name: serviceClaimControllerName,
          workers: 2,
          sources: [
            changesOf(laterFeed(lister, serviceType)).map((next) => next && unclaimed(next)),
            sweep(() => versionSteps(stored, serviceType), unclaimed),
          ],
          reconciler: serviceClaimReconciler(
            run.client(serviceClaimControllerName),
            recorderOf(context, run, serviceClaimControllerName),
            claims,
          ),
        },
      ],
    }
  },
})

function serviceRanges({ lister, typeOf }: FeatureContext): ServiceRanges {
  const ranges = new ServiceRanges()
  lister.subscribe(typeOf(serviceCidrResource), (next, old) => {
    const name = next?.name ?? old?.name ?? ''
    ranges.changed(name, next?.object)
  })
  return ranges
}
