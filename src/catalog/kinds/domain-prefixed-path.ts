/** Names of controllers: `acme.io/foo`. @see IsDomainPrefixedPath in apimachinery/pkg/util/validation v0.36 */
import { isDns1123Subdomain } from '../../kube/names.ts'
import type { Report } from './report.ts'

const pathText = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+"
const pathPattern = new RegExp(`^${pathText}$`)

export function checkDomainPrefixedPath(report: Report, field: string, value: string): void {
  if (value === '') return report.required(field)
  const [, host = '', path = ''] = /^([^/]+)\/(.+)$/s.exec(value) ?? []
  if (host === '') return report.invalid(field, value, 'must be a domain-prefixed path (such as "acme.io/foo")')
  report.each(field, host, isDns1123Subdomain(host))
  if (!pathPattern.test(path)) {
    report.invalid(field, path, `Invalid path (regex used for validation is '${pathText}')`)
  }
}
