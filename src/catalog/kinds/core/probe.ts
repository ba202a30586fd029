/** Probes and lifecycle handlers. @see ValidateProbe, validateHandler in pkg/apis/core/validation of Kubernetes 1.36 */
import { isExactNumber } from '../../../kube/json-value.ts'
import { type DefaultRules, fillAbsent, fillUnset } from '../default-rules.ts'
import { findPart, numberIn, type Part, partIn, partsIn, type Report, textIn, textsIn } from '../report.ts'

const httpSchemes = ['HTTP', 'HTTPS']
const handlers = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const

function checkHandler(report: Report, at: string, handler: Part, graceSeconds?: number): void {
  const given = handlers.filter((h) => handler[h] !== undefined)
  given.forEach((h, i) => {
    if (i > 0) report.forbidden(`${at}.${h}`, 'may not specify more than 1 handler type')
    else checkOneHandler(report, `${at}.${h}`, h, partIn(handler, h), graceSeconds)
  })
  if (given.length === 0) report.required(at, 'must specify a handler type')
}

function checkOneHandler(
  report: Report,
  at: string,
  kind: (typeof handlers)[number],
  part: Part,
  graceSeconds: number | undefined,
): void {
  switch (kind) {
    case 'exec':
      if (textsIn(part, 'command').length === 0) report.required(`${at}.command`)
      break
    case 'httpGet':
      report.portOrName(`${at}.port`, part.port)
      report.oneOf(`${at}.scheme`, textIn(part, 'scheme'), httpSchemes)
      for (const header of partsIn(part, 'httpHeaders')) {
        const name = textIn(header, 'name')
        if (!/^[-A-Za-z0-9]+$/.test(name)) {
          report.invalid(
            `${at}.httpHeaders`,
            name,
            `a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex ` +
              `used for validation is '[-A-Za-z0-9]+')`,
          )
        }
      }
      break
    case 'tcpSocket':
      report.portOrName(`${at}.port`, part.port)
      break
    case 'grpc':
      report.port(`${at}.port`, part.port)
      break
    case 'sleep':
      checkSleep(report, at, part.seconds, graceSeconds)
  }
}

/** Exact numbers are beyond all that a pod is given. */
function checkSleep(report: Report, at: string, seconds: unknown, graceSeconds: number | undefined): void {
  const fits = typeof seconds === 'number' ? seconds >= 0 && seconds <= (graceSeconds ?? 0) : !isExactNumber(seconds)
  if (graceSeconds === undefined || fits) return
  report.invalid(at, seconds, `must be non-negative and less than terminationGracePeriodSeconds (${graceSeconds})`)
}

export function checkProbe(
  report: Report,
  at: string,
  probe: Part | undefined,
  kind: 'livenessProbe' | 'readinessProbe' | 'startupProbe',
): void {
  if (!probe) return
  checkHandler(report, at, probe)
  report.notNegative(
    probe,
    at,
    'initialDelaySeconds',
    'timeoutSeconds',
    'periodSeconds',
    'successThreshold',
    'failureThreshold',
  )
  const grace = numberIn(probe, 'terminationGracePeriodSeconds')
  if (grace !== undefined) {
    const field = `${at}.terminationGracePeriodSeconds`
    if (grace <= 0) report.invalid(field, grace, 'must be greater than 0')
    if (kind === 'readinessProbe') report.invalid(field, grace, 'must not be set for readinessProbes')
  }
  const threshold = numberIn(probe, 'successThreshold')
  if (kind !== 'readinessProbe' && threshold !== undefined && threshold !== 1) {
    report.invalid(`${at}.successThreshold`, threshold, 'must be 1')
  }
}

export function checkLifecycle(
  report: Report,
  at: string,
  lifecycle: Part | undefined,
  graceSeconds: number | undefined,
): void {
  for (const hook of ['postStart', 'preStop']) {
    const handler = findPart(lifecycle, hook)
    if (handler) checkHandler(report, `${at}.${hook}`, handler, graceSeconds)
  }
}

export const probeDefaults: DefaultRules = {
  'io.k8s.api.core.v1.Probe': [
    fillUnset({ timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 }),
  ],
  'io.k8s.api.core.v1.HTTPGetAction': [fillUnset({ path: '/', scheme: 'HTTP' })],
  'io.k8s.api.core.v1.GRPCAction': [fillAbsent({ service: '' })],
}
