/**
 * Network policies.
 * @see ValidateNetworkPolicy in pkg/apis/networking/validation, pkg/apis/networking/v1/defaults.go of Kubernetes
 *   1.36
 */
import { validateLabelSelector } from '../../../kube/label-selector.ts'
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { checkCidr } from '../addresses.ts'
import { ageColumn, ageOf, column, nameColumn, nameOf, selectorAt } from '../cell-text.ts'
import { type DefaultRule, fillAbsent } from '../default-rules.ts'
import { type BuiltInKind, validateWholeWith } from '../kind.ts'
import { findPart, type Part, partIn, partsIn, type Report, textIn, textsIn } from '../report.ts'

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

function checkNetworkPolicy(report: Report, next: KubeObject): void {
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

const policyTypes: DefaultRule = (spec) => {
  if (Array.isArray(spec.policyTypes) && spec.policyTypes.length > 0) return
  const egress = Array.isArray(spec.egress) && spec.egress.length > 0
  spec.policyTypes = egress ? ['Ingress', 'Egress'] : ['Ingress']
}

const columns: TableColumns = {
  definitions: [nameColumn, column('Pod-Selector', 'string', 'The pods it is for.'), ageColumn],
  cells(o, now) {
    const selector = selectorAt(o, 'spec', 'podSelector')
    return [nameOf(o), selector, ageOf(o, now)]
  },
}

export const networkPolicy: BuiltInKind = {
  shortNames: ['netpol'],
  strategy: { validate: validateWholeWith(checkNetworkPolicy), tracksGeneration: true },
  defaults: {
    'io.k8s.api.networking.v1.NetworkPolicySpec': [policyTypes],
    'io.k8s.api.networking.v1.NetworkPolicyPort': [fillAbsent({ protocol: 'TCP' })],
  },
  columns,
}
