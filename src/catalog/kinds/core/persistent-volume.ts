/**
 * Volumes, claims and storage classes.
 * @see pkg/apis/core/validation, pkg/apis/storage/validation of Kubernetes 1.36
 */
import { validateLabelSelector } from '../../../kube/label-selector.ts'
import { isQualifiedName } from '../../../kube/names.ts'
import { compareQuantities } from '../../../kube/quantity.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { findPart, type Part, partIn, partsIn, type Report, sameValue, textIn, textsIn } from '../report.ts'
import { amountOf } from './resource-requirements.ts'

const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod']
const volumeModes = ['Block', 'Filesystem']
const reclaimPolicies = ['Delete', 'Recycle', 'Retain']
const bindingModes = ['Immediate', 'WaitForFirstConsumer']

function checkAccessModes(report: Report, spec: Part, detail?: string): void {
  const modes = textsIn(spec, 'accessModes')
  if (modes.length === 0) report.required('spec.accessModes', detail)
  for (const mode of modes) report.oneOf('spec.accessModes', mode, accessModes)
  if (modes.includes('ReadWriteOncePod') && modes.length > 1) {
    report.forbidden('spec.accessModes', 'may not use ReadWriteOncePod with other access modes')
  }
}

function checkStorage(report: Report, at: string, amounts: Part): void {
  const storage = amounts.storage
  if (storage === undefined) return report.required(`${at}[storage]`)
  const amount = amountOf(storage)
  if (amount && amount.nanos <= 0n) report.invalid(`${at}[storage]`, storage, 'must be greater than zero')
}

export function checkPersistentVolumeClaim(
  report: Report,
  next: KubeObject,
  old: KubeObject | undefined,
  subresource: string,
): void {
  if (subresource === 'status') return
  const spec = partIn(next, 'spec')
  checkAccessModes(report, spec, 'at least 1 access mode is required')
  report.add(validateLabelSelector(findPart(spec, 'selector'), 'spec.selector'))
  checkStorage(report, 'spec.resources', partIn(partIn(spec, 'resources'), 'requests'))
  const className = textIn(spec, 'storageClassName')
  if (className !== '') report.subdomain('spec.storageClassName', className)
  report.oneOfIfSet('spec.volumeMode', spec.volumeMode, volumeModes)
  if (old) checkClaimUpdate(report, spec, partIn(old, 'spec'), partIn(old, 'status'))
}

/** A volume may be given to a claim once; a bound claim may grow; nothing else changes. */
function checkClaimUpdate(report: Report, next: Part, old: Part, status: Part): void {
  const bound = textIn(status, 'phase') === 'Bound'
  const fixed = (spec: Part): Record<string, unknown> => {
    const copy: Record<string, unknown> = { ...spec }
    if (textIn(old, 'volumeName') === '') copy.volumeName = undefined
    if (bound) {
      copy.volumeAttributesClassName = undefined
      copy.resources = {
        ...partIn(spec, 'resources'),
        requests: { ...partIn(partIn(spec, 'resources'), 'requests'), storage: undefined },
      }
    }
    if (copy.storageClassName === undefined || old.storageClassName === undefined) copy.storageClassName = undefined
    return copy
  }
  const a = fixed(next)
  const b = fixed(old)
  const changed = [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((f) => !sameValue(a[f], b[f])).sort()
  if (changed.length > 0) {
    report.forbidden(
      'spec',
      'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound ' +
        `claims\nchanged: ${changed.join(', ')}`,
    )
  }
  const was = amountOf(partIn(partIn(old, 'resources'), 'requests').storage)
  const is = amountOf(partIn(partIn(next, 'resources'), 'requests').storage)
  const there = amountOf(partIn(status, 'capacity').storage)
  // Less than was asked for may be asked for, so that an expansion that failed can be taken back.
  if (was && is && there && compareQuantities(is, was) < 0 && compareQuantities(is, there) <= 0) {
    report.forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity')
  }
  report.immutable('volumeMode', next.volumeMode, old.volumeMode)
}

const volumeFields = new Set([
  'accessModes',
  'capacity',
  'claimRef',
  'mountOptions',
  'nodeAffinity',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'volumeAttributesClassName',
  'volumeMode',
])
const sourcesOf = (spec: Part): string[] =>
  Object.keys(spec).filter((f) => !volumeFields.has(f) && spec[f] !== undefined)

/** As Go prints a map. */
const sorted = (part: Part): Part => Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))

