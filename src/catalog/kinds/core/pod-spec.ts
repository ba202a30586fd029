/**
 * The spec of a pod, alone or in a template: everything but its containers and volumes.
 * @see ValidatePodSpec in pkg/apis/core/validation/validation.go, pkg/apis/core/v1/{defaults,conversion}.go of
 *   Kubernetes 1.36
 */
import { isExactNumber } from '../../../kube/json-value.ts'
import { validateLabels } from '../../../kube/metadata.ts'
import { isDns1123Label, isDns1123Subdomain, isLabelValue, isQualifiedName } from '../../../kube/names.ts'
import { type DefaultRule, type DefaultRules, fillAbsent, fillUnset, isUnset } from '../default-rules.ts'
import { findPart, numberIn, type Part, partsIn, type Report, textIn } from '../report.ts'
import { checkAffinity, checkSpread } from './affinity.ts'
import { type ContainerRole, type ContainerScope, checkContainer } from './container.ts'
import { checkVolumesOfEnv } from './env.ts'
import { checkDns, checkHostNames } from './pod-dns.ts'
import { checkOs } from './pod-os.ts'
import { checkPodClaims, checkPodResources } from './pod-resources.ts'
import { checkContainerProfiles, checkHostUsers, checkPodContext, checkUnlessStored } from './pod-security.ts'
import { checkHostProcesses } from './pod-windows.ts'
import { checkResourceRequirements } from './resource-requirements.ts'
import { checkVolumes } from './volumes.ts'

const restartPolicies = ['Always', 'OnFailure', 'Never']
const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None']
const preemptionPolicies = ['PreemptLowerPriority', 'Never']
const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']
const int32Max = 2_147_483_647

/** `stored` is what the write replaces, `pod` the name of the pod: a template has none yet. */
export function checkPodSpec(report: Report, at: string, spec: Part, stored?: Part, pod?: string): void {
  checkUnlessStored(report, spec, stored, (own, part) => checkWhole(own, at, part, pod))
}

function checkWhole(report: Report, at: string, spec: Part, pod: string | undefined): void {
  const volumes = checkVolumes(report, `${at}.volumes`, partsIn(spec, 'volumes'), pod)
  const claims = checkPodClaims(report, `${at}.resourceClaims`, partsIn(spec, 'resourceClaims'))
  if (partsIn(spec, 'containers').length === 0) report.required(`${at}.containers`)
  const lasting = [...partsIn(spec, 'containers'), ...partsIn(spec, 'initContainers')]
  const scope: ContainerScope = {
    isPod: pod !== undefined,
    volumes,
    claims,
    restarts: textIn(spec, 'restartPolicy'),
    graceSeconds: numberIn(spec, 'terminationGracePeriodSeconds'),
    lasting: new Set(lasting.map((c) => textIn(c, 'name'))),
    names: new Set(),
  }
  for (const role of ['containers', 'initContainers', 'ephemeralContainers'] as const satisfies ContainerRole[]) {
    partsIn(spec, role).forEach((c, i) => {
      checkContainer(report, `${at}.${role}[${i}]`, c, role, scope)
    })
  }
  checkHostPorts(report, at, spec, scope.isPod)
  checkContainerProfiles(report, at, spec)
  checkPodResources(report, `${at}.resources`, spec, claims)
  report.requiredOneOf(`${at}.restartPolicy`, textIn(spec, 'restartPolicy'), restartPolicies)
  report.requiredOneOf(`${at}.dnsPolicy`, textIn(spec, 'dnsPolicy'), dnsPolicies)
  report.add(validateLabels(spec.nodeSelector as Record<string, string> | undefined, `${at}.nodeSelector`))
  checkPodContext(report, at, spec)
  checkAffinity(report, `${at}.affinity`, findPart(spec, 'affinity'))
  checkDns(report, `${at}.dnsConfig`, spec)
  checkGates(report, at, spec)
  checkSpread(report, `${at}.topologySpreadConstraints`, partsIn(spec, 'topologySpreadConstraints'))
  checkHostProcesses(report, at, spec)
  checkHostUsers(report, at, spec)
  checkNames(report, at, spec)
  checkDeadline(report, `${at}.activeDeadlineSeconds`, spec.activeDeadlineSeconds)
  checkTolerations(report, `${at}.tolerations`, partsIn(spec, 'tolerations'))
  checkHostNames(report, at, spec)
  const preemption = spec.preemptionPolicy
  if (typeof preemption === 'string') {
    report.requiredOneOf(`${at}.preemptionPolicy`, preemption, preemptionPolicies)
  }
  const overhead = findPart(spec, 'overhead')
  if (overhead) checkResourceRequirements(report, `${at}.overhead`, { limits: overhead })
  checkOs(report, at, spec)
  checkVolumesOfEnv(report, at, spec)
}

