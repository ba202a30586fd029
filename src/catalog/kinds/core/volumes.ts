/**
 * Volumes of a pod, and the defaults of their sources.
 * @see ValidateVolumes in pkg/apis/core/validation, pkg/apis/core/v1/defaults.go of Kubernetes 1.36
 */
import { type DefaultRule, type DefaultRules, fillAbsent, fillUnset, isUnset } from '../default-rules.ts'
import { findPart, type Part, partIn, partsIn, type Report, textIn } from '../report.ts'
import { checkDriverName } from '../storage.k8s.io/csi-driver.ts'
import { checkRelativePath, pullPolicy } from './container.ts'
import { amountOf } from './resource-requirements.ts'

const hostPathTypes = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
]

const modeMax = 0o777

const projections = [
  'secret',
  'configMap',
  'downwardAPI',
  'serviceAccountToken',
  'clusterTrustBundle',
  'podCertificate',
]

/** Returns the names that containers may mount. */
export function checkVolumes(report: Report, at: string, volumes: readonly Part[]): ReadonlySet<string> {
  const names = new Set<string>()
  volumes.forEach((volume, i) => {
    const here = `${at}[${i}]`
    const name = textIn(volume, 'name')
    if (name === '') report.required(`${here}.name`)
    else {
      report.label(`${here}.name`, name)
      report.unique(`${here}.name`, name, names)
    }
    const sources = Object.keys(volume).filter((f) => f !== 'name' && volume[f] !== undefined)
    sources.forEach((source, n) => {
      if (n > 0) report.forbidden(`${here}.${source}`, 'may not specify more than 1 volume type')
      else checkSource(report, `${here}.${source}`, source, partIn(volume, source))
    })
  })
  return names
}

function checkMode(report: Report, at: string, field: string, part: Part): void {
  const mode = part[field]
  if (typeof mode === 'number' && (mode < 0 || mode > modeMax)) {
    report.invalid(`${at}.${field}`, mode, 'must be a number between 0 and 0777 (octal), both inclusive')
  }
}

function checkItems(report: Report, at: string, source: Part): void {
  partsIn(source, 'items').forEach((item, i) => {
    const here = `${at}.items[${i}]`
    if (textIn(item, 'key') === '') report.required(`${here}.key`)
    const path = textIn(item, 'path')
    if (path === '') report.required(`${here}.path`)
    else checkRelativePath(report, `${here}.path`, path)
    checkMode(report, here, 'mode', item)
  })
}

function checkHostPath(report: Report, at: string, path: string, type: unknown): void {
  if (path === '') report.required(`${at}.path`)
  else if (path.split('/').includes('..')) report.invalid(`${at}.path`, path, "must not contain '..'")
  report.oneOfIfSet(`${at}.type`, type, hostPathTypes)
}

function checkSource(report: Report, at: string, kind: string, source: Part): void {
  switch (kind) {
    case 'hostPath':
      return checkHostPath(report, at, textIn(source, 'path'), source.type)
    case 'emptyDir':
      if ((amountOf(source.sizeLimit)?.nanos ?? 0n) < 0n) {
        report.forbidden(`${at}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')
      }
      return
    case 'secret':
      if (textIn(source, 'secretName') === '') report.required(`${at}.secretName`)
      checkMode(report, at, 'defaultMode', source)
      return checkItems(report, at, source)
    case 'configMap':
      if (textIn(source, 'name') === '') report.required(`${at}.name`)
      checkMode(report, at, 'defaultMode', source)
      return checkItems(report, at, source)
    case 'persistentVolumeClaim':
      if (textIn(source, 'claimName') === '') report.required(`${at}.claimName`)
      return
    case 'projected':
      return checkProjected(report, at, source)
    case 'downwardAPI':
      checkMode(report, at, 'defaultMode', source)
      return checkDownward(report, at, source)
    case 'nfs':
      if (textIn(source, 'server') === '') report.required(`${at}.server`)
      if (textIn(source, 'path') === '') report.required(`${at}.path`)
      if (!textIn(source, 'path').startsWith('/')) {
        report.invalid(`${at}.path`, textIn(source, 'path'), 'must be an absolute path')
      }
      return
    case 'csi':
      return checkDriverName(report, `${at}.driver`, textIn(source, 'driver'))
    case 'image':
      if (textIn(source, 'reference') === '') report.required(`${at}.reference`)
      report.oneOfIfSet(`${at}.pullPolicy`, source.pullPolicy, ['Always', 'IfNotPresent', 'Never'])
      return
    case 'ephemeral':
      if (!findPart(source, 'volumeClaimTemplate')) report.required(`${at}.volumeClaimTemplate`)
  }
}

function checkDownward(report: Report, at: string, source: Part): void {
  // Upstream leaves `items[i]` out of the paths.
  const here = at
  partsIn(source, 'items').forEach((item) => {
    const path = textIn(item, 'path')
    if (path === '') report.required(`${here}.path`)
    else checkRelativePath(report, `${here}.path`, path)
    const field = findPart(item, 'fieldRef')
    const resource = findPart(item, 'resourceFieldRef')
    if (field && resource)
      report.invalid(here, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously')
    else if (!field && !resource) report.required(here, 'one of fieldRef and resourceFieldRef is required')
    checkMode(report, here, 'mode', item)
  })
}

function checkProjected(report: Report, at: string, source: Part): void {
  checkMode(report, at, 'defaultMode', source)
  partsIn(source, 'sources').forEach((projection, i) => {
    const here = `${at}.sources[${i}]`
    const given = projections.filter((p) => projection[p] !== undefined)
    given.forEach((kind) => {
      const part = partIn(projection, kind)
      if (kind === 'secret' || kind === 'configMap') {
        if (textIn(part, 'name') === '') report.required(`${here}.${kind}.name`)
        checkItems(report, `${here}.${kind}`, part)
      } else if (kind === 'downwardAPI') checkDownward(report, `${here}.${kind}`, part)
      else if (kind === 'serviceAccountToken') checkTokenProjection(report, at, `${here}.${kind}`, part)
    })
    if (given.length > 1) report.forbidden(here, 'may not specify more than 1 volume type per source')
  })
}

const tenMinutes = 600
const maxTokenSeconds = 2 ** 32

/** `whole` is where upstream looks for the path. */
function checkTokenProjection(report: Report, whole: string, at: string, part: Part): void {
  const seconds = part.expirationSeconds
  if (typeof seconds === 'number' && seconds < tenMinutes) {
    report.invalid(`${at}.expirationSeconds`, seconds, 'may not specify a duration less than 10 minutes')
  }
  if (typeof seconds === 'number' && seconds > maxTokenSeconds) {
    report.invalid(`${at}.expirationSeconds`, seconds, 'may not specify a duration larger than 2^32 seconds')
  }
  if (textIn(part, 'path') === '') report.required(`${whole}.path`)
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

export const volumeDefaults: DefaultRules = {
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
