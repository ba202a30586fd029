/**
 * Volumes of a pod, and the defaults of their sources.
 * @see ValidateVolumes in pkg/apis/core/validation, pkg/apis/core/v1/defaults.go of Kubernetes 1.36
 */
import { quote } from '../../../kube/go-quote.ts'
import { isDns1123Subdomain } from '../../../kube/names.ts'
import { type DefaultRule, type DefaultRules, fillAbsent, fillUnset, isUnset } from '../default-rules.ts'
import { findPart, type Part, partIn, Report, textIn } from '../report.ts'
import { pullPolicy } from './container.ts'
import type { MountedVolumes } from './mounts.ts'
import { checkIscsiTotal } from './volume-servers.ts'
import { checkSource, volumeSources } from './volume-sources.ts'

/** Returns the names that containers may mount. `pod` is the name of the pod: a template has none yet. */
export function checkVolumes(report: Report, at: string, volumes: readonly Part[], pod?: string): MountedVolumes {
  const mounted = new Map<string, boolean>()
  const made = new Set(
    volumes.filter((volume) => pod && volume.ephemeral !== undefined).map((v) => `${pod}-${textIn(v, 'name')}`),
  )
  volumes.forEach((volume, i) => {
    const here = `${at}[${i}]`
    const own = new Report()
    const name = textIn(volume, 'name')
    checkSources(own, here, volume, pod)
    if (name === '') own.required(`${here}.name`)
    else own.label(`${here}.name`, name)
    if (mounted.has(name)) own.duplicate(`${here}.name`, name)
    if (own.errors.length > 0) report.add(own.errors)
    else mounted.set(name, volume.persistentVolumeClaim !== undefined || volume.ephemeral !== undefined)
    const claim = textIn(findPart(volume, 'persistentVolumeClaim'), 'claimName')
    if (!made.has(claim)) return
    const why = 'must not reference a PVC that gets created for an ephemeral volume'
    report.invalid(`${here}.persistentVolumeClaim.claimName`, claim, why)
  })
  return mounted
}

/** What upstream calls those that are one too many. */
const calledOtherwise: Readonly<Record<string, string>> = { cephfs: 'cephFS', downwardAPI: 'downwarAPI' }

function checkSources(report: Report, at: string, volume: Part, pod: string | undefined): void {
  const name = textIn(volume, 'name')
  const given = volumeSources.filter((source) => volume[source] !== undefined)
  given.forEach((source, n) => {
    const part = partIn(volume, source)
    if (n > 0) report.forbidden(`${at}.${calledOtherwise[source] ?? source}`, 'may not specify more than 1 volume type')
    else checkSource(report, `${at}.${source}`, source, part, pod !== undefined)
    if (source === 'iscsi') checkIscsiTotal(report, `${at}.name`, name, name, part)
    if (source !== 'ephemeral' || n > 0 || !pod || name === '') return
    const claim = `${pod}-${name}`
    for (const why of isDns1123Subdomain(claim)) report.invalid(`${at}.name`, name, `PVC name ${quote(claim)}: ${why}`)
  })
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
