/**
 * What a claim's status may say of its volume: quota goes by what is allocated.
 * @see ValidatePersistentVolumeClaimStatusUpdate in pkg/apis/core/validation of Kubernetes 1.36
 */
import { isQualifiedName } from '../../../kube/names.ts'
import { wholeValue } from '../../../kube/quantity.ts'
import { type Part, partIn, type Report } from '../report.ts'
import { amountOf } from './resource-requirements.ts'

const resizeStatuses = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
]

export function checkClaimStatus(report: Report, status: Part): void {
  const capacity = partIn(status, 'capacity')
  for (const name of Object.keys(capacity).sort()) checkAmount(report, `status.capacity[${name}]`, capacity[name])
  const resizing = partIn(status, 'allocatedResourceStatuses')
  for (const name of Object.keys(resizing).sort()) {
    const at = 'status.allocatedResourceStatuses'
    hasClaimResource(report, at, name)
    // As upstream, which tells the key and not the value.
    if (!resizeStatuses.includes(String(resizing[name]))) report.notSupported(at, name, resizeStatuses)
  }
  const allocated = partIn(status, 'allocatedResources')
  for (const name of Object.keys(allocated).sort()) {
    const at = 'status.allocatedResources'
    if (hasClaimResource(report, at, name)) checkAmount(report, `${at}[${name}]`, allocated[name])
  }
}

/** Kubernetes' own have one name; a driver's are qualified. */
function hasClaimResource(report: Report, at: string, name: string): boolean {
  const faults = isQualifiedName(name)
  report.each(at, name, faults)
  if (faults.length > 0) return false
  if ((name.includes('/') && !name.includes('kubernetes.io/')) || name === 'storage') return true
  report.notSupported(at, name, ['storage'])
  return false
}

function checkAmount(report: Report, field: string, value: unknown): void {
  const amount = amountOf(value)
  if (amount === undefined || amount.nanos >= 0n) return
  report.invalid(field, Number(wholeValue(amount)), 'must be a valid resource quantity')
}
