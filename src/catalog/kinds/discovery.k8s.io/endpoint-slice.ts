/** Endpoint slices. @see pkg/apis/discovery/{validation,v1/defaults.go} of Kubernetes 1.36 */
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { checkIp } from '../addresses.ts'
import { ageColumn, ageOf, column, firstThree, nameColumn, nameOf } from '../cell-text.ts'
import { protocols } from '../core/container.ts'
import { fillAbsent } from '../default-rules.ts'
import { fieldAt, listAt, textAt, textsAt } from '../field-access.ts'
import { type BuiltInKind, validateWholeWith } from '../kind.ts'
import { partsIn, type Report, textIn, textsIn } from '../report.ts'

const addressTypes = ['FQDN', 'IPv4', 'IPv6']
const maxEndpoints = 1000
const maxSlicePorts = 20_000
const maxAddresses = 100

/** @see pkg/apis/discovery/validation/validation.go of Kubernetes 1.36 */
function checkEndpointSlice(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const type = textIn(next, 'addressType')
  if (type === '') report.required('addressType')
  else report.oneOf('addressType', type, addressTypes)
  const endpoints = partsIn(next, 'endpoints')
  if (endpoints.length > maxEndpoints) report.tooMany('endpoints', endpoints.length, maxEndpoints)
  endpoints.forEach((endpoint, i) => {
    const at = `endpoints[${i}].addresses`
    const addresses = textsIn(endpoint, 'addresses')
    if (addresses.length === 0) report.required(at, 'must contain at least 1 address')
    else if (addresses.length > maxAddresses) report.tooMany(at, addresses.length, maxAddresses)
    addresses.forEach((address, j) => {
      if (type === 'FQDN') report.subdomain(`${at}[${j}]`, address)
      else checkIp(report, `${at}[${j}]`, address)
    })
  })
  const ports = partsIn(next, 'ports')
  if (ports.length > maxSlicePorts) report.tooMany('ports', ports.length, maxSlicePorts)
  const names = new Set<string>()
  ports.forEach((port, i) => {
    const name = textIn(port, 'name')
    if (name !== '') report.label(`ports[${i}].name`, name)
    report.unique(`ports[${i}].name`, name, names)
    report.oneOf(`ports[${i}].protocol`, textIn(port, 'protocol'), protocols)
  })
  if (old) report.immutable('addressType', type, old.addressType)
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
