/**
 * `service-claim-controller`: gives a Service the claims of what it has, if it was stored by a build that kept none.
 * What it is given while there are claims is claimed in its own transaction, so after the start this has nothing to do.
 * @see pkg/registry/core/service/{ipallocator,portallocator}/controller of Kubernetes 1.36 (the events)
 */
import type { Client } from '../../client/client.ts'
import { type Reconciler, Terminal } from '../../controller/controller.ts'
import { isConflict, isInvalid, isNotFound } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { EventRecord, EventRecorder } from '../events/recorder.ts'
import { holdingsOf, isClaimOf, portClaim } from './claims.ts'
import { type Service, serviceResource } from './types.ts'

export const serviceClaimControllerName = 'service-claim-controller'

/** The claim of an address by its canonical form, or of a node port, as the cache shows it. */
export interface ServiceClaims {
  address(name: string): KubeObject | undefined
  port(claim: string): KubeObject | undefined
}

export interface ClaimFault {
  /** missing: unclaimed. contested: another Service has claimed it. */
  readonly kind: 'missing' | 'contested'
  readonly reason: string
  readonly message: string
}

/** What a Service has and has not claimed. */
export function claimFaults({ metadata, spec }: Service, claims: ServiceClaims): ClaimFault[] {
  const { namespace = '', name = '' } = metadata
  const { addresses, ports } = holdingsOf(spec ?? {})
  const faults: ClaimFault[] = []
  for (const [ip, { family }] of addresses) {
    const claim = claims.address(ip)
    if (claim === undefined) {
      const message = `Cluster IP [${family}]: ${ip} is not allocated; repairing`
      faults.push({ kind: 'missing', reason: 'ClusterIPNotAllocated', message })
    } else if (!isClaimOf(claim, { namespace, name })) {
      const message = `Cluster IP [${family}]:${ip} was assigned to multiple services; please recreate service`
      faults.push({ kind: 'contested', reason: 'ClusterIPAlreadyAllocated', message })
    }
  }
  for (const port of ports) {
    const claim = claims.port(portClaim(port))
    if (claim === undefined) {
      const message = `Port ${port} is not allocated; repairing`
      faults.push({ kind: 'missing', reason: 'PortNotAllocated', message })
    } else if (!isClaimOf(claim, { namespace, name })) {
      const message = `Port ${port} was assigned to multiple services; please recreate service`
      faults.push({ kind: 'contested', reason: 'PortAlreadyAllocated', message })
    }
  }
  return faults
}

export function serviceClaimReconciler(client: Client, events: EventRecorder, claims: ServiceClaims): Reconciler {
  return {
    async reconcile(key, signal) {
      try {
        const service = (await client.get(serviceResource, key, { signal })) as Service
        const faults = claimFaults(service, claims)
        // It changes nothing of the Service: what is missing is claimed along with it.
        if (faults.some(({ kind }) => kind === 'missing')) await client.update(serviceResource, service, { signal })
        for (const { reason, message } of faults) {
          const record: EventRecord = {
            object: { apiVersion: 'v1', kind: 'Service', metadata: service.metadata },
            namespace: key.namespace,
            type: 'Warning',
            reason,
            message,
          }
          await events.record(record)
        }
      } catch (error) {
        // As it stands it can't be stored: nothing changes that but a change of it, which brings the key back.
        if (isInvalid(error)) throw new Terminal('the claims of a service can not be made', { cause: error })
        // The change that came between brings the key back.
        if (!isNotFound(error) && !isConflict(error)) throw error
      }
      return undefined
    },
  }
}
