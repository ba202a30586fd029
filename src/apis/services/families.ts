/**
 * Which IP families a Service has: what it says, completed from its addresses, from what it had, and from what the
 * cluster has. Pure; decided before validation, so that what is stored always says it.
 * @see initIPFamilyFields in pkg/registry/core/service/storage/alloc.go of Kubernetes 1.36
 */
import { append } from '../../base/append.ts'
import { type FieldError, fieldInvalid } from '../../kube/field-error.ts'
import { parseAddress } from '../../kube/ip-address.ts'
import { jsonEqual } from '../../kube/json-value.ts'
import type { MaybeAbsent } from '../../kube/types.ts'
import { type Family, isExternalName, isHeadless, type ServiceSpec } from './types.ts'

type GivenSpec = NonNullable<MaybeAbsent<ServiceSpec>>

export interface Families {
  readonly spec: GivenSpec
  readonly errors: readonly FieldError[]
}

const policyField = 'spec.ipFamilyPolicy'

/**
 * @param before what the Service was; undefined = it is new
 * @param configured the families of the cluster, the preferred one first
 */
export function withFamilies(
  given: GivenSpec,
  before: ServiceSpec | undefined,
  configured: readonly Family[],
): Families {
  if (isExternalName(given) || staysPreferred(given, before) || contradicts(given)) return { spec: given, errors: [] }
  const selectsNothing = isHeadless(given) && Object.keys(given.selector ?? {}).length === 0
  const policy = given.ipFamilyPolicy ?? before?.ipFamilyPolicy ?? (selectsNothing ? 'RequireDualStack' : 'SingleStack')
  const isSingle = policy === 'SingleStack'
  const errors: FieldError[] = []
  let ips = given.clusterIPs ?? []
  let families = given.ipFamilies ?? []
  if (before && isSingle) {
    // Who leaves them as they were and wants one means to lose the second.
    if (jsonEqual(ips, before.clusterIPs ?? [])) ips = ips.slice(0, 1)
    if (jsonEqual(families, before.ipFamilies ?? [])) families = families.slice(0, 1)
  } else if (before) {
    const fewer = (next: readonly string[], old: readonly string[] | undefined): boolean =>
      next.length > 0 && next.length < (old?.length ?? 0)
    if (fewer(ips, before.clusterIPs)) {
      errors.push(fieldInvalid(policyField, policy, "must be 'SingleStack' to release the secondary cluster IP"))
    }
    if (fewer(families, before.ipFamilies)) {
      errors.push(fieldInvalid(policyField, policy, "must be 'SingleStack' to release the secondary IP family"))
    }
  }
  if (isSingle) {
    const both = (what: string): string =>
      `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`
    if (ips.length === 2) errors.push(fieldInvalid(policyField, policy, both('cluster IPs')))
    if (families.length === 2) errors.push(fieldInvalid(policyField, policy, both('IP families')))
  }
  if (!isHeadless(given)) {
    ips.slice(families.length).forEach((ip) => {
      const family = parseAddress(ip)?.family
      const at = families.length
      if (family === undefined) return
      if (configured.includes(family)) families = [...families, family]
      else {
        errors.push(fieldInvalid(`spec.clusterIPs[${at}]`, ips, `${family} is not configured on this cluster`))
      }
    })
  }
  if (errors.length === 0 && !selectsNothing) append(errors, missing(policy, families, configured))
  if (errors.length > 0) return { spec: given, errors }
  if (families.length === 0) families = configured.slice(0, 1)
  if (!isSingle && families.length === 1 && (selectsNothing || configured.length === 2)) {
    families = [...families, families[0] === 'IPv4' ? 'IPv6' : 'IPv4']
  }
  const shortened = ips.length === (given.clusterIPs ?? []).length ? {} : { clusterIPs: ips }
  return { spec: { ...given, ...shortened, ipFamilies: families, ipFamilyPolicy: policy }, errors }
}

/** What validation refuses is not completed: the refusal would name fields that the client never sent. */
function contradicts({ clusterIPs, ipFamilies }: GivenSpec): boolean {
  const ips = clusterIPs ?? []
  const own = ips.map((ip) => parseAddress(ip)?.family)
  const disagrees = own.some((family, i) => family !== undefined && ipFamilies?.[i] && ipFamilies[i] !== family)
  return disagrees || ips.length > 2 || (ips.length === 2 && (own.includes(undefined) || own[0] === own[1]))
}

/** A change of what the cluster has changes no Service that merely prefers both. */
function staysPreferred(next: GivenSpec, before: ServiceSpec | undefined): boolean {
  if (before === undefined || next.type !== before.type || next.ipFamilyPolicy !== 'PreferDualStack') return false
  return (
    (before.ipFamilyPolicy ?? next.ipFamilyPolicy) === next.ipFamilyPolicy &&
    jsonEqual(next.clusterIPs ?? [], before.clusterIPs ?? []) &&
    jsonEqual(next.ipFamilies ?? [], before.ipFamilies ?? [])
  )
}

function missing(policy: string, families: readonly string[], configured: readonly Family[]): FieldError[] {
  const errors: FieldError[] = []
  if (policy === 'RequireDualStack' && configured.length < 2) {
    errors.push(fieldInvalid(policyField, policy, 'this cluster is not configured for dual-stack services'))
  }
  families.forEach((family, i) => {
    if (family !== 'IPv4' && family !== 'IPv6') return
    if (!configured.includes(family)) {
      errors.push(fieldInvalid(`spec.ipFamilies[${i}]`, family, 'not configured on this cluster'))
    }
  })
  return errors
}
