/**
 * Groups that say who may do what, and when: rbac, networking, admissionregistration, flowcontrol, scheduling.
 * @see defaults.go in pkg/apis/{rbac,networking,admissionregistration,flowcontrol,scheduling}/v1 of Kubernetes 1.36
 */
import {
  type DefaultRule,
  type DefaultRules,
  fillAbsent,
  fillUnset,
  findStruct,
  isUnset,
  structIn,
} from '../default-rules.ts'

const rbacGroup = 'rbac.authorization.k8s.io'

const subject: DefaultRule = (value) => {
  if (isUnset(value.apiGroup) && (value.kind === 'User' || value.kind === 'Group')) value.apiGroup = rbacGroup
}
const roleRef = fillUnset({ apiGroup: rbacGroup })

const policyTypes: DefaultRule = (spec) => {
  if (Array.isArray(spec.policyTypes) && spec.policyTypes.length > 0) return
  const egress = Array.isArray(spec.egress) && spec.egress.length > 0
  spec.policyTypes = egress ? ['Ingress', 'Egress'] : ['Ingress']
}

const webhook = fillAbsent({
  failurePolicy: 'Fail',
  matchPolicy: 'Equivalent',
  namespaceSelector: {},
  objectSelector: {},
  timeoutSeconds: 10,
})
const scope = [fillAbsent({ scope: '*' })]
const failurePolicy = [fillAbsent({ failurePolicy: 'Fail' })]

const parametersScope: DefaultRule = (spec) => {
  const parameters = findStruct(spec, 'parameters')
  if (parameters && parameters.scope === undefined) parameters.scope = 'Cluster'
}

export const policyGroupDefaults: DefaultRules = {
  'io.k8s.api.rbac.v1.Subject': [subject],
  'io.k8s.api.rbac.v1.RoleBinding': [(binding) => roleRef(structIn(binding, 'roleRef'))],
  'io.k8s.api.rbac.v1.ClusterRoleBinding': [(binding) => roleRef(structIn(binding, 'roleRef'))],
  'io.k8s.api.networking.v1.NetworkPolicySpec': [policyTypes],
  'io.k8s.api.networking.v1.NetworkPolicyPort': [fillAbsent({ protocol: 'TCP' })],
  'io.k8s.api.networking.v1.IngressClassSpec': [parametersScope],
  'io.k8s.api.admissionregistration.v1.ValidatingWebhook': [webhook],
  'io.k8s.api.admissionregistration.v1.MutatingWebhook': [webhook, fillAbsent({ reinvocationPolicy: 'Never' })],
  'io.k8s.api.admissionregistration.v1.RuleWithOperations': scope,
  'io.k8s.api.admissionregistration.v1.NamedRuleWithOperations': scope,
  'io.k8s.api.admissionregistration.v1.ServiceReference': [fillAbsent({ port: 443 })],
  'io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicySpec': failurePolicy,
  'io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicySpec': failurePolicy,
  'io.k8s.api.admissionregistration.v1.MatchResources': [
    fillAbsent({ matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} }),
  ],
  'io.k8s.api.flowcontrol.v1.FlowSchemaSpec': [fillUnset({ matchingPrecedence: 1000 })],
  'io.k8s.api.flowcontrol.v1.LimitedPriorityLevelConfiguration': [
    fillAbsent({ nominalConcurrencyShares: 30, lendablePercent: 0 }),
  ],
  'io.k8s.api.flowcontrol.v1.ExemptPriorityLevelConfiguration': [
    fillAbsent({ nominalConcurrencyShares: 0, lendablePercent: 0 }),
  ],
  'io.k8s.api.flowcontrol.v1.QueuingConfiguration': [fillUnset({ handSize: 8, queues: 64, queueLengthLimit: 50 })],
  'io.k8s.api.scheduling.v1.PriorityClass': [fillAbsent({ preemptionPolicy: 'PreemptLowerPriority' })],
}