function checkCapacity(report: Report, field: string, value: unknown): void {
  const amount = amountOf(value)
  if (amount === undefined) return
  // Upstream counts in whole units here, rounded up, as everywhere.
  if (amount.nanos <= -1_000_000_000n) {
    report.invalid(field, Number(amount.nanos / 1_000_000_000n), 'must be a valid resource quantity')
  }
  if (amount.nanos <= 0n) report.invalid(field, value, 'must be greater than zero')
}

export function checkPersistentVolume(
  report: Report,
  next: KubeObject,
  old: KubeObject | undefined,
  subresource: string,
): void {
  if (subresource === 'status') return
  const spec = partIn(next, 'spec')
  checkAccessModes(report, spec)
  const capacity = partIn(spec, 'capacity')
  if (Object.keys(capacity).length === 0) report.required('spec.capacity')
  if (Object.keys(capacity).length > 1 || capacity.storage === undefined) {
    report.notSupported('spec.capacity', sorted(capacity), ['storage'])
  }
  for (const name of Object.keys(capacity).sort()) checkCapacity(report, `spec.capacity[${name}]`, capacity[name])
  report.oneOfIfSet('spec.persistentVolumeReclaimPolicy', spec.persistentVolumeReclaimPolicy, reclaimPolicies)
  report.oneOfIfSet('spec.volumeMode', spec.volumeMode, volumeModes)
  const className = textIn(spec, 'storageClassName')
  if (className !== '') report.subdomain('spec.storageClassName', className)
  const sources = sourcesOf(spec)
  if (sources.length === 0) report.required('spec', 'must specify a volume type')
  for (const extra of sources.slice(1)) report.forbidden(`spec.${extra}`, 'may not specify more than 1 volume type')
  if (!old) return
  const before = partIn(old, 'spec')
  const same = sources.length === sourcesOf(before).length && sources.every((s) => sameValue(spec[s], before[s]))
  if (!same) report.forbidden('spec.persistentvolumesource', 'spec.persistentvolumesource is immutable after creation')
  report.immutable('volumeMode', spec.volumeMode, before.volumeMode)
}

export function checkStorageClass(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const provisioner = textIn(next, 'provisioner')
  if (provisioner === '') report.required('provisioner')
  else report.each('provisioner', provisioner, isQualifiedName(provisioner.toLowerCase()))
  report.oneOf('reclaimPolicy', textIn(next, 'reclaimPolicy'), ['Delete', 'Retain'])
  report.oneOf('volumeBindingMode', textIn(next, 'volumeBindingMode'), bindingModes)
  for (const key of Object.keys(partIn(next, 'parameters'))) {
    if (key === '') report.invalid('parameters', key, 'field can not be empty.')
  }
  partsIn(next, 'allowedTopologies').forEach((term, i) => {
    if (partsIn(term, 'matchLabelExpressions').length === 0) return
    partsIn(term, 'matchLabelExpressions').forEach((e, j) => {
      if (textsIn(e, 'values').length === 0)
        report.required(`allowedTopologies[${i}].matchLabelExpressions[${j}].values`)
    })
  })
  if (!old) return
  for (const field of ['parameters', 'provisioner', 'reclaimPolicy']) {
    if (!sameValue(next[field], old[field])) report.forbidden(field, `updates to ${field} are forbidden.`)
  }
  report.immutable('volumeBindingMode', next.volumeBindingMode, old.volumeBindingMode)
}
