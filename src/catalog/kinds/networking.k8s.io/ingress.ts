/** Ingresses, ingress classes and network policies. @see pkg/apis/networking/validation of Kubernetes 1.36 */
import { isIP } from 'node:net'
import { validateLabelSelector } from '../../../kube/label-selector.ts'
import { isDns1123Label, isDns1123Subdomain } from '../../../kube/names.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { checkCidr, isWildcardSubdomain } from '../addresses.ts'
import { findPart, isPortName, type Part, partIn, partsIn, type Report, textIn, textsIn } from '../report.ts'

const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix']
const pathParts = ['//', '/./', '/../', '%2f', '%2F']
const pathEnds = ['/..', '/.']

export function checkIngress(report: Report, next: KubeObject): void {
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
  if (typeof className === 'string') report.subdomain('spec.ingressClassName', className)
}

function checkHost(report: Report, field: string, host: string): void {
  if (isIP(host) !== 0) report.invalid(field, host, 'must be a DNS name, not an IP address')
  report.each(field, host, host.includes('*') ? isWildcardSubdomain(host) : isDns1123Subdomain(host))
}

function checkPath(report: Report, at: string, path: Part): void {
  const type = path.pathType
  const text = textIn(path, 'path')
  if (typeof type !== 'string') report.required(`${at}.pathType`, 'pathType must be specified')
  else if (type === 'Exact' || type === 'Prefix') {
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

function checkLocalReference(report: Report, at: string, reference: Part): void {
  for (const field of ['kind', 'name']) {
    if (textIn(reference, field) === '') report.required(`${at}.${field}`, `${field} is required`)
  }
}

export function checkIngressClass(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const spec = partIn(next, 'spec')
  const controller = textIn(spec, 'controller')
  if (old) report.immutable('spec.controller', controller, partIn(old, 'spec').controller)
  if (controller.length > 250) report.tooLong('spec.controller', 250)
  if (controller === '') report.required('spec.controller')
  else if (!/^[^/]+\/.+$/.test(controller) || isDns1123Subdomain(controller.split('/', 1)[0] ?? '').length > 0) {
    report.invalid('spec.controller', controller, 'must be a domain-prefixed path (such as "acme.io/foo")')
  }
  const parameters = findPart(spec, 'parameters')
  if (!parameters) return
  checkLocalReference(report, 'spec.parameters', parameters)
  const scope = textIn(parameters, 'scope')
  report.oneOf('spec.parameters.scope', scope, ['Cluster', 'Namespace'])
  const namespace = textIn(parameters, 'namespace')
  if (scope === 'Namespace' && namespace === '')
    report.required('spec.parameters.namespace', "`parameters.scope` is set to 'Namespace'")
  if (scope === 'Cluster' && namespace !== '')
    report.forbidden('spec.parameters.namespace', "`parameters.scope` is set to 'Cluster'")
}

function checkPeer(report: Report, at: string, peer: Part): void {
  const pods = findPart(peer, 'podSelector')
  const namespaces = findPart(peer, 'namespaceSelector')
  const block = findPart(peer, 'ipBlock')
  if (pods) report.add(validateLabelSelector(pods, `${at}.podSelector`))
  if (namespaces) report.add(validateLabelSelector(namespaces, `${at}.namespaceSelector`))
  if (block) {
    const cidr = textIn(block, 'cidr')
    if (cidr === '') report.required(`${at}.ipBlock.cidr`)
    else checkCidr(report, `${at}.ipBlock.cidr`, cidr)
    textsIn(block, 'except').forEach((e, i) => checkCidr(report, `${at}.ipBlock.except[${i}]`, e))
  }
  if (!pods && !namespaces && !block) report.required(at, 'must specify a peer')
  else if ((pods || namespaces) && block) report.forbidden(at, 'may not specify both ipBlock and another peer')
}

function checkPolicyPort(report: Report, at: string, port: Part): void {
  report.oneOfIfSet(`${at}.protocol`, port.protocol, ['TCP', 'UDP', 'SCTP'])
  if (port.port !== undefined) report.portOrName(`${at}.port`, port.port)
  const end = port.endPort
  if (typeof end !== 'number') return
  if (port.port === undefined) report.required(`${at}.port`, 'may not be specified when `port` is not specified')
  else if (typeof port.port === 'string')
    report.invalid(`${at}.endPort`, end, 'may not be specified when `port` is non-numeric')
  else if (typeof port.port === 'number' && end < port.port)
    report.invalid(`${at}.endPort`, end, 'must be greater than or equal to `port`')
  else report.port(`${at}.endPort`, end)
}

export function checkNetworkPolicy(report: Report, next: KubeObject): void {
  const spec = partIn(next, 'spec')
  report.add(validateLabelSelector(findPart(spec, 'podSelector'), 'spec.podSelector'))
  for (const [direction, peers] of [
    ['ingress', 'from'],
    ['egress', 'to'],
  ] as const) {
    partsIn(spec, direction).forEach((rule, i) => {
      const at = `spec.${direction}[${i}]`
      partsIn(rule, 'ports').forEach((p, j) => checkPolicyPort(report, `${at}.ports[${j}]`, p))
      partsIn(rule, peers).forEach((p, j) => checkPeer(report, `${at}.${peers}[${j}]`, p))
    })
  }
  const types = textsIn(spec, 'policyTypes')
  if (types.length > 2) report.invalid('spec.policyTypes', types, 'may not specify more than two policyTypes')
  else types.forEach((t, i) => report.oneOf(`spec.policyTypes[${i}]`, t, ['Ingress', 'Egress']))
}
