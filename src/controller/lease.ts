/**
 * What a Lease says about who leads, and the next thing to write into it. Pure: no clock, no client.
 * @see k8s.io/client-go/tools/leaderelection/leaderelection.go, resourcelock/leaselock.go v0.36
 */
import type { GroupVersionResource } from '../kube/gvk.ts'
import { formatMicroTime } from '../kube/time.ts'
import type { KubeObject } from '../kube/types.ts'

/** Held by the process that runs the controllers. */
export const controllersLease = { namespace: 'kube-system', name: 'borough-controllers' } as const

export const leases: GroupVersionResource = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' }

export interface LeaseSpec {
  /** Absent when it has no holder. */
  readonly holderIdentity?: string
  readonly leaseDurationSeconds?: number
  readonly acquireTime?: string
  readonly renewTime?: string
  readonly leaseTransitions?: number
}

/** Undefined where there is no lease, or an empty one. */
export function specOf(lease: KubeObject | undefined): LeaseSpec | undefined {
  const spec = lease?.['spec']
  return typeof spec === 'object' && spec !== null ? spec : undefined
}

/** '' when the lease has no holder. */
export function holderOf(lease: KubeObject | undefined): string {
  return specOf(lease)?.holderIdentity ?? ''
}

/** The lease with `identity` as its holder, renewed at `nowMs`; a change of holder counts as a transition. */
export function claim(
  lease: KubeObject,
  { identity, leaseDurationMs, nowMs }: { identity: string; leaseDurationMs: number; nowMs: number },
): KubeObject {
  const before = specOf(lease)
  const time = formatMicroTime(nowMs)
  const kept = before?.holderIdentity === identity
  const transitions = before?.leaseTransitions ?? 0
  const spec: LeaseSpec = {
    ...before,
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(leaseDurationMs / 1000),
    acquireTime: kept ? (before.acquireTime ?? time) : time,
    renewTime: time,
    leaseTransitions: kept || before === undefined ? transitions : transitions + 1,
  }
  return { ...lease, spec }
}

/** The lease without a holder: candidates need not wait until it lapses. */
export function release(lease: KubeObject, nowMs: number): KubeObject {
  const { holderIdentity: _, ...rest } = specOf(lease) ?? {}
  const time = formatMicroTime(nowMs)
  return { ...lease, spec: { ...rest, leaseDurationSeconds: 1, acquireTime: time, renewTime: time } }
}
