/** IP addresses and blocks. @see k8s.io/apimachinery/pkg/util/validation/ip.go v0.36 */

import { BlockList, isIP } from 'node:net'
import { isStrictCidr, isStrictIp } from '../../kube/ip-address.ts'
import type { Report } from './report.ts'

const nothing: ReadonlySet<string> = new Set()

/** @param known what the object had before, right or not */
export function checkIp(report: Report, field: string, value: string, known: ReadonlySet<string> = nothing): void {
  if (!known.has(value)) report.each(field, value, isStrictIp(value))
}

type Family = 'ipv4' | 'ipv6'
type Contains = (address: string, family: Family) => boolean

/** The list is made when it is first asked: a start asks none. */
function blocks(...subnets: readonly (readonly [address: string, bits: number, family: Family])[]): Contains {
  let list: BlockList | undefined
  return (address, family) => {
    if (list === undefined) {
      list = new BlockList()
      for (const subnet of subnets) list.addSubnet(...subnet)
    }
    return list.check(address, family)
  }
}

/** Addresses of no host, or of a different one for each client. */
const notForEndpoints: readonly (readonly [isIn: Contains, why: string])[] = [
  [blocks(['127.0.0.0', 8, 'ipv4'], ['::1', 128, 'ipv6']), 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  [
    blocks(['169.254.0.0', 16, 'ipv4'], ['fe80::', 10, 'ipv6']),
    'may not be in the link-local range (169.254.0.0/16, fe80::/10)',
  ],
  [
    blocks(['224.0.0.0', 24, 'ipv4'], ['ff02::', 16, 'ipv6']),
    'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)',
  ],
]
const isUnspecified = blocks(['0.0.0.0', 32, 'ipv4'], ['::', 128, 'ipv6'])

/** An address where something answers. @see ValidateEndpointIP in pkg/apis/core/validation of Kubernetes 1.36 */
export function checkEndpointIp(
  report: Report,
  field: string,
  value: string,
  known: ReadonlySet<string> = nothing,
): void {
  checkIp(report, field, value, known)
  const version = isIP(value)
  if (version === 0) return
  const family = version === 4 ? 'ipv4' : 'ipv6'
  if (isUnspecified(value, family)) report.invalid(field, value, `may not be unspecified (${value})`)
  for (const [isIn, why] of notForEndpoints) if (isIn(value, family)) report.invalid(field, value, why)
}

/** @param known what the object had before, right or not */
export function checkCidr(report: Report, field: string, value: string, known: ReadonlySet<string> = nothing): void {
  if (!known.has(value)) report.each(field, value, isStrictCidr(value))
}

/** A host name of an Ingress rule or a TLS entry: a subdomain, perhaps with a wildcard in front. */
export function isWildcardSubdomain(value: string): readonly string[] {
  const shape = /^\*\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
  const errors = value.length > 253 ? ['must be no more than 253 characters'] : []
  if (shape.test(value)) return errors
  return [
    ...errors,
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must " +
      "consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. " +
      "'*.example.com', regex used for validation is " +
      "'\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
  ]
}
