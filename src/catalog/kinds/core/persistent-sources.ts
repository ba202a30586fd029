/**
 * Where persistent volumes come from. Most kinds are as those of a pod; some name a namespace for what they refer to.
 * @see ValidatePersistentVolumeSpec and the validate…PersistentVolumeSource of pkg/apis/core/validation/validation.go
 *   of Kubernetes 1.36
 */
import { findPart, type Part, partIn, type Report, textIn } from '../report.ts'
import { checkDriverName } from '../storage.k8s.io/csi-driver.ts'
import { checkNodeSelector } from './affinity.ts'
import { checkNoBacksteps } from './paths.ts'
import { checkIscsi, checkIscsiTotal } from './volume-servers.ts'
import { checkFlexOptions, checkSource, checkStorageOs } from './volume-sources.ts'

/** In the order in which upstream looks at them: the first one is the volume's. */
const persistentSources: readonly string[] = (
  'hostPath gcePersistentDisk awsElasticBlockStore glusterfs flocker nfs rbd quobyte cephfs iscsi cinder fc ' +
  'flexVolume azureFile vsphereVolume photonPersistentDisk portworxVolume azureDisk scaleIO local storageos csi'
).split(' ')

export const persistentSourcesOf = (spec: Part): string[] => persistentSources.filter((s) => spec[s] !== undefined)

/** `name` is the volume's. */
export function checkPersistentSources(report: Report, at: string, spec: Part, name: string): void {
  const affinity = findPart(spec, 'nodeAffinity')
  const required = findPart(affinity, 'required')
  if (required) checkNodeSelector(report, `${at}.nodeAffinity.required`, required)
  else if (affinity) report.required(`${at}.nodeAffinity.required`, 'must specify required node constraints')
  const [first, ...others] = persistentSourcesOf(spec)
  if (first === undefined) report.required(at, 'must specify a volume type')
  else checkPersistentSource(report, `${at}.${calledIn(first)}`, first, partIn(spec, first), name)
  for (const extra of others) report.forbidden(`${at}.${calledIn(extra)}`, 'may not specify more than 1 volume type')
  if (first === 'local' && !affinity) report.required(`${at}.nodeAffinity`, 'Local volume requires node affinity')
  if (spec.persistentVolumeReclaimPolicy !== 'Recycle' || !isRoot(textIn(findPart(spec, 'hostPath'), 'path'))) return
  report.forbidden(`${at}.persistentVolumeReclaimPolicy`, "may not be 'recycle' for a hostPath mount of '/'")
}

/** Upstream calls one otherwise. */
const calledIn = (source: string): string => (source === 'cephfs' ? 'cephFS' : source)

/** What leads up is refused. */
const isRoot = (path: string): boolean =>
  path.startsWith('/') && path.split('/').every((step) => step === '' || step === '.')

function checkPersistentSource(report: Report, at: string, kind: string, source: Part, name: string): void {
  switch (kind) {
    case 'iscsi':
      checkIscsiTotal(report, `${at}.targetportal`, textIn(source, 'targetPortal'), name, source)
      checkIscsi(report, at, source, 'must be valid format')
      return checkSecret(report, `${at}.secretRef`, findPart(source, 'secretRef'), ['name'])
    case 'local':
      if (textIn(source, 'path') === '') return report.required(`${at}.path`)
      return checkNoBacksteps(report, `${at}.path`, textIn(source, 'path'))
    case 'csi':
      return checkPersistentCsi(report, at, source)
    case 'storageos':
      checkStorageOs(report, at, { ...source, secretRef: undefined })
      return checkSecret(report, `${at}.secretRef`, findPart(source, 'secretRef'), ['name', 'namespace'])
    case 'cinder':
      if (textIn(source, 'volumeID') === '') report.required(`${at}.volumeID`)
      return checkSecret(report, `${at}.secretRef`, findPart(source, 'secretRef'), ['name', 'namespace'])
    case 'flexVolume':
      if (textIn(source, 'driver') === '') report.required(`${at}.driver`)
      return checkFlexOptions(report, `${at}.options`, partIn(source, 'options'))
    case 'azureFile':
      checkSource(report, at, kind, source, true)
      if (source.secretNamespace === '') report.required(`${at}.secretNamespace`)
      return
    case 'glusterfs':
      checkSource(report, at, kind, source, true)
      return checkEndpointsNamespace(report, `${at}.endpointsNamespace`, source.endpointsNamespace)
    default:
      return checkSource(report, at, kind, source, true)
  }
}

function checkSecret(report: Report, at: string, ref: Part | undefined, needed: readonly string[]): void {
  if (!ref) return
  for (const field of needed) if (textIn(ref, field) === '') report.required(`${at}.${field}`)
}

function checkEndpointsNamespace(report: Report, field: string, namespace: unknown): void {
  if (typeof namespace !== 'string') return
  const unset = 'if the endpointnamespace is set, it must be a valid namespace name'
  if (namespace === '') report.invalid(field, namespace, unset)
  else report.label(field, namespace)
}

const csiSecrets = [
  'controllerPublishSecretRef',
  'controllerExpandSecretRef',
  'nodePublishSecretRef',
  'nodeExpandSecretRef',
]

function checkPersistentCsi(report: Report, at: string, source: Part): void {
  checkDriverName(report, `${at}.driver`, textIn(source, 'driver'))
  if (textIn(source, 'volumeHandle') === '') report.required(`${at}.volumeHandle`)
  for (const secret of csiSecrets) {
    const ref = findPart(source, secret)
    if (!ref) continue
    const name = textIn(ref, 'name')
    const namespace = textIn(ref, 'namespace')
    if (name === '') report.required(`${at}.${secret}.name`)
    else report.subdomain(`${at}.${secret}.name`, name)
    if (namespace === '') report.required(`${at}.${secret}.namespace`)
    else report.label(`${at}.${secret}.namespace`, namespace)
  }
}
