/** Ingresses. @see ValidateIngress in pkg/apis/networking/validation of Kubernetes 1.36 */

import { isIP } from 'node:net'
import { isStrictIp } from '../../../kube/ip-address.ts'
import { isDns1123Label, isDns1123Subdomain, isPathSegment } from '../../../kube/names.ts'
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { isWildcardSubdomain } from '../addresses.ts'
import { ageColumn, ageOf, column, nameColumn, nameOf } from '../cell-text.ts'
import { listAt, textAt } from '../field-access.ts'
import { type BuiltInKind, validateWith } from '../kind.ts'
import { findPart, isPortName, type Part, partIn, partsIn, type Report, textIn, textsIn } from '../report.ts'

const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix']
const pathParts = ['//', '/./', '/../', '%2f', '%2F']
const pathEnds = ['/..', '/.']

const classAnnotation = 'kubernetes.io/ingress.class'

function checkIngress(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const spec = partIn(next, 'spec')
  const rules = partsIn(spec, 'rules')
  const backend = findPart(spec, 'defaultBackend')
  if (rules.length === 0 && !backend) {
    report.invalid('spec', spec.rules ?? null, 'either `defaultBackend` or `rules` must be specified')
  }
  if (backend) checkBackend(report, 'spec.defaultBackend', backend)
  rules.forEach((rule, i) => {
    const at = `spec.rules[${i}]`
    const host = textIn(rule, 'host')
    if (host !== '') checkHost(report, `${at}.host`, host)
    const http = findPart(rule, 'http')
    if (!http) return
    const paths = partsIn(http, 'paths')
    if (paths.length === 0) report.required(`${at}.http.paths`)
    paths.forEach((p, j) => checkPath(report, `${at}.http.paths[${j}]`, p))
  })
  partsIn(spec, 'tls').forEach((tls, i) => {
    textsIn(tls, 'hosts').forEach((host, j) => {
      const complaints = host.includes('*') ? isWildcardSubdomain(host) : isDns1123Subdomain(host)
      report.each(`spec.tls[${i}].hosts[${j}]`, host, complaints)
    })
    const secret = textIn(tls, 'secretName')
    if (secret !== '') report.subdomain(`spec.tls[${i}].secretName`, secret)
  })
  const className = spec.ingressClassName
  if (typeof className !== 'string') return
  report.subdomain('spec.ingressClassName', className)
  const annotated = next.metadata.annotations?.[classAnnotation]
  if (!old && annotated !== undefined && annotated !== className) {
    const why = 'must match `ingressClassName` when both are specified'
    report.invalid(`annotations.${classAnnotation}`, annotated, why)
  }
}

function checkIngressStatus(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const pointsOf = (o: KubeObject | undefined): readonly Part[] =>
    partsIn(partIn(partIn(o, 'status'), 'loadBalancer'), 'ingress')
  const stored = pointsOf(old).map((p) => textIn(p, 'ip'))
  pointsOf(next).forEach((point, i) => {
    const at = `status.loadBalancer.ingress[${i}]`
    const ip = textIn(point, 'ip')
    const hostname = textIn(point, 'hostname')
    if (ip !== '' && !stored.includes(ip)) report.each(`${at}.ip`, ip, isStrictIp(ip))
    if (hostname === '') return
    report.subdomain(`${at}.hostname`, hostname)
    if (isIP(hostname) !== 0) report.invalid(`${at}.hostname`, hostname, 'must be a DNS name, not an IP address')
  })
}

function checkHost(report: Report, field: string, host: string): void {
  if (isIP(host) !== 0) report.invalid(field, host, 'must be a DNS name, not an IP address')
  report.each(field, host, host.includes('*') ? isWildcardSubdomain(host) : isDns1123Subdomain(host))
}

