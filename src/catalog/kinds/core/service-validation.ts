/** What a Service may say. @see ValidateService in pkg/apis/core/validation of Kubernetes 1.36 */

import { isIP } from 'node:net'
import { validateLabels } from '../../../kube/metadata.ts'
import { isDns1123Label, isQualifiedName } from '../../../kube/names.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { checkCidr, checkEndpointIp, checkIp } from '../addresses.ts'
import { findPart, numberIn, type Part, partIn, partsIn, type Report, textIn, textsIn } from '../report.ts'
import { protocols } from './container.ts'

const serviceTypes = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']
const affinities = ['ClientIP', 'None']
const trafficPolicies = ['Cluster', 'Local']
const ipFamilies = ['IPv4', 'IPv6']
const familyPolicies = ['SingleStack', 'PreferDualStack', 'RequireDualStack']
const distributions = ['PreferClose', 'PreferSameZone', 'PreferSameNode']
const unlessExternal = 'may not be set for ExternalName services'
const onlyForBalancer = "may only be used when `type` is 'LoadBalancer'"
const topologyMode = 'service.kubernetes.io/topology-mode'
const topologyHints = 'service.kubernetes.io/topology-aware-hints'
const sourceRanges = 'service.beta.kubernetes.io/load-balancer-source-ranges'
const maxAffinitySeconds = 86_400

export const needsClusterIp = (type: string): boolean =>
  type === 'ClusterIP' || type === 'NodePort' || type === 'LoadBalancer'

export function checkService(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const annotations = next.metadata.annotations ?? {}
  const mode = annotations[topologyMode]
  const hints = annotations[topologyHints]
  if (mode !== undefined && hints !== undefined && mode !== hints) {
    const why = `must match annotations[${topologyHints}] when both are specified`
    report.invalid(`metadata.annotations[${topologyMode}]`, mode, why)
  }
  const spec = partIn(next, 'spec')
  const before = partIn(old, 'spec')
  const type = textIn(spec, 'type')
  const clusterIps = textsIn(spec, 'clusterIPs')
  const headless = clusterIps[0] === 'None' || textIn(spec, 'clusterIP') === 'None'
  const ports = partsIn(spec, 'ports')
  if (ports.length === 0 && !headless && type !== 'ExternalName') report.required('spec.ports')
  if (type === 'LoadBalancer' && headless) {
    report.invalid('spec.clusterIPs[0]', 'None', "may not be set to 'None' for LoadBalancer services")
  }
  if (type === 'NodePort' && headless) {
    report.invalid('spec.clusterIPs[0]', 'None', "may not be set to 'None' for NodePort services")
  }
  if (type === 'ExternalName') checkExternalName(report, spec)
  checkPorts(report, ports, type)
  report.add(validateLabels(spec.selector as Record<string, string> | undefined, 'spec.selector'))
  report.requiredOneOf('spec.sessionAffinity', textIn(spec, 'sessionAffinity'), affinities)
  const seconds = numberIn(partIn(partIn(spec, 'sessionAffinityConfig'), 'clientIP'), 'timeoutSeconds')
  if (spec.sessionAffinity === 'ClientIP' && seconds !== undefined && (seconds <= 0 || seconds > maxAffinitySeconds)) {
    report.invalid(
      'spec.sessionAffinityConfig.clientIP.timeoutSeconds',
      seconds,
      `must be greater than 0 and less than ${maxAffinitySeconds}`,
    )
  }
  report.requiredOneOf('spec.type', type, serviceTypes)
  checkAddresses(report, spec, type, before)
  checkSourceRanges(report, next, old)
  checkBalancer(report, spec, type)
  checkTraffic(report, spec, type)
  if (old) checkServiceUpdate(report, spec, before)
}

function checkExternalName(report: Report, spec: Part): void {
  if (textsIn(spec, 'clusterIPs').length > 0 || textIn(spec, 'clusterIP') !== '') {
    report.forbidden('spec.clusterIPs', unlessExternal)
  }
  if (textsIn(spec, 'ipFamilies').length > 0) report.forbidden('spec.ipFamilies', unlessExternal)
  if (spec.ipFamilyPolicy !== undefined) report.forbidden('spec.ipFamilyPolicy', unlessExternal)
  const name = textIn(spec, 'externalName').replace(/\.$/, '')
  if (name === '') report.required('spec.externalName')
  else report.subdomain('spec.externalName', name)
}

