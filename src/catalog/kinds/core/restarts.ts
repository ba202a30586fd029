/**
 * When containers are started again, and whether a resize does so.
 * @see validateContainerRestartPolicy, validateInitContainerRestartPolicy, validateResizePolicy in
 *   pkg/apis/core/validation/validation.go of Kubernetes 1.36
 */
import { findPart, type Part, partsIn, type Report, textIn } from '../report.ts'

const policies = ['Always', 'Never', 'OnFailure']
const actions = ['Restart', 'RestartAllContainers']
const operators = ['In', 'NotIn']
const maxRules = 20
const maxExitCodes = 255
const resizable = ['cpu', 'memory']
const resizePolicies = ['NotRequired', 'RestartContainer']

/** Of all but ephemeral containers, which are never started again. */
export function checkRestarts(report: Report, at: string, container: Part): void {
  const rules = partsIn(container, 'restartPolicyRules')
  const policy = container.restartPolicy
  if (typeof policy === 'string') report.oneOf(`${at}.restartPolicy`, policy, policies)
  else if (rules.length > 0) {
    report.required(`${at}.restartPolicy`, 'must specify restartPolicy when restart rules are used')
  }
  if (rules.length > maxRules) report.tooMany(`${at}.restartPolicyRules`, rules.length, maxRules)
  rules.forEach((rule, i) => {
    const here = `${at}.restartPolicyRules[${i}]`
    report.oneOf(`${here}.action`, textIn(rule, 'action'), actions)
    const codes = findPart(rule, 'exitCodes')
    if (!codes) return report.required(`${here}.exitCodes`, 'must be specified')
    report.oneOf(`${here}.exitCodes.operator`, textIn(codes, 'operator'), operators)
    const count = Array.isArray(codes.values) ? codes.values.length : 0
    if (count > maxExitCodes) report.tooMany(`${here}.exitCodes.values`, count, maxExitCodes)
  })
}

/** `restarts` is the policy of the pod. */
export function checkResizes(report: Report, at: string, container: Part, restarts: string): void {
  const seen = new Set<string>()
  partsIn(container, 'resizePolicy').forEach((policy, i) => {
    const name = textIn(policy, 'resourceName')
    report.unique(`${at}.resizePolicy[${i}]`, name, seen)
    // Upstream leaves the index out of all that follows.
    report.requiredOneOf(`${at}.resizePolicy`, name, resizable)
    const what = textIn(policy, 'restartPolicy')
    report.requiredOneOf(`${at}.resizePolicy`, what, resizePolicies)
    if (restarts === 'Never' && what !== 'NotRequired') {
      report.invalid(`${at}.resizePolicy`, what, "must be 'NotRequired' when pod `restartPolicy` is 'Never'")
    }
  })
}

/** What runs before the pod, and is over then, is not there to be started again. */
export function checkResizesOfInit(report: Report, at: string, container: Part): void {
  if (textIn(container, 'restartPolicy') === 'Always') return
  partsIn(container, 'resizePolicy').forEach((policy, i) => {
    if (policy.restartPolicy !== 'RestartContainer') return
    const why = "must not be set to 'RestartContainer' for non-sidecar initContainers"
    report.invalid(`${at}.resizePolicy[${i}].restartPolicy`, 'RestartContainer', why)
  })
}
