/** @see ValidateNode and ValidateNodeUpdate in pkg/apis/core/validation of Kubernetes 1.36 */
import { isIPv6 } from 'node:net'
import { isStrictCidr } from '../../../kube/ip-address.ts'
import { isLabelValue, isQualifiedName } from '../../../kube/names.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { type Part, partIn, partsIn, type Report, sameValue, textIn, textsIn } from '../report.ts'
import { checkNotNegative, checkWhole, isExtended } from './resource-requirements.ts'

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

/** Of the whole object as of its status, as upstream. */
export function checkNode(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const [spec, status] = [partIn(next, 'spec'), partIn(next, 'status')]
  for (const field of ['capacity', 'allocatable']) checkAmounts(report, `status.${field}`, partIn(status, field))
  if (old === undefined) checkNetworks(report, textsIn(spec, 'podCIDRs'))
  else checkNodeUpdate(report, spec, status, partIn(old, 'spec'))
  checkTaints(report, partsIn(spec, 'taints'))
}

function checkAmounts(report: Report, at: string, amounts: Part): void {
  for (const name of Object.keys(amounts).sort()) {
    checkNotNegative(report, `${at}.${name}`, amounts[name])
    if (name === 'pods' || isExtended(name)) checkWhole(report, `${at}.${name}`, amounts[name])
  }
}

function checkNetworks(report: Report, networks: readonly string[]): void {
  networks.forEach((network, i) => {
    report.each(`spec.podCIDRs[${i}]`, network, isStrictCidr(network))
  })
  if (networks.length < 2) return
  const [first, second] = networks.map((network) => isIPv6(network.split('/', 1)[0] ?? ''))
  if (networks.length === 2 && first !== second) return
  report.invalid('spec.podCIDRs', networks, 'may specify no more than one CIDR for each IP family')
}

function checkNodeUpdate(report: Report, spec: Part, status: Part, before: Part): void {
  const addresses = partsIn(status, 'addresses')
  const seen = new Set<string>()
  addresses.forEach((address, i) => {
    const key = JSON.stringify([textIn(address, 'type'), textIn(address, 'address')])
    if (seen.has(key)) report.duplicate(`status.addresses[${i}]`, address)
    seen.add(key)
  })
  if (textsIn(before, 'podCIDRs').length > 0 && !sameValue(before.podCIDRs, spec.podCIDRs)) {
    report.forbidden('spec.podCIDRs', 'node updates may not change podCIDR except from "" to valid')
  }
  const provider = textIn(before, 'providerID')
  if (provider !== '' && provider !== textIn(spec, 'providerID')) {
    report.forbidden('spec.providerID', 'node updates may not change providerID except from "" to valid')
  }
}

/** They are a node's spec; upstream tells them as metadata. */
function checkTaints(report: Report, taints: readonly Part[]): void {
  const seen = new Set<string>()
  taints.forEach((taint, i) => {
    const at = `metadata.taints[${i}]`
    const [key, value, effect] = [textIn(taint, 'key'), textIn(taint, 'value'), textIn(taint, 'effect')]
    report.each(`${at}.key`, key, isQualifiedName(key))
    const faults = isLabelValue(value)
    if (faults.length > 0) report.invalid(`${at}.value`, value, faults.join(';'))
    report.requiredOneOf(`${at}.effect`, effect, effects)
    if (seen.has(`${effect}:${key}`)) {
      report.duplicate(at, taint, 'taints must be unique by key and effect pair')
    }
    seen.add(`${effect}:${key}`)
  })
}
