/**
 * Tables of services, endpoints, ingresses and network policies.
 * @see k8s.io/kubernetes/pkg/printers/internalversion/printers.go v1.36
 */
import { qualifiedResource } from '../../../kube/gvk.ts'
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import {
  ageColumn,
  ageOf,
  column,
  firstThree,
  labelsAt,
  nameColumn,
  nameOf,
  selectorAt,
  selectorColumn,
} from '../cell-text.ts'
import { fieldAt, listAt, numberAt, objectAt, textAt, textsAt } from '../field-access.ts'

/** Addresses or host names of a load balancer, sorted, each once. */
function loadBalancerAddresses(object: KubeObject): string[] {
  const addresses = listAt(object, 'status', 'loadBalancer', 'ingress').map(
    (i) => textAt(i, 'ip') || textAt(i, 'hostname'),
  )
  return [...new Set(addresses.filter((a) => a !== ''))].sort()
}

function externalIps(service: KubeObject): string {
  const externals = textsAt(service, 'spec', 'externalIPs')
  switch (textAt(service, 'spec', 'type')) {
    case 'ClusterIP':
    case 'NodePort':
      return externals.join(',') || '<none>'
    case 'LoadBalancer':
      return [...loadBalancerAddresses(service), ...externals].join(',') || '<pending>'
    case 'ExternalName':
      return textAt(service, 'spec', 'externalName')
    default:
      return '<unknown>'
  }
}

function servicePorts(service: KubeObject): string {
  const ports = listAt(service, 'spec', 'ports').map((p) => {
    const nodePort = numberAt(p, 'nodePort')
    return `${numberAt(p, 'port')}${nodePort > 0 ? `:${nodePort}` : ''}/${textAt(p, 'protocol')}`
  })
  return ports.join(',') || '<none>'
}

export const services: TableColumns = {
  definitions: [
    nameColumn,
    column('Type', 'string', 'How it is reached.'),
    column('Cluster-IP', 'string', 'Its address inside the cluster.'),
    column('External-IP', 'string', 'Its addresses outside.'),
    column('Port(s)', 'string', 'Its ports, with the node port if there is one.'),
    ageColumn,
    selectorColumn,
  ],
  cells: (o, now) => [
    nameOf(o),
    textAt(o, 'spec', 'type'),
    textsAt(o, 'spec', 'clusterIPs')[0] ?? (textAt(o, 'spec', 'clusterIP') || '<none>'),
    externalIps(o),
    servicePorts(o),
    ageOf(o, now),
    labelsAt(o, 'spec', 'selector'),
  ],
}

const hostPort = (ip: string, port: number): string => (ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`)

function endpointAddresses(endpoints: KubeObject): string {
  const subsets = listAt(endpoints, 'subsets')
  if (subsets.length === 0) return '<none>'
  const all = subsets.flatMap((subset) => {
    const ips = listAt(subset, 'addresses').map((a) => textAt(a, 'ip'))
    const ports = listAt(subset, 'ports')
    // A headless service may have no ports.
    return ports.length === 0 ? ips : ports.flatMap((p) => ips.map((ip) => hostPort(ip, numberAt(p, 'port'))))
  })
  const shown = all.slice(0, 3).join(',')
  return all.length > 3 ? `${shown} + ${all.length - 3} more...` : shown
}

export const endpoints: TableColumns = {
  definitions: [nameColumn, column('Endpoints', 'string', 'The addresses behind the service.'), ageColumn],
  cells: (o, now) => [nameOf(o), endpointAddresses(o), ageOf(o, now)],
}

export const endpointSlices: TableColumns = {
  definitions: [
    nameColumn,
    column('AddressType', 'string', 'What its addresses are.'),
    column('Ports', 'string', 'The ports of its endpoints.'),
    column('Endpoints', 'string', 'The addresses of its endpoints.'),
    ageColumn,
  ],
  cells: (o, now) => [
    nameOf(o),
    textAt(o, 'addressType'),
    firstThree(listAt(o, 'ports').map((p) => String(fieldAt(p, 'port') ?? fieldAt(p, 'name') ?? '*'))),
    firstThree(listAt(o, 'endpoints').flatMap((e) => textsAt(e, 'addresses'))),
    ageOf(o, now),
  ],
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

export const ingresses: TableColumns = {
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

function ingressParameters(ingressClass: KubeObject): string {
  const parameters = objectAt(ingressClass, 'spec', 'parameters')
  if (!parameters) return '<none>'
  const group = fieldAt(parameters, 'apiGroup')
  return `${textAt(parameters, 'kind')}${group === undefined ? '' : `.${group}`}/${textAt(parameters, 'name')}`
}

export const ingressClasses: TableColumns = {
  definitions: [
    nameColumn,
    column('Controller', 'string', 'Who serves the ingresses of this class.'),
    column('Parameters', 'string', 'Where the controller finds more settings.'),
    ageColumn,
  ],
  cells: (o, now) => [nameOf(o), textAt(o, 'spec', 'controller'), ingressParameters(o), ageOf(o, now)],
}

export const networkPolicies: TableColumns = {
  definitions: [nameColumn, column('Pod-Selector', 'string', 'The pods it is for.'), ageColumn],
  cells(o, now) {
    const selector = selectorAt(o, 'spec', 'podSelector')
    return [nameOf(o), selector, ageOf(o, now)]
  },
}

export const serviceCidrs: TableColumns = {
  definitions: [nameColumn, column('CIDRs', 'string', 'The ranges that service addresses come from.'), ageColumn],
  cells: (o, now) => [nameOf(o), textsAt(o, 'spec', 'cidrs').join(','), ageOf(o, now)],
}

function parentOf(address: KubeObject): string {
  const parent = objectAt(address, 'spec', 'parentRef')
  if (!parent) return '<none>'
  const resource = qualifiedResource({ group: textAt(parent, 'group'), resource: textAt(parent, 'resource') })
  return [resource.toLowerCase(), textAt(parent, 'namespace'), textAt(parent, 'name')].filter((p) => p !== '').join('/')
}

export const ipAddresses: TableColumns = {
  definitions: [nameColumn, column('ParentRef', 'string', 'Whose address it is.'), ageColumn],
  cells: (o, now) => [nameOf(o), parentOf(o), ageOf(o, now)],
}