/** Exact numbers are beyond all bounds. */
function checkDeadline(report: Report, field: string, seconds: unknown): void {
  if (typeof seconds === 'number') report.int32AboveZero(field, seconds)
  else if (isExactNumber(seconds)) report.invalid(field, seconds, `must be between 1 and ${int32Max}, inclusive`)
}

/** Containers run side by side, so all of them together have a port of the host once; init containers one by one. */
function checkHostPorts(report: Report, at: string, spec: Part, isPod: boolean): void {
  const once = (field: string, port: Part, taken: Set<string>): void => {
    const number = numberIn(port, 'hostPort') ?? 0
    if (number !== 0) report.unique(field, `${textIn(port, 'protocol')}/${textIn(port, 'hostIP')}/${number}`, taken)
  }
  const taken = new Set<string>()
  partsIn(spec, 'containers').forEach((container, i) => {
    partsIn(container, 'ports').forEach((port, j) => {
      const field = `${at}.containers[${i}].ports[${j}].hostPort`
      once(field, port, taken)
      const hostPort = numberIn(port, 'hostPort') ?? 0
      if (spec.hostNetwork !== true || hostPort === port.containerPort || (!isPod && hostPort === 0)) return
      report.invalid(field, hostPort, 'must match `containerPort` when `hostNetwork` is true')
    })
  })
  for (const container of partsIn(spec, 'initContainers')) {
    const own = new Set<string>()
    // Upstream tells of all of them as the first.
    partsIn(container, 'ports').forEach((port, j) => once(`${at}.initContainers[0].ports[${j}].hostPort`, port, own))
  }
}

function checkGates(report: Report, at: string, spec: Part): void {
  partsIn(spec, 'readinessGates').forEach((gate, i) => {
    const type = textIn(gate, 'conditionType')
    report.each(`${at}.readinessGates[${i}].conditionType`, type, isQualifiedName(type))
  })
  const gates = new Set<string>()
  partsIn(spec, 'schedulingGates').forEach((gate, i) => {
    const name = textIn(gate, 'name')
    report.each(`${at}.schedulingGates[${i}]`, name, isQualifiedName(name))
    report.unique(`${at}.schedulingGates[${i}]`, name, gates)
  })
}

function checkNames(report: Report, at: string, spec: Part): void {
  for (const [field, rule] of [
    ['serviceAccountName', isDns1123Subdomain],
    ['nodeName', isDns1123Subdomain],
    ['priorityClassName', isDns1123Subdomain],
    ['runtimeClassName', isDns1123Subdomain],
    ['hostname', isDns1123Label],
    ['subdomain', isDns1123Label],
  ] as const) {
    const value = textIn(spec, field)
    if (value !== '') report.each(`${at}.${field}`, value, rule(value))
  }
  if (spec.runtimeClassName === '') report.subdomain(`${at}.runtimeClassName`, '')
}

export function checkTolerations(report: Report, at: string, tolerations: readonly Part[]): void {
  tolerations.forEach((t, i) => {
    const here = `${at}[${i}]`
    const key = textIn(t, 'key')
    const value = textIn(t, 'value')
    const operator = textIn(t, 'operator')
    const effect = textIn(t, 'effect')
    if (key !== '') report.each(`${here}.key`, key, isQualifiedName(key))
    else if (operator !== 'Exists') {
      report.invalid(
        `${here}.operator`,
        operator,
        'operator must be Exists when `key` is empty, which means "match all values and all keys"',
      )
    }
    if (t.tolerationSeconds !== undefined && effect !== 'NoExecute') {
      report.invalid(`${here}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")
    }
    if (operator === '' || operator === 'Equal') {
      const complaints = isLabelValue(value)
      if (complaints.length > 0) report.invalid(`${here}.operator`, value, complaints.join(';'))
    } else if (operator === 'Exists') {
      if (value !== '') report.invalid(`${here}.operator`, value, "value must be empty when `operator` is 'Exists'")
    } else {
      // Those that compare numbers are known, but of a feature that is off in 1.36.
      const compares = operator === 'Lt' || operator === 'Gt'
      report.notSupported(`${here}.operator`, operator, ['Equal', 'Exists', ...(compares ? ['Lt', 'Gt'] : [])])
    }
    if (effect !== '') report.oneOf(`${here}.effect`, effect, effects)
  })
}

/** Both names of the field are always shown. */
const serviceAccountAlias: DefaultRule = (spec) => {
  const name = isUnset(spec.serviceAccountName) ? spec.serviceAccount : spec.serviceAccountName
  if (isUnset(name)) return
  spec.serviceAccountName = name
  spec.serviceAccount = name
}

export const podSpecDefaults: DefaultRules = {
  'io.k8s.api.core.v1.PodSpec': [
    serviceAccountAlias,
    fillUnset({ restartPolicy: 'Always', dnsPolicy: 'ClusterFirst', schedulerName: 'default-scheduler' }),
    fillAbsent({ terminationGracePeriodSeconds: 30, securityContext: {} }),
  ],
}
