/**
 * How a pod finds others by name, and the names it has itself.
 * @see validatePodDNSConfig, ValidateHostAliases, validatePodHostName in pkg/apis/core/validation/validation.go of
 *   Kubernetes 1.36
 */
import { checkIp } from '../addresses.ts'
import { findPart, type Part, partsIn, type Report, textIn, textsIn } from '../report.ts'

const maxServers = 3
const maxSearches = 32
const maxSearchBytes = 2048
const maxNameLength = 64
const maxDomainLength = 253
const labelForm = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?'
const domain = new RegExp(`^${labelForm}(\\.${labelForm})*$`)
const domainComplaint =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must " +
  'start ' +
  "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
  `'${labelForm}(\\.${labelForm})*')`

export function checkDns(report: Report, at: string, spec: Part): void {
  const config = findPart(spec, 'dnsConfig')
  const servers = textsIn(config, 'nameservers')
  if (spec.dnsPolicy === 'None') {
    if (!config) return report.required(at, 'must provide `dnsConfig` when `dnsPolicy` is None')
    if (servers.length === 0) {
      return report.required(`${at}.nameservers`, 'must provide at least one DNS nameserver when `dnsPolicy` is None')
    }
  }
  if (!config) return
  if (servers.length > maxServers) {
    report.invalid(`${at}.nameservers`, servers, `must not have more than ${maxServers} nameservers`)
  }
  servers.forEach((server, i) => checkIp(report, `${at}.nameservers[${i}]`, server))
  const searches = textsIn(config, 'searches')
  if (searches.length > maxSearches) {
    report.invalid(`${at}.searches`, searches, `must not have more than ${maxSearches} search paths`)
  }
  if (Buffer.byteLength(searches.join(' ')) > maxSearchBytes) {
    const why = `must not have more than ${maxSearchBytes} characters (including spaces) in the search list`
    report.invalid(`${at}.searches`, searches, why)
  }
  searches.forEach((search, i) => {
    if (search !== '.') checkDomain(report, `${at}.searches[${i}]`, search.replace(/\.$/, ''))
  })
  partsIn(config, 'options').forEach((option, i) => {
    if (textIn(option, 'name') === '') report.required(`${at}.options[${i}]`, 'must not be empty')
  })
}

function checkDomain(report: Report, field: string, name: string): void {
  if (Buffer.byteLength(name) > maxDomainLength) {
    report.invalid(field, name, `must be no more than ${maxDomainLength} characters`)
  }
  if (!domain.test(name)) report.invalid(field, name, domainComplaint)
}

export function checkHostNames(report: Report, at: string, spec: Part): void {
  partsIn(spec, 'hostAliases').forEach((alias, i) => {
    const here = `${at}.hostAliases[${i}]`
    checkIp(report, `${here}.ip`, textIn(alias, 'ip'))
    textsIn(alias, 'hostnames').forEach((name, j) => report.subdomain(`${here}.hostnames[${j}]`, name))
  })
  const name = spec.hostnameOverride
  if (typeof name !== 'string') return
  const field = `${at}.hostnameOverride`
  if (spec.setHostnameAsFQDN === true) {
    report.forbidden(field, 'may not be specified when setHostnameAsFQDN is true')
  }
  if (spec.hostNetwork === true) report.forbidden(field, 'may not be specified when hostNetwork is true')
  if (Buffer.byteLength(name) > maxNameLength) report.tooLong(field, maxNameLength)
  report.subdomain(field, name)
}
