/**
 * The core group but for pods.
 * @see pkg/apis/core/v1/defaults.go and conversion.go of Kubernetes 1.36
 */
import {
  type DefaultRule,
  type DefaultRules,
  fillAbsent,
  fillUnset,
  findStruct,
  isUnset,
  listIn,
  structIn,
} from '../default-rules.ts'

const nameLabel = 'kubernetes.io/metadata.name'

/** Overwrites what was sent: nobody can take the label off or change it (SEMANTICS 1.1). */
const namespaceLabel: DefaultRule = (namespace) => {
  const metadata = structIn(namespace, 'metadata')
  if (!isUnset(metadata.name)) structIn(metadata, 'labels')[nameLabel] = metadata.name
}

/** stringData is never stored: it goes over into data. */
const stringData: DefaultRule = (secret) => {
  const text = findStruct(secret, 'stringData')
  delete secret.stringData
  for (const [key, value] of Object.entries(text ?? {})) {
    structIn(secret, 'data')[key] = Buffer.from(String(value ?? '')).toString('base64')
  }
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

const service: DefaultRule = (spec) => {
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

const limitRangeItem: DefaultRule = (item) => {
  if (item.type !== 'Container') return
  const limits = structIn(item, 'default')
  const requests = structIn(item, 'defaultRequest')
  for (const [source, target] of [
    [findStruct(item, 'max'), limits],
    [limits, requests],
    [findStruct(item, 'min'), requests],
  ] as const) {
    for (const [name, value] of Object.entries(source ?? {})) if (target[name] === undefined) target[name] = value
  }
  for (const field of ['default', 'defaultRequest']) {
    if (Object.keys(structIn(item, field)).length === 0) delete item[field]
  }
}

const nodeStatus: DefaultRule = (status) => {
  const capacity = findStruct(status, 'capacity')
  if (capacity && status.allocatable === undefined) status.allocatable = { ...capacity }
}

const replicationController: DefaultRule = (object) => {
  const spec = structIn(object, 'spec')
  const template = findStruct(spec, 'template')
  const labels = template && findStruct(structIn(template, 'metadata'), 'labels')
  if (labels) {
    if (Object.keys(findStruct(spec, 'selector') ?? {}).length === 0) spec.selector = { ...labels }
    const metadata = structIn(object, 'metadata')
    if (Object.keys(findStruct(metadata, 'labels') ?? {}).length === 0) metadata.labels = { ...labels }
  }
  if (spec.replicas === undefined) spec.replicas = 1
}

export const coreDefaults: DefaultRules = {
  'io.k8s.api.core.v1.Namespace': [namespaceLabel],
  'io.k8s.api.core.v1.NamespaceStatus': [fillUnset({ phase: 'Active' })],
  'io.k8s.api.core.v1.Secret': [stringData, fillUnset({ type: 'Opaque' })],
  'io.k8s.api.core.v1.ServiceSpec': [sessionAffinity, service],
  'io.k8s.api.core.v1.LoadBalancerIngress': [loadBalancerIngress],
  'io.k8s.api.core.v1.EndpointPort': [fillUnset({ protocol: 'TCP' })],
  'io.k8s.api.core.v1.LimitRangeItem': [limitRangeItem],
  'io.k8s.api.core.v1.NodeStatus': [nodeStatus],
  'io.k8s.api.core.v1.ReplicationController': [replicationController],
  'io.k8s.api.core.v1.PersistentVolumeSpec': [
    fillUnset({ persistentVolumeReclaimPolicy: 'Retain' }),
    fillAbsent({ volumeMode: 'Filesystem' }),
  ],
  'io.k8s.api.core.v1.PersistentVolumeStatus': [fillUnset({ phase: 'Pending' })],
  'io.k8s.api.core.v1.PersistentVolumeClaimSpec': [fillAbsent({ volumeMode: 'Filesystem' })],
  'io.k8s.api.core.v1.PersistentVolumeClaimStatus': [fillUnset({ phase: 'Pending' })],
}
