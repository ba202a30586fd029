/**
 * What the server writes into objects itself before they are judged: fields a client may not set, and fields that
 * follow from others.
 * @see PrepareForCreate and PrepareForUpdate in pkg/registry/<group>/<resource>/strategy.go of Kubernetes 1.36
 */
import type { KubeObject, Unvalidated } from '../../../kube/types.ts'
import { unvalidated } from '../../../kube/unvalidated.ts'
import { type Part, partIn, partsIn, sameValue, textIn, textsIn } from '../report.ts'
import { qosClassOf } from './pod.ts'
import { needsClusterIp } from './service.ts'

/** `next` is the caller's own copy; the answer may be a new object. */
export type Prepare = (next: Unvalidated, old: KubeObject | undefined, subresource: string) => Unvalidated

export const preparePod: Prepare = (next, old, subresource) => {
  const spec = partIn(next, 'spec')
  if (!old) return { ...next, status: { phase: 'Pending', qosClass: qosClassOf(spec) } }
  const before = partIn(old, 'spec')
  if (subresource === 'ephemeralcontainers') {
    return unvalidated({
      ...old,
      metadata: next.metadata,
      spec: { ...before, ephemeralContainers: spec.ephemeralContainers },
    })
  }
  if (subresource === 'resize') {
    const resized = (role: string): Record<string, unknown> => {
      if (before[role] === undefined) return {}
      const wanted = new Map(partsIn(spec, role).map((c) => [textIn(c, 'name'), c]))
      return {
        [role]: partsIn(before, role).map((c) => {
          const sent = wanted.get(textIn(c, 'name'))
          return sent ? { ...c, resources: sent.resources, resizePolicy: sent.resizePolicy ?? c.resizePolicy } : c
        }),
      }
    }
    return unvalidated({
      ...old,
      metadata: next.metadata,
      spec: { ...before, ...resized('containers'), ...resized('initContainers') },
    })
  }
  if (subresource === 'status') {
    // Given at creation and immutable; some kubelets leave it out.
    const status = partIn(next, 'status')
    return status.qosClass ? next : { ...next, status: { ...status, qosClass: partIn(old, 'status').qosClass } }
  }
  return next
}

/** Labels by which a job finds its pods, unless its author says how. */
export const prepareJob: Prepare = (next, old) => {
  const spec = partIn(next, 'spec')
  if (old || spec.manualSelector === true) return next
  const uid = next.metadata.uid ?? ''
  const name = next.metadata.name ?? ''
  const template = partIn(spec, 'template')
  const metadata = partIn(template, 'metadata')
  const labels = {
    ...(partIn(metadata, 'labels') as Record<string, string>),
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
  }
  const selector = partIn(spec, 'selector')
  const matchLabels = { ...partIn(selector, 'matchLabels'), 'batch.kubernetes.io/controller-uid': uid }
  return {
    ...next,
    spec: {
      ...spec,
      selector: { ...selector, matchLabels },
      template: { ...template, metadata: { ...metadata, labels } },
    },
  }
}

export const prepareService: Prepare = (next, old, subresource) => {
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

/** Claims and volumes begin as pending. */
export const preparePending: Prepare = (next, old) => (old ? next : { ...next, status: { phase: 'Pending' } })
