/**
 * What a claim asks for: as an object of its own, of each pod of a stateful set, or of one pod.
 * @see ValidatePersistentVolumeClaimSpec, validateDataSource, validateDataSourceRef in
 *   pkg/apis/core/validation/validation.go of Kubernetes 1.36
 */
import { validateLabelSelector } from '../../../kube/label-selector.ts'
import { isDns1123Label } from '../../../kube/names.ts'
import { findPart, type Part, partIn, type Report, textIn } from '../report.ts'
import { checkAccessModes, volumeModes } from './access-modes.ts'
import { amountOf } from './resource-requirements.ts'

/** `isOld`: groups that a claim was stored with were never looked at. */
export function checkClaimSpec(report: Report, at: string, spec: Part, isOld = false): void {
  checkAccessModes(report, `${at}.accessModes`, spec, 'at least 1 access mode is required')
  report.add(validateLabelSelector(findPart(spec, 'selector'), `${at}.selector`))
  checkStorage(report, `${at}.resources`, partIn(partIn(spec, 'resources'), 'requests'))
  for (const field of ['storageClassName', 'volumeAttributesClassName']) {
    const name = textIn(spec, field)
    if (name !== '') report.subdomain(`${at}.${field}`, name)
  }
  report.oneOfIfSet(`${at}.volumeMode`, spec.volumeMode, volumeModes)
  const source = findPart(spec, 'dataSource')
  const ref = findPart(spec, 'dataSourceRef')
  if (source) checkSource(report, `${at}.dataSource`, source, isOld)
  if (ref) checkSource(report, `${at}.dataSourceRef`, ref, isOld)
  const namespace = textIn(ref, 'namespace')
  if (namespace !== '') report.each(`${at}.dataSourceRef.namespace`, namespace, isDns1123Label(namespace))
  if (!source || !ref) return
  // Upstream shows a path here, of which JSON has nothing.
  if (namespace !== '') report.invalid(at, {}, 'may not be specified when dataSourceRef.namespace is specified')
  else if (['apiGroup', 'kind', 'name'].some((field) => source[field] !== ref[field])) {
    report.invalid(at, {}, 'must match dataSourceRef')
  }
}

const claims = 'PersistentVolumeClaim'
const snapshots = 'VolumeSnapshot'

/** One of the fields says what the other does, where it can. */
export function withBothSources(spec: Part): Part {
  const source = findPart(spec, 'dataSource')
  const ref = findPart(spec, 'dataSourceRef')
  if (source && !ref) return { ...spec, dataSourceRef: source }
  if (ref && !source && textIn(ref, 'namespace') === '') {
    const { namespace: _none, ...local } = ref
    return { ...spec, dataSource: local }
  }
  return spec
}

/**
 * Sources in another namespace are of a feature that is off in 1.36, and other kinds than claims and snapshots come by
 * the newer field alone: who asks for them otherwise is given an empty volume. What is in use stays.
 * @see DropDisabledFields, EnforceDataSourceBackwardsCompatibility in pkg/api/persistentvolumeclaim/util.go
 */
export function withKnownSources(spec: Part, stored: Part | undefined): Part {
  const before = findPart(stored, 'dataSourceRef')
  const { dataSource, dataSourceRef, ...rest } = spec
  const source = findPart(spec, 'dataSource')
  const isAway = textIn(findPart(spec, 'dataSourceRef'), 'namespace') !== '' && !before
  const hasRef = findPart(spec, 'dataSourceRef') !== undefined && !isAway
  const kind = textIn(source, 'kind')
  const group = textIn(source, 'apiGroup')
  const isKnown = (kind === claims && group === '') || (kind === snapshots && group === 'snapshot.storage.k8s.io')
  const staysSource = isKnown || hasRef || before !== undefined || findPart(stored, 'dataSource') !== undefined
  return withBothSources({
    ...rest,
    ...(source && staysSource ? { dataSource } : {}),
    ...(hasRef ? { dataSourceRef } : {}),
  })
}

function checkStorage(report: Report, at: string, amounts: Part): void {
  const storage = amounts.storage
  if (storage === undefined) return report.required(`${at}[storage]`)
  const amount = amountOf(storage)
  if (amount && amount.nanos <= 0n) report.invalid(`${at}[storage]`, storage, 'must be greater than zero')
}

function checkSource(report: Report, at: string, source: Part, isOld: boolean): void {
  for (const field of ['name', 'kind']) if (textIn(source, field) === '') report.required(`${at}.${field}`)
  const group = textIn(source, 'apiGroup')
  const kind = textIn(source, 'kind')
  if (group === '') {
    if (kind !== claims) {
      report.invalid(at, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup")
    }
  } else if (!isOld) report.subdomain(`${at}.apiGroup`, group)
}
