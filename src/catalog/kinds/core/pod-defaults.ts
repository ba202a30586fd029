/**
 * Pods and everything with a pod template.
 * @see pkg/apis/core/v1/defaults.go and zz_generated.defaults.go of Kubernetes 1.36
 */
import {
  type DefaultRule,
  type DefaultRules,
  type Fields,
  fillAbsent,
  fillUnset,
  findStruct,
  isUnset,
  listIn,
  structIn,
} from '../default-rules.ts'

/** What is left of an image name without its registry, path and digest; undefined if it is no valid name. */
function tagOf(image: string): string | undefined {
  const [name = '', digest] = image.split('@', 2)
  const last = name.slice(name.lastIndexOf('/') + 1)
  const colon = last.indexOf(':')
  const repository = colon < 0 ? last : last.slice(0, colon)
  if (!/^[a-z0-9]+(?:[._-]+[a-z0-9]+)*$/.test(repository)) return undefined
  if (colon >= 0) return last.slice(colon + 1)
  return digest === undefined ? 'latest' : ''
}

const pullPolicy = (image: unknown): string =>
  tagOf(typeof image === 'string' ? image : '') === 'latest' ? 'Always' : 'IfNotPresent'

const imagePullPolicy: DefaultRule = (container) => {
  if (isUnset(container.imagePullPolicy)) container.imagePullPolicy = pullPolicy(container.image)
}

const container: readonly DefaultRule[] = [
  imagePullPolicy,
  fillUnset({ terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File' }),
]

/** Both names of the field are always shown. */
const serviceAccountAlias: DefaultRule = (spec) => {
  const name = isUnset(spec.serviceAccountName) ? spec.serviceAccount : spec.serviceAccountName
  if (isUnset(name)) return
  spec.serviceAccountName = name
  spec.serviceAccount = name
}

/** Only pods themselves get these, templates don't. */
const pod: DefaultRule = (object) => {
  const spec = structIn(object, 'spec')
  const containers = [...listIn(spec, 'containers'), ...listIn(spec, 'initContainers')]
  for (const c of containers) requestsFromLimits(c)
  if (spec.enableServiceLinks === undefined) spec.enableServiceLinks = true
  if (spec.hostNetwork !== true) return
  for (const c of containers) {
    for (const port of listIn(c, 'ports')) if (isUnset(port.hostPort)) port.hostPort = port.containerPort
  }
}

function requestsFromLimits(container: Fields): void {
  const resources = findStruct(container, 'resources')
  const limits = resources && findStruct(resources, 'limits')
  if (!resources || !limits) return
  const requests = structIn(resources, 'requests')
  for (const [name, value] of Object.entries(limits)) if (requests[name] === undefined) requests[name] = value
}

const volume: DefaultRule = (value) => {
  if (Object.keys(value).every((field) => field === 'name')) value.emptyDir = {}
}

const volumeImage: DefaultRule = (value) => {
  if (isUnset(value.pullPolicy)) value.pullPolicy = pullPolicy(value.reference)
}

const mode0644 = 0o644
const defaultMode = [fillAbsent({ defaultMode: mode0644 })]
const rbd = [fillUnset({ pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' })]
const iscsi = [fillUnset({ iscsiInterface: 'default' })]
const scaleIo = [fillUnset({ storageMode: 'ThinProvisioned', fsType: 'xfs' })]

export const podDefaults: DefaultRules = {
  'io.k8s.api.core.v1.Pod': [pod],
  'io.k8s.api.core.v1.PodSpec': [
    serviceAccountAlias,
    fillUnset({ restartPolicy: 'Always', dnsPolicy: 'ClusterFirst', schedulerName: 'default-scheduler' }),
    fillAbsent({ terminationGracePeriodSeconds: 30, securityContext: {} }),
  ],
  'io.k8s.api.core.v1.Container': container,
  'io.k8s.api.core.v1.EphemeralContainer': container,
  'io.k8s.api.core.v1.Probe': [
    fillUnset({ timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 }),
  ],
  'io.k8s.api.core.v1.HTTPGetAction': [fillUnset({ path: '/', scheme: 'HTTP' })],
  'io.k8s.api.core.v1.GRPCAction': [fillAbsent({ service: '' })],
  'io.k8s.api.core.v1.ObjectFieldSelector': [fillUnset({ apiVersion: 'v1' })],
  'io.k8s.api.core.v1.ResourceFieldSelector': [fillUnset({ divisor: '0' })],
  'io.k8s.api.core.v1.Volume': [volume],
  'io.k8s.api.core.v1.SecretVolumeSource': defaultMode,
  'io.k8s.api.core.v1.ConfigMapVolumeSource': defaultMode,
  'io.k8s.api.core.v1.DownwardAPIVolumeSource': defaultMode,
  'io.k8s.api.core.v1.ProjectedVolumeSource': defaultMode,
  'io.k8s.api.core.v1.ServiceAccountTokenProjection': [fillAbsent({ expirationSeconds: 3600 })],
  'io.k8s.api.core.v1.HostPathVolumeSource': [fillAbsent({ type: '' })],
  'io.k8s.api.core.v1.ImageVolumeSource': [volumeImage],
  'io.k8s.api.core.v1.RBDVolumeSource': rbd,
  'io.k8s.api.core.v1.RBDPersistentVolumeSource': rbd,
  'io.k8s.api.core.v1.ISCSIVolumeSource': iscsi,
  'io.k8s.api.core.v1.ISCSIPersistentVolumeSource': iscsi,
  'io.k8s.api.core.v1.ScaleIOVolumeSource': scaleIo,
  'io.k8s.api.core.v1.ScaleIOPersistentVolumeSource': scaleIo,
  'io.k8s.api.core.v1.AzureDiskVolumeSource': [
    fillAbsent({ cachingMode: 'ReadWrite', kind: 'Shared', fsType: 'ext4', readOnly: false }),
  ],
}