function checkPath(report: Report, at: string, path: Part): void {
  const type = path.pathType
  const text = textIn(path, 'path')
  if (typeof type !== 'string') return report.required(`${at}.pathType`, 'pathType must be specified')
  if (type === 'Exact' || type === 'Prefix') {
    if (!text.startsWith('/')) report.invalid(`${at}.path`, text, 'must be an absolute path')
    if (text !== '') {
      for (const part of pathParts)
        if (text.includes(part)) report.invalid(`${at}.path`, text, `must not contain '${part}'`)
      for (const end of pathEnds) if (text.endsWith(end)) report.invalid(`${at}.path`, text, `cannot end with '${end}'`)
    }
  } else if (type === 'ImplementationSpecific') {
    if (text !== '' && !text.startsWith('/')) report.invalid(`${at}.path`, text, 'must be an absolute path')
  } else report.notSupported(`${at}.pathType`, type, pathTypes)
  checkBackend(report, `${at}.backend`, partIn(path, 'backend'))
}

function checkBackend(report: Report, at: string, backend: Part): void {
  const service = findPart(backend, 'service')
  const resource = findPart(backend, 'resource')
  if (service && resource) return report.invalid(at, '', 'cannot set both resource and service backends')
  if (resource) return checkLocalReference(report, `${at}.resource`, resource)
  if (!service) return report.invalid(at, '', 'resource or service backend is required')
  const name = textIn(service, 'name')
  if (name === '') report.required(`${at}.service.name`)
  else report.each(`${at}.service.name`, name, isDns1123Label(name))
  const port = partIn(service, 'port')
  const portName = textIn(port, 'name')
  const number = typeof port.number === 'number' ? port.number : 0
  if (portName !== '' && number !== 0) report.invalid(at, '', 'cannot set both port name & port number')
  else if (portName !== '') report.each(`${at}.service.port.name`, portName, isPortName(portName))
  else if (number !== 0) report.port(`${at}.service.port.number`, number)
  else report.required(at, 'port name or number is required')
}

export function checkLocalReference(report: Report, at: string, reference: Part): void {
  if (typeof reference.apiGroup === 'string') report.subdomain(`${at}.apiGroup`, reference.apiGroup)
  for (const field of ['kind', 'name']) {
    const value = textIn(reference, field)
    if (value === '') report.required(`${at}.${field}`)
    else report.each(`${at}.${field}`, value, isPathSegment(value))
  }
}

/** Addresses or host names of a load balancer, sorted, each once. */
export function loadBalancerAddresses(object: KubeObject): string[] {
  const addresses = listAt(object, 'status', 'loadBalancer', 'ingress').map(
    (i) => textAt(i, 'ip') || textAt(i, 'hostname'),
  )
  return [...new Set(addresses.filter((a) => a !== ''))].sort()
}

function ingressHosts(ingress: KubeObject): string {
  const rules = listAt(ingress, 'spec', 'rules')
  const hosts: string[] = []
  let more = false
  for (const rule of rules) {
    if (hosts.length === 3) more = true
    const host = textAt(rule, 'host')
    if (!more && host) hosts.push(host)
  }
  if (hosts.length === 0) return '*'
  // Upstream counts rules here, not hosts.
  return more ? `${hosts.join(',')} + ${rules.length - 3} more...` : hosts.join(',')
}

const columns: TableColumns = {
  definitions: [
    nameColumn,
    column('Class', 'string', 'The class of controller it is for.'),
    column('Hosts', 'string', 'The hosts its rules are for.'),
    column('Address', 'string', 'Where its load balancer is reached.'),
    column('Ports', 'string', 'The ports it opens.'),
    ageColumn,
  ],
  cells: (o, now) => [
    nameOf(o),
    textAt(o, 'spec', 'ingressClassName') || '<none>',
    ingressHosts(o),
    loadBalancerAddresses(o).join(','),
    listAt(o, 'spec', 'tls').length > 0 ? '80, 443' : '80',
    ageOf(o, now),
  ],
}

export const ingress: BuiltInKind = {
  shortNames: ['ing'],
  strategy: {
    validate: validateWith((report, next, old, subresource) =>
      (subresource === 'status' ? checkIngressStatus : checkIngress)(report, next, old),
    ),
    tracksGeneration: true,
  },
  columns,
}
