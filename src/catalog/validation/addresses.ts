/** IP addresses and blocks. @see k8s.io/apimachinery/pkg/util/validation/ip.go v0.36 */
import { isIP } from 'node:net'
import type { Report } from './report.ts'

export function checkIp(report: Report, field: string, value: string): void {
  if (isIP(value) === 0 || value.includes('%')) {
    report.invalid(field, value, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')
  }
}

export function checkCidr(report: Report, field: string, value: string): void {
  const [address = '', size = '', ...rest] = value.split('/')
  const version = isIP(address)
  const max = version === 4 ? 32 : 128
  if (version === 0 || rest.length > 0 || !/^\d{1,3}$/.test(size) || Number(size) > max) {
    report.invalid(field, value, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')
  }
}

/** A host name of an Ingress rule or a TLS entry: a subdomain, perhaps with a wildcard in front. */
export function isWildcardSubdomain(value: string): readonly string[] {
  const shape = /^\*\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
  const errors = value.length > 253 ? ['must be no more than 253 characters'] : []
  if (shape.test(value)) return errors
  return [
    ...errors,
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
  ]
}
