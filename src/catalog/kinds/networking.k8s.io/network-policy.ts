/**
 * Network policies.
 * @see ValidateNetworkPolicy in pkg/apis/networking/validation, pkg/apis/networking/v1/defaults.go of Kubernetes
 *   1.36
 */
import { isStrictCidr, isStrictSubset, parseBlock } from '../../../kube/ip-address.ts'
import { validateLabelSelector } from '../../../kube/label-selector.ts'
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { ageColumn, ageOf, column, nameColumn, nameOf, selectorAt } from '../cell-text.ts'
import { type DefaultRule, fillAbsent } from '../default-rules.ts'
import { type BuiltInKind, validateWholeWith } from '../kind.ts'
import { findPart, type Part, partIn, partsIn, type Report, textIn, textsIn } from '../report.ts'

const noRanges: ReadonlySet<string> = new Set()
const directions = [
  ['ingress', 'from'],
  ['egress', 'to'],
] as const

function checkPeer(report: Report, at: string, peer: Part, stored: ReadonlySet<string>): void {
  const pods = findPart(peer, 'podSelector')
  const namespaces = findPart(peer, 'namespaceSelector')
  const block = findPart(peer, 'ipBlock')
  if (pods) report.add(validateLabelSelector(pods, `${at}.podSelector`))
  if (namespaces) report.add(validateLabelSelector(namespaces, `${at}.namespaceSelector`))
  if (block) checkBlock(report, `${at}.ipBlock`, block, stored)
  if (!pods && !namespaces && !block) report.required(at, 'must specify a peer')
  else if ((pods || namespaces) && block) report.forbidden(at, 'may not specify both ipBlock and another peer')
}

function checkBlock(report: Report, at: string, block: Part, stored: ReadonlySet<string>): void {
  const cidr = textIn(block, 'cidr')
  if (cidr === '') return report.required(`${at}.cidr`)
  const check = (field: string, value: string): ReturnType<typeof parseBlock> => {
    if (!stored.has(value)) report.each(field, value, isStrictCidr(value))
    return parseBlock(value)
  }
  const outer = check(`${at}.cidr`, cidr)
  if (!outer) return
  textsIn(block, 'except').forEach((except, i) => {
    const field = `${at}.except[${i}]`
    const inner = check(field, except)
    if (inner && !isStrictSubset(inner, outer)) report.invalid(field, except, 'must be a strict subset of `cidr`')
  })
}

function checkPolicyPort(report: Report, at: string, { protocol, port, endPort }: Part): void {
  report.oneOfIfSet(`${at}.protocol`, protocol, ['TCP', 'UDP', 'SCTP'])
  const hasEnd = typeof endPort === 'number'
  if (port === undefined) {
    if (hasEnd) report.invalid(`${at}.endPort`, endPort, 'may not be specified when `port` is not specified')
  } else if (typeof port === 'string') {
    if (hasEnd) report.invalid(`${at}.endPort`, endPort, 'may not be specified when `port` is non-numeric')
    report.portOrName(`${at}.port`, port)
  } else {
    report.port(`${at}.port`, port)
    if (!hasEnd) return
    // Upstream shows the port here, not its end.
    if (endPort < Number(port)) report.invalid(`${at}.endPort`, port, 'must be greater than or equal to `port`')
    report.port(`${at}.endPort`, endPort)
  }
}

/** Every range of a policy: which of them moved cannot be told, so each that is stored may stay. */
function* rangesOf(policy: KubeObject): Iterable<string> {
  const spec = partIn(policy, 'spec')
  for (const [direction, peers] of directions) {
    for (const rule of partsIn(spec, direction)) {
      for (const block of partsIn(rule, peers).map((p) => partIn(p, 'ipBlock'))) {
        yield textIn(block, 'cidr')
        yield* textsIn(block, 'except')
      }
    }
  }
}

function checkNetworkPolicy(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const spec = partIn(next, 'spec')
  const stored = old ? new Set(rangesOf(old)) : noRanges
  report.add(validateLabelSelector(findPart(spec, 'podSelector'), 'spec.podSelector'))
  for (const [direction, peers] of directions) {
    partsIn(spec, direction).forEach((rule, i) => {
      const at = `spec.${direction}[${i}]`
      partsIn(rule, 'ports').forEach((p, j) => checkPolicyPort(report, `${at}.ports[${j}]`, p))
      partsIn(rule, peers).forEach((p, j) => checkPeer(report, `${at}.${peers}[${j}]`, p, stored))
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
