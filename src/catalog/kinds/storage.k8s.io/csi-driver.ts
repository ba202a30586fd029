/**
 * Kinds about the platform: leases, runtime classes, API services, CSI.
 * @see the validation packages of the same groups in Kubernetes 1.36
 */
import { isDns1035Label, isDns1123Label, isDns1123Subdomain } from '../../../kube/names.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { findPart, numberIn, partIn, partsIn, type Report, sameValue, textIn } from '../report.ts'

export function checkLease(report: Report, next: KubeObject): void {
  const spec = partIn(next, 'spec')
  const seconds = numberIn(spec, 'leaseDurationSeconds')
  if (seconds !== undefined && seconds <= 0)
    report.invalid('spec.leaseDurationSeconds', seconds, 'must be greater than 0')
  report.notNegative(spec, 'spec', 'leaseTransitions')
}

export function checkRuntimeClass(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const handler = textIn(next, 'handler')
  if (old) report.immutable('handler', handler, old.handler)
  report.each('handler', handler, isDns1123Label(handler))
}

export function checkApiService(report: Report, next: KubeObject): void {
  const spec = partIn(next, 'spec')
  const group = textIn(spec, 'group')
  const version = textIn(spec, 'version')
  const wanted = `${version}.${group}`
  if (next.metadata.name !== wanted)
    report.invalid('metadata.name', next.metadata.name, `must be \`spec.version+"."+spec.group\`: "${wanted}"`)
  if (group !== '') report.subdomain('spec.group', group)
  report.each('spec.version', version, isDns1035Label(version))
  const service = findPart(spec, 'service')
  for (const [field, max] of [
    ['groupPriorityMinimum', 20_000],
    ['versionPriority', 1000],
  ] as const) {
    const value = numberIn(spec, field) ?? 0
    if (value <= 0 || value > max) report.invalid(`spec.${field}`, value, `must be positive and less than ${max}`)
  }
  if (!service) {
    const sizeBytes = Buffer.from(textIn(spec, 'caBundle'), 'base64').length
    if (sizeBytes > 0)
      report.invalid('spec.caBundle', `${sizeBytes} bytes`, 'local APIServices may not have a caBundle')
    if (spec.insecureSkipTLSVerify === true)
      report.invalid('spec.insecureSkipTLSVerify', true, 'local APIServices may not have insecureSkipTLSVerify')
    return
  }
  for (const field of ['namespace', 'name']) if (textIn(service, field) === '') report.required(`spec.service.${field}`)
  if (spec.insecureSkipTLSVerify === true && textIn(spec, 'caBundle') !== '') {
    report.invalid('spec.insecureSkipTLSVerify', true, 'may not be true if caBundle is present')
  }
}

const maxDriverNameBytes = 63

export function checkDriverName(report: Report, field: string, name: string): void {
  if (name === '') report.required(field)
  if (name.length > maxDriverNameBytes) report.tooLong(field, maxDriverNameBytes)
  report.each(field, name, isDns1123Subdomain(name.toLowerCase()))
}

export function checkCsiNode(report: Report, next: KubeObject): void {
  const names = new Set<string>()
  partsIn(partIn(next, 'spec'), 'drivers').forEach((driver, i) => {
    const at = `spec.drivers[${i}]`
    const name = textIn(driver, 'name')
    checkDriverName(report, `${at}.name`, name)
    if (name !== '') report.unique(`${at}.name`, name, names)
    if (textIn(driver, 'nodeID') === '') report.required(`${at}.nodeID`)
  })
}

export function checkCsiDriver(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const spec = partIn(next, 'spec')
  report.oneOfIfSet('spec.fsGroupPolicy', spec.fsGroupPolicy, ['File', 'None', 'ReadWriteOnceWithFSType'])
  if (!old) return
  const before = partIn(old, 'spec')
  // Upstream spells the field so.
  report.immutable('spec.attachedRequired', spec.attachRequired, before.attachRequired)
  report.immutable('spec.volumeLifecycleModes', spec.volumeLifecycleModes, before.volumeLifecycleModes)
}

export function checkVolumeAttachment(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const spec = partIn(next, 'spec')
  checkDriverName(report, 'spec.attacher', textIn(spec, 'attacher'))
  report.subdomain('spec.nodeName', textIn(spec, 'nodeName'))
  const source = partIn(spec, 'source')
  if (source.persistentVolumeName === undefined && source.inlineVolumeSpec === undefined) {
    report.required('spec.source', 'must specify exactly one of inlineVolumeSpec and persistentVolumeName')
  }
  if (old && !sameValue(spec, old.spec)) report.invalid('spec', spec, 'field is immutable')
}
