/**
 * What variables and files of a container may be told of their own pod.
 * @see validateObjectFieldSelector, validateContainerResourceFieldSelector in pkg/apis/core/validation/validation.go,
 *   ConvertDownwardAPIFieldLabel in pkg/apis/core/pods of Kubernetes 1.36
 */
import { isQualifiedName } from '../../../kube/names.ts'
import { printQuantity } from '../../../kube/quantity.ts'
import { type Part, type Report, textIn } from '../report.ts'
import { amountOf } from './resource-requirements.ts'

const always = ['metadata.name', 'metadata.namespace', 'metadata.uid']

export const fieldsOfVariables: readonly string[] = [
  ...always,
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]
export const fieldsOfFiles: readonly string[] = ['metadata.annotations', 'metadata.labels', ...always]

/** They have names, but are told to none. */
const others = ['spec.restartPolicy', 'spec.schedulerName', 'status.phase']
const known = new Set([...fieldsOfVariables, ...fieldsOfFiles, ...others])

export function checkOwnField(report: Report, at: string, ref: Part, supported: readonly string[]): void {
  const version = textIn(ref, 'apiVersion')
  const path = textIn(ref, 'fieldPath')
  if (path === '') return report.required(`${at}.fieldPath`)
  const [, map = '', key = ''] = /^(.+?)\['(.*)'\]$/s.exec(path) ?? []
  if (version === 'v1' && map === 'metadata.annotations')
    return report.each(at, key.toLowerCase(), isQualifiedName(key.toLowerCase()))
  if (version === 'v1' && map === 'metadata.labels') return report.each(at, key, isQualifiedName(key))
  // So did clients of old call it.
  const own = path === 'spec.host' ? 'spec.nodeName' : path
  const fault =
    version !== 'v1'
      ? `unsupported pod version: ${version}`
      : map !== ''
        ? `field label does not support subscript: ${path}`
        : `field label not supported: ${path}`
  if (version !== 'v1' || !known.has(own)) {
    return report.invalid(`${at}.fieldPath`, path, `error converting fieldPath: ${fault}`)
  }
  report.oneOf(`${at}.fieldPath`, own, supported)
}

const resources = ['cpu', 'ephemeral-storage', 'memory']
const ownAmounts = ['limits', 'requests'].flatMap((list) => resources.map((name) => `${list}.${name}`))
const sizes = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei']
const ofSizes = `values ${sizes.join(', ')} are supported with the`

/** `isFile`: files are of the whole pod, so they say whose amount they mean. */
export function checkOwnAmount(report: Report, at: string, ref: Part, isFile: boolean): void {
  const name = textIn(ref, 'resource')
  const [, of = ''] = /^(?:limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.*)$/s.exec(name) ?? []
  if (isFile && textIn(ref, 'containerName') === '') report.required(`${at}.containerName`)
  else if (name === '') report.required(`${at}.resource`)
  else if (of === '') report.notSupported(`${at}.resource`, name, ownAmounts)
  const divisor = amountOf(ref.divisor)
  if (!divisor || divisor.nanos === 0n || of === '') return
  const size = printQuantity(divisor)
  if (of === 'cpu') {
    if (size === '1' || size === '1m') return
    report.invalid(`${at}.divisor`, name, "only divisor's values 1m and 1 are supported with the cpu resource")
  } else if (!sizes.includes(size)) {
    const what = of === 'ephemeral-storage' ? 'local ephemeral storage' : of === 'memory' ? of : 'hugepages'
    report.invalid(`${at}.divisor`, name, `only divisor's ${ofSizes} ${what} resource`)
  }
}
