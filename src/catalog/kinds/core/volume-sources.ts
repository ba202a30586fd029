/**
 * Where volumes of a pod come from, but for those that are made of several sources.
 * @see validateVolumeSource in pkg/apis/core/validation/validation.go of Kubernetes 1.36
 */
import { validateAnnotations, validateLabels } from '../../../kube/metadata.ts'
import { findPart, type Part, partIn, type Report, sameValue, textIn, textsIn } from '../report.ts'
import { checkDriverName } from '../storage.k8s.io/csi-driver.ts'
import { checkClaimSpec } from './claim-spec.ts'
import { checkNoBacksteps, checkRelativePath } from './paths.ts'
import { checkDownward, checkItems, checkMode, checkProjected } from './projected-volumes.ts'
import { amountOf } from './resource-requirements.ts'
import { checkFc, checkFlocker, checkIscsi, checkQuobyte } from './volume-servers.ts'

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

/** In the order in which upstream looks at them: the first one is the volume's. */
export const volumeSources: readonly string[] = (
  'emptyDir hostPath gitRepo gcePersistentDisk awsElasticBlockStore secret nfs iscsi glusterfs flocker ' +
  'persistentVolumeClaim rbd cinder cephfs quobyte downwardAPI fc flexVolume configMap azureFile vsphereVolume ' +
  'photonPersistentDisk portworxVolume azureDisk storageos projected scaleIO csi ephemeral image'
).split(' ')

/** Fields that can't be empty, of kinds with hardly more to them. */
const needed: Readonly<Record<string, readonly string[]>> = {
  azureFile: ['secretName', 'shareName'],
  cinder: ['volumeID'],
  configMap: ['name'],
  gitRepo: ['repository'],
  glusterfs: ['endpoints', 'path'],
  persistentVolumeClaim: ['claimName'],
  photonPersistentDisk: ['pdID'],
  portworxVolume: ['volumeID'],
  rbd: ['image'],
  scaleIO: ['gateway', 'system', 'volumeName'],
  secret: ['secretName'],
  vsphereVolume: ['volumePath'],
  awsElasticBlockStore: ['volumeID'],
  gcePersistentDisk: ['pdName'],
  nfs: ['server', 'path'],
  flexVolume: ['driver'],
  azureDisk: ['diskName', 'diskURI'],
}