function checkPorts(report: Report, ports: readonly Part[], type: string): void {
  const names = new Set<string>()
  const numbers = new Set<string>()
  const nodePorts = new Set<string>()
  ports.forEach((port, i) => {
    const at = `spec.ports[${i}]`
    const name = textIn(port, 'name')
    const protocol = textIn(port, 'protocol')
    if (name !== '') {
      report.each(`${at}.name`, name, isDns1123Label(name))
      report.unique(`${at}.name`, name, names)
    } else if (ports.length > 1) report.required(`${at}.name`)
    report.port(`${at}.port`, port.port)
    report.requiredOneOf(`${at}.protocol`, protocol, protocols)
    report.portOrName(`${at}.targetPort`, port.targetPort)
    const application = port.appProtocol
    if (typeof application === 'string') report.each(`${at}.appProtocol`, application, isQualifiedName(application))
    const nodePort = numberIn(port, 'nodePort') ?? 0
    if (nodePort !== 0) {
      if (type === 'ClusterIP' || type === 'ExternalName') {
        report.forbidden(`${at}.nodePort`, `may not be used when \`type\` is '${type}'`)
      }
      const taken = `${protocol}/${nodePort}`
      if (nodePorts.has(taken)) report.duplicate(`${at}.nodePort`, nodePort)
      nodePorts.add(taken)
    }
    const key = `${protocol}/${String(port.port)}`
    if (numbers.has(key)) {
      // As Go prints its own form of a port.
      report.duplicate(at, {
        Name: '',
        Protocol: protocol,
        AppProtocol: null,
        Port: port.port,
        TargetPort: 0,
        NodePort: 0,
      })
    }
    numbers.add(key)
  })
}

function checkAddresses(report: Report, spec: Part, type: string, before: Part): void {
  if (type !== 'ExternalName') checkClusterIps(report, spec, new Set(textsIn(before, 'clusterIPs')))
  const known = new Set(textsIn(before, 'externalIPs'))
  textsIn(spec, 'externalIPs').forEach((ip, i) => checkEndpointIp(report, `spec.externalIPs[${i}]`, ip, known))
}

/** Of what lets clients in, or keeps them near. */
function checkTraffic(report: Report, spec: Part, type: string): void {
  report.oneOfIfSet('spec.internalTrafficPolicy', spec.internalTrafficPolicy, trafficPolicies)
  const policy = textIn(spec, 'externalTrafficPolicy')
  const isOpen = type === 'ClusterIP' && textsIn(spec, 'externalIPs').length > 0
  const external = type === 'NodePort' || type === 'LoadBalancer' || isOpen
  if (policy !== '') {
    if (!external)
      report.invalid('spec.externalTrafficPolicy', policy, 'may only be set for externally-accessible services')
    else report.oneOf('spec.externalTrafficPolicy', policy, trafficPolicies)
  }
  const port = numberIn(spec, 'healthCheckNodePort') ?? 0
  if (port !== 0) {
    if (needsHealthCheck(spec)) report.port('spec.healthCheckNodePort', port)
    else {
      const why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
      report.invalid('spec.healthCheckNodePort', port, why)
    }
  }
  report.oneOfIfSet('spec.trafficDistribution', spec.trafficDistribution, distributions)
}

/** A field, and an annotation that came before it. */
function checkSourceRanges(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const spec = partIn(next, 'spec')
  const isBalanced = spec.type === 'LoadBalancer'
  const ranges = textsIn(spec, 'loadBalancerSourceRanges')
  const annotation = next.metadata.annotations?.[sourceRanges]
  if (ranges.length > 0) {
    // Upstream writes it so.
    const field = 'spec.LoadBalancerSourceRanges'
    if (!isBalanced) report.forbidden(field, onlyForBalancer)
    const before = textsIn(findPart(old, 'spec'), 'loadBalancerSourceRanges')
    const known = new Set(before.map((range) => range.trim()))
    ranges.forEach((range, i) => checkCidr(report, `${field}[${i}]`, range.trim(), known))
  } else if (annotation !== undefined) {
    const field = `metadata.annotations[${sourceRanges}]`
    if (!isBalanced) report.forbidden(field, onlyForBalancer)
    if (annotation.trim() === '' || old?.metadata.annotations?.[sourceRanges] === annotation) return
    for (const range of annotation.split(',')) checkCidr(report, field, range.trim())
  }
}

