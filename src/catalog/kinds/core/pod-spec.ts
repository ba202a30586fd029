/**
 * The spec of a pod, alone or in a template: everything but its containers and volumes.
 * @see ValidatePodSpec in pkg/apis/core/validation/validation.go, pkg/apis/core/v1/{defaults,conversion}.go of
 *   Kubernetes 1.36
 */
import { validateLabelSelector } from '../../../kube/label-selector.ts'
import { validateLabels } from '../../../kube/metadata.ts'
import { isDns1123Label, isDns1123Subdomain, isLabelValue, isQualifiedName } from '../../../kube/names.ts'
import { checkIp } from '../addresses.ts'
import { type DefaultRule, type DefaultRules, fillAbsent, fillUnset, isUnset } from '../default-rules.ts'
import { findPart, numberIn, type Part, partIn, partsIn, type Report, textIn } from '../report.ts'
import { type ContainerRole, type ContainerScope, checkContainer } from './container.ts'
import { checkOs } from './pod-os.ts'
import { checkContainerProfiles, checkHostUsers, checkPodContext, checkUnlessStored } from './pod-security.ts'
import { checkResourceRequirements } from './resource-requirements.ts'
import { checkVolumes } from './volumes.ts'

const restartPolicies = ['Always', 'OnFailure', 'Never']
const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None']
const preemptionPolicies = ['PreemptLowerPriority', 'Never']
const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']
const spreadActions = ['DoNotSchedule', 'ScheduleAnyway']

/** `stored` is what the write replaces. */
export function checkPodSpec(report: Report, at: string, spec: Part, stored?: Part): void {
  checkUnlessStored(report, spec, stored, (own, part) => checkWhole(own, at, part))
}

function checkWhole(report: Report, at: string, spec: Part): void {
  const hostNetwork = spec.hostNetwork === true
  const scope: ContainerScope = {
    volumes: checkVolumes(report, `${at}.volumes`, partsIn(spec, 'volumes')),
    hostNetwork,
    names: new Set(),
    hostPorts: new Set(),
  }
  if (partsIn(spec, 'containers').length === 0) report.required(`${at}.containers`)
  for (const role of ['containers', 'initContainers', 'ephemeralContainers'] as const satisfies ContainerRole[]) {
    partsIn(spec, role).forEach((c, i) => {
      checkContainer(report, `${at}.${role}[${i}]`, c, role, scope)
    })
  }
  checkContainerProfiles(report, at, spec)
  report.requiredOneOf(`${at}.restartPolicy`, textIn(spec, 'restartPolicy'), restartPolicies)
  report.requiredOneOf(`${at}.dnsPolicy`, textIn(spec, 'dnsPolicy'), dnsPolicies)
  report.add(validateLabels(spec.nodeSelector as Record<string, string> | undefined, `${at}.nodeSelector`))
  checkNames(report, at, spec)
  checkPodContext(report, at, spec)
  const resources = findPart(spec, 'resources')
  if (resources) checkResourceRequirements(report, `${at}.resources`, resources)
  checkTolerations(report, `${at}.tolerations`, partsIn(spec, 'tolerations'))
  checkAffinity(report, `${at}.affinity`, findPart(spec, 'affinity'))
  checkSpread(report, `${at}.topologySpreadConstraints`, partsIn(spec, 'topologySpreadConstraints'))
  partsIn(spec, 'hostAliases').forEach((alias, i) => {
    checkIp(report, `${at}.hostAliases[${i}].ip`, textIn(alias, 'ip'))
    for (const name of (alias.hostnames as string[] | undefined) ?? [])
      report.subdomain(`${at}.hostAliases[${i}].hostnames`, name)
  })
  const deadline = numberIn(spec, 'activeDeadlineSeconds')
  if (deadline !== undefined) report.int32AboveZero(`${at}.activeDeadlineSeconds`, deadline)
  report.notNegative(spec, at, 'terminationGracePeriodSeconds')
  report.oneOfIfSet(`${at}.preemptionPolicy`, spec.preemptionPolicy, preemptionPolicies)
  const gates = new Set<string>()
  partsIn(spec, 'schedulingGates').forEach((gate, i) => {
    const name = textIn(gate, 'name')
    report.each(`${at}.schedulingGates[${i}]`, name, isQualifiedName(name))
    report.unique(`${at}.schedulingGates[${i}]`, name, gates)
  })
  checkHostUsers(report, at, spec)
  checkOs(report, at, spec)
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
}

