/** Endpoints. @see ValidateEndpoints in pkg/apis/core/validation of Kubernetes 1.36 */
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { checkEndpointIp } from '../addresses.ts'
import { ageColumn, ageOf, column, nameColumn, nameOf } from '../cell-text.ts'
import { fillUnset } from '../default-rules.ts'
import { listAt, numberAt, textAt } from '../field-access.ts'
import { type BuiltInKind, validateWholeWith } from '../kind.ts'
import { partsIn, type Report, textIn } from '../report.ts'
import { protocols } from './container.ts'

function checkEndpoints(report: Report, next: KubeObject): void {
  partsIn(next, 'subsets').forEach((subset, i) => {
    const at = `subsets[${i}]`
    const addresses = partsIn(subset, 'addresses')
    const notReady = partsIn(subset, 'notReadyAddresses')
    if (addresses.length === 0 && notReady.length === 0) {
      report.required(at, 'must specify `addresses` or `notReadyAddresses`')
    }
    addresses.forEach((a, j) => checkEndpointIp(report, `${at}.addresses[${j}].ip`, textIn(a, 'ip')))
    notReady.forEach((a, j) => checkEndpointIp(report, `${at}.notReadyAddresses[${j}].ip`, textIn(a, 'ip')))
    const ports = partsIn(subset, 'ports')
    ports.forEach((port, j) => {
      const here = `${at}.ports[${j}]`
      const name = textIn(port, 'name')
      if (name === '' && ports.length > 1) report.required(`${here}.name`)
      else if (name !== '') report.label(`${here}.name`, name)
      report.port(`${here}.port`, port.port)
      report.requiredOneOf(`${here}.protocol`, textIn(port, 'protocol'), protocols)
    })
  })
}

const hostPort = (ip: string, port: number): string => (ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`)

function endpointAddresses(columns: KubeObject): string {
  const subsets = listAt(columns, 'subsets')
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

const columns: TableColumns = {
  definitions: [nameColumn, column('Endpoints', 'string', 'The addresses behind the service.'), ageColumn],
  cells: (o, now) => [nameOf(o), endpointAddresses(o), ageOf(o, now)],
}

export const endpoints: BuiltInKind = {
  shortNames: ['ep'],
  strategy: { validate: validateWholeWith(checkEndpoints), createOnUpdate: true },
  defaults: { 'io.k8s.api.core.v1.EndpointPort': [fillUnset({ protocol: 'TCP' })] },
  columns,
}