function checkBalancer(report: Report, spec: Part, type: string): void {
  const { loadBalancerClass: ofClass } = spec
  if (type !== 'LoadBalancer') {
    if (spec.allocateLoadBalancerNodePorts !== undefined) {
      report.forbidden('spec.allocateLoadBalancerNodePorts', onlyForBalancer)
    }
    if (ofClass !== undefined) report.forbidden('spec.loadBalancerClass', onlyForBalancer)
  } else if (typeof ofClass === 'string') {
    report.each('spec.loadBalancerClass', ofClass, isQualifiedName(ofClass))
  }
}

const needsHealthCheck = (spec: Part): boolean =>
  textIn(spec, 'type') === 'LoadBalancer' && textIn(spec, 'externalTrafficPolicy') === 'Local'

/** @see ValidateServiceClusterIPsRelatedFields */
function checkClusterIps(report: Report, spec: Part, known: ReadonlySet<string>): void {
  const field = 'spec.clusterIPs'
  const ips = textsIn(spec, 'clusterIPs')
  const first = textIn(spec, 'clusterIP')
  if (first === '' && ips.length > 0) report.invalid(field, ips, 'must be empty when `clusterIP` is not specified')
  else if (ips.length > 0 && first !== ips[0]) report.invalid(field, ips, 'first value must match `clusterIP`')
  const families = textsIn(spec, 'ipFamilies')
  const seen = new Set<string>()
  families.forEach((family, i) => {
    report.oneOf(`spec.ipFamilies[${i}]`, family, ipFamilies)
    report.unique(`spec.ipFamilies[${i}]`, family, seen)
  })
  report.oneOfIfSet('spec.ipFamilyPolicy', spec.ipFamilyPolicy, familyPolicies)
  if (ips.length > 1 && ips[0] === 'None') report.invalid(field, ips, "'None' must be the first and only value")
  ips.forEach((ip, i) => {
    if (i > 0 || ip !== 'None') checkIp(report, `${field}[${i}]`, ip, known)
  })
  if (ips.length > 2) report.invalid(field, ips, 'may only hold up to 2 values')
  const own = ips.map((ip) => ({ 4: 'IPv4', 6: 'IPv6' })[isIP(ip)])
  // Whether they agree is asked of addresses only.
  if (own.includes(undefined)) return
  if (ips.length > 1 && new Set(own).size === 1) {
    report.invalid(field, ips, 'may specify no more than one IP for each IP family')
  }
  ips.forEach((ip, i) => {
    const family = families[i]
    if (family === undefined || own[i] === family || !ipFamilies.includes(family)) return
    report.invalid(`${field}[${i}]`, ip, `expected an ${family} value as indicated by \`ipFamilies[${i}]\``)
  })
}

function checkServiceUpdate(report: Report, next: Part, old: Part): void {
  const isBalanced = (spec: Part): boolean => spec.type === 'LoadBalancer'
  if (isBalanced(old) && isBalanced(next) && next.loadBalancerClass !== old.loadBalancerClass) {
    report.invalid('spec.loadBalancerClass', next.loadBalancerClass ?? null, 'may not change once set')
  }
  const before = textsIn(old, 'clusterIPs')[0]
  const after = textsIn(next, 'clusterIPs')[0]
  if (
    before === undefined ||
    before === '' ||
    !needsClusterIp(textIn(old, 'type')) ||
    !needsClusterIp(textIn(next, 'type'))
  )
    return
  if (after !== before) report.invalid('spec.clusterIPs[0]', textsIn(next, 'clusterIPs'), 'may not change once set')
  const port = numberIn(old, 'healthCheckNodePort')
  if (port !== undefined && needsHealthCheck(old) && needsHealthCheck(next)) {
    report.immutable('spec.healthCheckNodePort', next.healthCheckNodePort, port)
  }
  const [family] = textsIn(old, 'ipFamilies')
  const families = textsIn(next, 'ipFamilies')
  const headless = before === 'None' || after === 'None'
  if (!headless && family !== undefined && families[0] !== family) {
    report.invalid('spec.ipFamilies[0]', families, 'may not change once set')
  }
}