function checkTolerations(report: Report, at: string, tolerations: readonly Part[]): void {
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
    if (operator === '' || operator === 'Equal') report.each(`${here}.operator`, value, isLabelValue(value))
    else if (operator === 'Exists') {
      if (value !== '') {
        // As Go prints its own form of a toleration.
        const shown = {
          Key: key,
          Operator: operator,
          Value: value,
          Effect: effect,
          TolerationSeconds: t.tolerationSeconds ?? null,
        }
        report.invalid(`${here}.operator`, shown, "value must be empty when `operator` is 'Exists'")
      }
    } else if (operator !== 'Lt' && operator !== 'Gt')
      report.notSupported(`${here}.operator`, operator, ['Equal', 'Exists'])
    if (effect !== '') report.oneOf(`${here}.effect`, effect, effects)
  })
}

const nodeOperators = ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt']

function checkNodeTerm(report: Report, at: string, term: Part): void {
  partsIn(term, 'matchExpressions').forEach((e, i) => {
    const here = `${at}.matchExpressions[${i}]`
    const operator = textIn(e, 'operator')
    const count = ((e.values as string[] | undefined) ?? []).length
    if (!nodeOperators.includes(operator)) report.invalid(`${here}.operator`, operator, 'not a valid selector operator')
    else if (operator === 'In' || operator === 'NotIn') {
      if (count === 0) report.required(`${here}.values`, "must be specified when `operator` is 'In' or 'NotIn'")
    } else if (operator === 'Gt' || operator === 'Lt') {
      if (count !== 1)
        report.required(`${here}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'")
    } else if (count > 0) {
      report.forbidden(`${here}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
    }
    const key = textIn(e, 'key')
    report.each(`${here}.key`, key, isQualifiedName(key))
  })
}

function checkPodTerm(report: Report, at: string, term: Part): void {
  report.add(validateLabelSelector(findPart(term, 'labelSelector'), `${at}.labelSelector`))
  report.add(validateLabelSelector(findPart(term, 'namespaceSelector'), `${at}.namespaceSelector`))
  const key = textIn(term, 'topologyKey')
  if (key === '') report.required(`${at}.topologyKey`, 'can not be empty')
  report.each(`${at}.topologyKey`, key, isQualifiedName(key))
}

const required = 'requiredDuringSchedulingIgnoredDuringExecution'
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution'

function checkWeight(report: Report, at: string, term: Part): void {
  const weight = numberIn(term, 'weight') ?? 0
  if (weight < 1 || weight > 100) report.invalid(`${at}.weight`, weight, 'must be in the range 1-100')
}

function checkAffinity(report: Report, at: string, affinity: Part | undefined): void {
  const node = findPart(affinity, 'nodeAffinity')
  const needed = findPart(node, required)
  if (needed) {
    const terms = partsIn(needed, 'nodeSelectorTerms')
    const field = `${at}.nodeAffinity.${required}.nodeSelectorTerms`
    if (terms.length === 0) report.required(field, 'must have at least one node selector term')
    terms.forEach((term, i) => checkNodeTerm(report, `${field}[${i}]`, term))
  }
  partsIn(node, preferred).forEach((term, i) => {
    const here = `${at}.nodeAffinity.${preferred}[${i}]`
    checkWeight(report, here, term)
    checkNodeTerm(report, `${here}.preference`, partIn(term, 'preference'))
  })
  for (const kind of ['podAffinity', 'podAntiAffinity']) {
    const pods = findPart(affinity, kind)
    partsIn(pods, required).forEach((term, i) => checkPodTerm(report, `${at}.${kind}.${required}[${i}]`, term))
    partsIn(pods, preferred).forEach((term, i) => {
      const here = `${at}.${kind}.${preferred}[${i}]`
      checkWeight(report, here, term)
      checkPodTerm(report, `${here}.podAffinityTerm`, partIn(term, 'podAffinityTerm'))
    })
  }
}

function checkSpread(report: Report, at: string, constraints: readonly Part[]): void {
  const seen = new Set<string>()
  constraints.forEach((c, i) => {
    const here = `${at}[${i}]`
    const skew = numberIn(c, 'maxSkew') ?? 0
    if (skew <= 0) report.invalid(`${here}.maxSkew`, skew, 'must be greater than zero')
    const key = textIn(c, 'topologyKey')
    if (key === '') report.required(`${here}.topologyKey`, 'can not be empty')
    else report.each(`${here}.topologyKey`, key, isQualifiedName(key))
    const action = textIn(c, 'whenUnsatisfiable')
    report.oneOf(`${here}.whenUnsatisfiable`, action, spreadActions)
    report.unique(`${here}.{topologyKey, whenUnsatisfiable}`, `{${key}, ${action}}`, seen)
    report.add(validateLabelSelector(findPart(c, 'labelSelector'), `${here}.labelSelector`))
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
