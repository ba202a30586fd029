/**
 * Services, but for what depends on the cluster's address ranges: that is in `src/apis/services/`.
 * @see pkg/registry/core/service/strategy.go, pkg/apis/core/v1/defaults.go of Kubernetes 1.36
 */
import { nameIsLabel } from '../../../kube/names.ts'
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { ageColumn, ageOf, column, labelsAt, nameColumn, nameOf, selectorColumn } from '../cell-text.ts'
import { type DefaultRule, isUnset, listIn, structIn } from '../default-rules.ts'
import { listAt, numberAt, textAt, textsAt } from '../field-access.ts'
import { type BuiltInKind, type Prepare, validatePartsWith } from '../kind.ts'
import { loadBalancerAddresses } from '../networking.k8s.io/ingress.ts'
import { type Part, partIn, partsIn, sameValue, textIn, textsIn } from '../report.ts'
import { selectableFields } from '../selectable-fields.ts'
import { checkServiceStatus } from './service-status.ts'
import { checkService, needsClusterIp } from './service-validation.ts'

const prepareService: Prepare = (next, old, { subresource }) => {
  if (subresource !== '') return next
  const spec: Record<string, unknown> = { ...partIn(next, 'spec') }
  const type = textIn(spec, 'type')
  const before = partIn(old, 'spec')
  if (old) dropOutlived(spec, before)
  if (old && needsClusterIp(type)) keepAllocated(spec, before)
  const ip = textIn(spec, 'clusterIP')
  const ips = textsIn(spec, 'clusterIPs')
  // Who says another one and leaves the list as it was means that one.
  const isAnother = old !== undefined && ip !== before.clusterIP && sameValue(ips, before.clusterIPs)
  if (ip !== '' && (ips.length === 0 || isAnother)) spec.clusterIPs = [ip]
  if (type === 'ExternalName') {
    if (old && textIn(before, 'type') !== type) {
      for (const field of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy']) {
        if (Object.hasOwn(before, field)) delete spec[field]
      }
    }
  }
  return { ...next, spec }
}

const takesNodePorts = (spec: Part): boolean => ['NodePort', 'LoadBalancer'].includes(textIn(spec, 'type'))
const isBalanced = (spec: Part): boolean => textIn(spec, 'type') === 'LoadBalancer'

/** Fields that only some services have. */
const typeFields: Readonly<Record<string, (spec: Part) => boolean>> = {
  externalTrafficPolicy: (spec) =>
    takesNodePorts(spec) || (textIn(spec, 'type') === 'ClusterIP' && textsIn(spec, 'externalIPs').length > 0),
  healthCheckNodePort: (spec) => isBalanced(spec) && textIn(spec, 'externalTrafficPolicy') === 'Local',
  allocateLoadBalancerNodePorts: isBalanced,
  loadBalancerClass: isBalanced,
}

/** A client that changes the type and leaves the rest as it was means to lose what only the old type had. */
function dropOutlived(spec: Record<string, unknown>, before: Part): void {
  for (const [field, has] of Object.entries(typeFields)) {
    if (has(before) && !has(spec) && sameValue(spec[field], before[field])) delete spec[field]
  }
  const nodePorts = (of: Part): unknown[] => partsIn(of, 'ports').map((p) => p.nodePort)
  if (!takesNodePorts(before) || takesNodePorts(spec) || !sameValue(nodePorts(spec), nodePorts(before))) return
  spec.ports = partsIn(spec, 'ports').map(({ nodePort: _, ...port }) => port)
}

/** A client that leaves out what the server gave means to keep it. */
function keepAllocated(spec: Record<string, unknown>, before: Part): void {
  if (!needsClusterIp(textIn(before, 'type'))) return
  if (before.clusterIP !== undefined) {
    spec.clusterIP ||= before.clusterIP
    if (textsIn(spec, 'clusterIPs').length === 0 && spec.clusterIP === before.clusterIP) {
      spec.clusterIPs = before.clusterIPs
    }
  }
  if (typeFields.healthCheckNodePort?.(before) && typeFields.healthCheckNodePort(spec)) {
    spec.healthCheckNodePort ||= before.healthCheckNodePort
  }
  if (!takesNodePorts(before) || !takesNodePorts(spec) || !Array.isArray(spec.ports)) return
  const byName = new Map(partsIn(before, 'ports').map((port) => [textIn(port, 'name'), port.nodePort]))
  const given = new Set(partsIn(spec, 'ports').map((port) => port.nodePort))
  spec.ports = partsIn(spec, 'ports').map((port) => {
    const nodePort = port.nodePort ? undefined : byName.get(textIn(port, 'name'))
    if (!nodePort || given.has(nodePort)) return port
    given.add(nodePort)
    return { ...port, nodePort }
  })
}

const clientIpTimeoutSeconds = 10_800

const sessionAffinity: DefaultRule = (spec) => {
  if (isUnset(spec.sessionAffinity)) spec.sessionAffinity = 'None'
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig
  if (spec.sessionAffinity === 'ClientIP') {
    const clientIp = structIn(structIn(spec, 'sessionAffinityConfig'), 'clientIP')
    if (clientIp.timeoutSeconds === undefined) clientIp.timeoutSeconds = clientIpTimeoutSeconds
  }
}

const defaultSpec: DefaultRule = (spec) => {
  if (isUnset(spec.type)) spec.type = 'ClusterIP'
  const { type } = spec
  for (const port of listIn(spec, 'ports')) if (isUnset(port.targetPort)) port.targetPort = port.port
  const external = Array.isArray(spec.externalIPs) && spec.externalIPs.length > 0
  if (type === 'NodePort' || type === 'LoadBalancer' || (type === 'ClusterIP' && external)) {
    if (isUnset(spec.externalTrafficPolicy)) spec.externalTrafficPolicy = 'Cluster'
  }
  if (type !== 'ExternalName' && spec.internalTrafficPolicy === undefined) spec.internalTrafficPolicy = 'Cluster'
  if (type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts === undefined) {
    spec.allocateLoadBalancerNodePorts = true
  }
}

const loadBalancerIngress: DefaultRule = (ingress) => {
  if (!isUnset(ingress.ip) && ingress.ipMode === undefined) ingress.ipMode = 'VIP'
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

const columns: TableColumns = {
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

export const service: BuiltInKind = {
  shortNames: ['svc'],
  categories: ['all'],
  streamKinds: { proxy: 'ServiceProxyOptions' },
  strategy: {
    prepare: prepareService,
    validate: validatePartsWith(checkService, checkServiceStatus),
    validateName: nameIsLabel,
    createOnUpdate: true,
    returnsDeleted: true,
    selectableFields: selectableFields('spec.clusterIP', 'spec.type'),
  },
  defaults: {
    'io.k8s.api.core.v1.ServiceSpec': [sessionAffinity, defaultSpec],
    'io.k8s.api.core.v1.LoadBalancerIngress': [loadBalancerIngress],
  },
  columns,
}
