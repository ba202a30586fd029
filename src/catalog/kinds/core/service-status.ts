/**
 * Where a load balancer is reached: traffic is led there, so only a Service that has one may say so.
 * @see ValidateLoadBalancerStatus in pkg/apis/core/validation of Kubernetes 1.36
 */
import { isIP } from 'node:net'
import { isStrictIp } from '../../../kube/ip-address.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { type Part, partIn, partsIn, type Report, textIn } from '../report.ts'

const ipModes = ['Proxy', 'VIP']

const pointsOf = (service: KubeObject | undefined): readonly Part[] =>
  partsIn(partIn(partIn(service, 'status'), 'loadBalancer'), 'ingress')

export function checkServiceStatus(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const at = 'status.loadBalancer.ingress'
  const points = pointsOf(next)
  if (points.length > 0 && textIn(partIn(next, 'spec'), 'type') !== 'LoadBalancer') {
    return report.forbidden(at, "may only be used when `spec.type` is 'LoadBalancer'")
  }
  const stored = pointsOf(old).map((point) => textIn(point, 'ip'))
  points.forEach((point, i) => {
    checkPoint(report, `${at}[${i}]`, point, stored)
  })
}

function checkPoint(report: Report, at: string, point: Part, stored: readonly string[]): void {
  const [ip, hostname] = [textIn(point, 'ip'), textIn(point, 'hostname')]
  if (ip !== '' && !stored.includes(ip)) report.each(`${at}.ip`, ip, isStrictIp(ip))
  if (ip === '' && point.ipMode !== undefined) {
    report.forbidden(`${at}.ipMode`, 'may not be specified when `ip` is not set')
  } else report.oneOfIfSet(`${at}.ipMode`, point.ipMode, ipModes)
  if (hostname === '') return
  report.subdomain(`${at}.hostname`, hostname)
  if (isIP(hostname) !== 0) report.invalid(`${at}.hostname`, hostname, 'must be a DNS name, not an IP address')
}
