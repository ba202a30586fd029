/** Endpoint slices. @see pkg/apis/discovery/{validation,v1/defaults.go} of Kubernetes 1.36 */
import { isCanonicalIp, isStrictIp, parseAddress } from '../../../kube/ip-address.ts'
import { isDns1123Label, isDns1123Subdomain, isLabelValue, isQualifiedName } from '../../../kube/names.ts'
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { checkEndpointIp } from '../addresses.ts'
import { ageColumn, ageOf, column, firstThree, nameColumn, nameOf } from '../cell-text.ts'
import { protocols } from '../core/container.ts'
import { fillAbsent } from '../default-rules.ts'
import { fieldAt, listAt, textAt, textsAt } from '../field-access.ts'
import { type BuiltInKind, validateWholeWith } from '../kind.ts'
import { type Part, partIn, partsIn, type Report, sameValue, textIn, textsIn } from '../report.ts'

const addressTypes = ['FQDN', 'IPv4', 'IPv6']
const maxEndpoints = 1000
const maxSlicePorts = 20_000
const maxAddresses = 100

const maxHints = 8

/** @see pkg/apis/discovery/validation/validation.go of Kubernetes 1.36 */
function checkEndpointSlice(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const type = textIn(next, 'addressType')
  if (type === '') report.required('addressType')
  else report.oneOf('addressType', type, addressTypes)
  checkPorts(report, partsIn(next, 'ports'))
  const endpoints = partsIn(next, 'endpoints')
  // What is stored may stay, as long as all of it does.
  if (!old || !sameValue(old.endpoints, next.endpoints)) {
    if (endpoints.length > maxEndpoints) report.tooMany('endpoints', endpoints.length, maxEndpoints)
    else endpoints.forEach((endpoint, i) => checkEndpoint(report, `endpoints[${i}]`, endpoint, type))
  }
  if (old) report.immutable('addressType', type, old.addressType)
}

function checkEndpoint(report: Report, at: string, endpoint: Part, type: string): void {
  const addresses = textsIn(endpoint, 'addresses')
  if (addresses.length === 0) report.required(`${at}.addresses`, 'must contain at least 1 address')
  else if (addresses.length > maxAddresses) report.tooMany(`${at}.addresses`, addresses.length, maxAddresses)
  addresses.forEach((address, j) => {
    const field = `${at}.addresses[${j}]`
    if (type === 'FQDN') checkDomain(report, field, address)
    else if (type === 'IPv4' || type === 'IPv6') {
      const faults = type === 'IPv4' ? isStrictIp(address) : isCanonicalIp(address)
      report.each(field, address, faults)
      if (faults.length > 0) return
      if (parseAddress(address)?.family !== type) {
        report.invalid(`${at}.addresses`, address, `must be an ${type} address`)
      }
      // Unlike upstream: webhooks of a server on one machine are reached so.
      if (!/^(?:127\.|::1$)/.test(address)) checkEndpointIp(report, field, address)
    }
  })
  const { nodeName, hostname } = endpoint
  if (typeof nodeName === 'string') report.subdomain(`${at}.nodeName`, nodeName)
  if (typeof hostname === 'string') report.label(`${at}.hostname`, hostname)
  checkHints(report, `${at}.hints`, partIn(endpoint, 'hints'))
}

function checkHints(report: Report, at: string, hints: Part): void {
  for (const [field, rule] of [
    ['forZones', isLabelValue],
    ['forNodes', isDns1123Subdomain],
  ] as const) {
    const list = partsIn(hints, field)
    if (list.length > maxHints) return report.tooMany(`${at}.${field}`, list.length, maxHints)
    const seen = new Set<string>()
    list.forEach((hint, i) => {
      const name = textIn(hint, 'name')
      report.unique(`${at}.${field}[${i}].name`, name, seen)
      report.each(`${at}.${field}[${i}].name`, name, rule(name))
    })
  }
}

/** A trailing dot is no fault. @see IsFullyQualifiedDomainName in apimachinery/pkg/util/validation v0.36 */
function checkDomain(report: Report, field: string, domain: string): void {
  if (domain === '') return report.required(field)
  const name = domain.replace(/\.$/, '')
  const faults = isDns1123Subdomain(name)
  report.each(field, name, faults)
  if (faults.length > 0) return
  const labels = name.split('.')
  if (labels.length < 2) {
    return report.invalid(field, name, 'should be a domain with at least two segments separated by dots')
  }
  for (const label of labels) report.each(field, label, isDns1123Label(label))
}

function checkPorts(report: Report, ports: readonly Part[]): void {
  if (ports.length > maxSlicePorts) return report.tooMany('ports', ports.length, maxSlicePorts)
  const names = new Set<string>()
  ports.forEach((port, i) => {
    const name = textIn(port, 'name')
    if (name !== '') report.label(`ports[${i}].name`, name)
    report.unique(`ports[${i}].name`, name, names)
    report.oneOf(`ports[${i}].protocol`, textIn(port, 'protocol'), [...protocols].sort())
    const { appProtocol } = port
    if (typeof appProtocol === 'string') {
      report.each(`ports[${i}].appProtocol`, appProtocol, isQualifiedName(appProtocol))
    }
  })
}

const columns: TableColumns = {
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

export const endpointSlice: BuiltInKind = {
  strategy: {
    validate: validateWholeWith(checkEndpointSlice),
    tracksGeneration: true,
    generationCounts: ({ metadata, ...rest }) => [rest, metadata.labels ?? {}],
  },
  defaults: { 'io.k8s.api.discovery.v1.EndpointPort': [fillAbsent({ name: '', protocol: 'TCP' })] },
  columns,
}
