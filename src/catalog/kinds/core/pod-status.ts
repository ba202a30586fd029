/**
 * What the status of a pod may say. Addresses are where Endpoints lead to.
 * @see ValidatePodStatusUpdate in pkg/apis/core/validation of Kubernetes 1.36
 */
import { isIPv6 } from 'node:net'
import { isStrictIp } from '../../../kube/ip-address.ts'
import { isDns1123Subdomain, isQualifiedName } from '../../../kube/names.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { numberIn, type Part, partIn, partsIn, type Report, textIn } from '../report.ts'

const ownConditions = ['PodScheduled', 'Ready', 'Initialized']

export function checkPodStatus(report: Report, next: KubeObject, old: KubeObject): void {
  const [status, before] = [partIn(next, 'status'), partIn(old, 'status')]
  partsIn(status, 'conditions').forEach((condition, i) => {
    const at = `status.conditions[${i}]`
    checkGeneration(report, at, condition)
    const type = textIn(condition, 'type')
    if (!ownConditions.includes(type)) report.each(`${at}.Type`, type, isQualifiedName(type))
  })
  const nominated = textIn(status, 'nominatedNodeName')
  if (nominated !== '' && nominated !== textIn(before, 'nominatedNodeName')) {
    report.each('status.nominatedNodeName', nominated, isDns1123Subdomain(nominated))
  }
  checkGeneration(report, 'status', status)
  report.immutable('status.qosClass', status.qosClass, before.qosClass)
  checkAddresses(report, 'status.podIPs', podAddresses(status), podAddresses(before))
  const hosts = addressesIn(status, 'hostIPs')
  if (hosts.length > 0 && hosts[0] !== textIn(status, 'hostIP')) {
    report.invalid('status.hostIPs[0].ip', hosts[0], 'must be equal to `hostIP`')
  }
  checkAddresses(report, 'status.hostIPs', hosts, addressesIn(before, 'hostIPs'))
}

function checkGeneration(report: Report, at: string, part: Part): void {
  const generation = numberIn(part, 'observedGeneration')
  if (generation !== undefined && generation < 0) {
    report.invalid(`${at}.observedGeneration`, generation, 'must be a non-negative integer')
  }
}

const addressesIn = (status: Part, field: string): readonly string[] =>
  partsIn(status, field).map((entry) => textIn(entry, 'ip'))

/** Where the older field says something else it holds, as upstream. */
function podAddresses(status: Part): readonly string[] {
  const [one, all] = [textIn(status, 'podIP'), addressesIn(status, 'podIPs')]
  return one === '' || all[0] === one ? all : [one]
}

/** Addresses that are stored may stay. At most one of each family. */
function checkAddresses(report: Report, at: string, next: readonly string[], stored: readonly string[]): void {
  next.forEach((address, i) => {
    if (!stored.includes(address)) report.each(`${at}[${i}]`, address, isStrictIp(address))
  })
  if (next.length < 2) return
  if (next.length === 2 && isIPv6(next[0] as string) !== isIPv6(next[1] as string)) return
  const shown = next.map((ip) => ({ ip }))
  report.invalid(at, shown, 'may specify no more than one IP for each IP family')
}