/** `isPod`: templates may leave more open. */
export function checkSource(report: Report, at: string, kind: string, source: Part, isPod: boolean): void {
  // Upstream calls it otherwise here.
  const here = kind === 'gcePersistentDisk' ? at.replace(/gcePersistentDisk$/, 'persistentDisk') : at
  const requireList = (field: string): void => {
    if (textsIn(source, field).length === 0) report.required(`${here}.${field}`)
  }
  if (kind === 'rbd' || kind === 'cephfs') requireList('monitors')
  for (const field of needed[kind] ?? []) if (textIn(source, field) === '') report.required(`${here}.${field}`)
  switch (kind) {
    case 'hostPath':
      return checkHostPath(report, here, textIn(source, 'path'), source.type)
    case 'emptyDir':
      if ((amountOf(source.sizeLimit)?.nanos ?? 0n) < 0n) {
        report.forbidden(`${here}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')
      }
      return
    case 'gitRepo':
      return checkRelativePath(report, `${here}.directory`, textIn(source, 'directory'))
    case 'secret':
    case 'configMap':
      checkMode(report, here, 'defaultMode', source)
      return checkItems(report, here, source)
    case 'projected':
      return checkProjected(report, here, source)
    case 'downwardAPI':
      checkMode(report, here, 'defaultMode', source)
      return checkDownward(report, here, source)
    case 'gcePersistentDisk':
    case 'awsElasticBlockStore':
      return checkPartition(report, here, source.partition)
    case 'nfs':
      if (!textIn(source, 'path').startsWith('/')) {
        report.invalid(`${here}.path`, textIn(source, 'path'), 'must be an absolute path')
      }
      return
    case 'iscsi':
      return checkIscsi(report, here, source)
    case 'fc':
      return checkFc(report, here, source)
    case 'flocker':
      return checkFlocker(report, here, source)
    case 'quobyte':
      return checkQuobyte(report, here, source)
    case 'cinder':
      return checkSecretName(report, here, source)
    case 'flexVolume':
      return checkFlexOptions(report, `${here}.options`, partIn(source, 'options'))
    case 'azureDisk':
      return checkAzureDisk(report, here, source)
    case 'storageos':
      return checkStorageOs(report, here, source)
    case 'csi':
      return checkCsi(report, here, source)
    case 'image':
      if (isPod && textIn(source, 'reference') === '') report.required(`${here}.reference`)
      return report.oneOfIfSet(`${here}.pullPolicy`, source.pullPolicy, ['Always', 'IfNotPresent', 'Never'])
    case 'ephemeral':
      return checkEphemeral(report, `${here}.volumeClaimTemplate`, findPart(source, 'volumeClaimTemplate'))
  }
}

export function checkHostPath(report: Report, at: string, path: string, type: unknown): void {
  if (path === '') return report.required(`${at}.path`)
  checkNoBacksteps(report, `${at}.path`, path)
  report.oneOfIfSet(`${at}.type`, type, hostPathTypes)
}

export function checkPartition(report: Report, at: string, partition: unknown): void {
  if (typeof partition !== 'number' || (partition >= 0 && partition <= 255)) return
  report.invalid(`${at}.partition`, partition, 'must be between 1 and 255, inclusive')
}

export function checkSecretName(report: Report, at: string, source: Part): void {
  const ref = findPart(source, 'secretRef')
  if (ref && textIn(ref, 'name') === '') report.required(`${at}.secretRef.name`)
}

export function checkFlexOptions(report: Report, at: string, options: Part): void {
  for (const key of Object.keys(options).sort()) {
    const namespace = `.${key.split('/', 1)[0]?.toLowerCase()}`
    if (!namespace.endsWith('.kubernetes.io') && !namespace.endsWith('.k8s.io')) continue
    report.invalid(`${at}[${key}]`, key, 'kubernetes.io and k8s.io namespaces are reserved')
  }
}

const managedDisk = '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}'
const blobDisk = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd'

export function checkAzureDisk(report: Report, at: string, source: Part): void {
  report.oneOfIfSet(`${at}.cachingMode`, source.cachingMode, ['None', 'ReadOnly', 'ReadWrite'])
  const { kind } = source
  report.oneOfIfSet(`${at}.kind`, kind, ['Dedicated', 'Managed', 'Shared'])
  const uri = textIn(source, 'diskURI')
  if (typeof kind !== 'string') return
  if (kind === 'Managed') {
    if (!uri.startsWith('/subscriptions/')) report.notSupported(`${at}.diskURI`, uri, [managedDisk])
  } else if (!uri.startsWith('https://')) report.notSupported(`${at}.diskURI`, uri, [blobDisk])
}

export function checkStorageOs(report: Report, at: string, source: Part): void {
  const name = textIn(source, 'volumeName')
  if (name === '') report.required(`${at}.volumeName`)
  else report.label(`${at}.volumeName`, name)
  const namespace = textIn(source, 'volumeNamespace')
  if (namespace !== '') report.label(`${at}.volumeNamespace`, namespace)
  checkSecretName(report, at, source)
}

function checkCsi(report: Report, at: string, source: Part): void {
  checkDriverName(report, `${at}.driver`, textIn(source, 'driver'))
  const ref = findPart(source, 'nodePublishSecretRef')
  if (!ref) return
  const name = textIn(ref, 'name')
  if (name === '') report.required(`${at}.nodePublishSecretRef.name`)
  // Upstream leaves the reference out here.
  else report.subdomain(`${at}.name`, name)
}

/** All else of its metadata its controller gives. */
function checkEphemeral(report: Report, at: string, template: Part | undefined): void {
  if (!template) return report.required(at)
  const metadata = partIn(template, 'metadata')
  const { annotations, labels, ...others } = metadata as Record<string, Record<string, string> | undefined>
  report.add(validateAnnotations(annotations, `${at}.metadata.annotations`))
  report.add(validateLabels(labels, `${at}.metadata.labels`))
  for (const [field, value] of Object.entries(others)) {
    if (!sameValue(value, undefined)) report.forbidden(`${at}.metadata.${field}`, 'cannot be set')
  }
  checkClaimSpec(report, `${at}.spec`, partIn(template, 'spec'))
}
