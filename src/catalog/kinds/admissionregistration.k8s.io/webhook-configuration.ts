/**
 * Configurations of admission webhooks, of both kinds.
 * @see pkg/apis/admissionregistration/{validation,v1/defaults.go} of Kubernetes 1.36
 */
import { inBatches, type Resumable } from '../../../base/resumable.ts'
import { matchConditionProblem } from '../../../cel/admission-expressions.ts'
import { compiledAtOnce } from '../../../cel/environment.ts'
import { validateLabelSelector } from '../../../kube/label-selector.ts'
import { isDns1035Label, isDns1123Subdomain, isQualifiedName } from '../../../kube/names.ts'
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { webhookAddressErrors } from '../../../kube/webhook-address.ts'
import type { Strategy } from '../../strategy.ts'
import { ageColumn, ageOf, column, nameColumn, nameOf } from '../cell-text.ts'
import { fillAbsent } from '../default-rules.ts'
import { listAt } from '../field-access.ts'
import { type BuiltInKind, validateWith } from '../kind.ts'
import { findPart, numberIn, type Part, partIn, partsIn, type Report, sameValue, textIn, textsIn } from '../report.ts'

/** Rules that are judged between two pauses. */
const rulesAtOnce = 200

const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']
const knownReviewVersions = ['v1', 'v1beta1']

function* checkWebhooks(
  report: Report,
  next: KubeObject,
  old: KubeObject | undefined,
  mutating: boolean,
): Resumable<void> {
  const names = new Set<string>()
  const oldHooks = partsIn(old, 'webhooks')
  for (const [i, hook] of partsIn(next, 'webhooks').entries()) {
    const at = `webhooks[${i}]`
    const name = textIn(hook, 'name')
    checkQualifiedDomain(report, `${at}.name`, name)
    yield* inBatches(partsIn(hook, 'rules'), rulesAtOnce, (rule, j) => checkRule(report, `${at}.rules[${j}]`, rule))
    report.oneOfIfSet(`${at}.failurePolicy`, hook.failurePolicy, ['Fail', 'Ignore'])
    report.oneOfIfSet(`${at}.matchPolicy`, hook.matchPolicy, ['Equivalent', 'Exact'])
    if (hook.sideEffects === undefined) report.required(`${at}.sideEffects`, 'must specify one of None, NoneOnDryRun')
    else report.oneOf(`${at}.sideEffects`, textIn(hook, 'sideEffects'), ['None', 'NoneOnDryRun'])
    const timeout = numberIn(hook, 'timeoutSeconds')
    if (timeout !== undefined && (timeout < 1 || timeout > 30)) {
      report.invalid(`${at}.timeoutSeconds`, timeout, 'the timeout value must be between 1 and 30 seconds')
    }
    report.add(validateLabelSelector(findPart(hook, 'namespaceSelector'), `${at}.namespaceSelector`))
    report.add(validateLabelSelector(findPart(hook, 'objectSelector'), `${at}.objectSelector`))
    if (mutating) report.oneOfIfSet(`${at}.reinvocationPolicy`, hook.reinvocationPolicy, ['IfNeeded', 'Never'])
    report.add(webhookAddressErrors(`${at}.clientConfig`, partIn(hook, 'clientConfig')))
    const before = unchangedConditions(hook, oldHooks[i])
    if (!before) yield* checkConditions(report, `${at}.matchConditions`, partsIn(hook, 'matchConditions'))
    checkReviewVersions(report, `${at}.admissionReviewVersions`, textsIn(hook, 'admissionReviewVersions'))
    if (name !== '') report.unique(`${at}.name`, name, names)
    yield
  }
}

/** What was accepted once is not judged again. */
const unchangedConditions = (hook: Part, old: Part | undefined): boolean =>
  old !== undefined && sameValue(hook.matchConditions, old.matchConditions)

const maxConditions = 64

export function* checkConditions(
  report: Report,
  field: string,
  conditions: readonly Part[],
  hasParams = false,
): Resumable<void> {
  if (conditions.length > maxConditions) report.tooMany(field, conditions.length, maxConditions)
  const names = new Set<string>()
  yield* inBatches(conditions, compiledAtOnce, (condition, i) => {
    const at = `${field}[${i}]`
    const expression = textIn(condition, 'expression').trim()
    const name = textIn(condition, 'name')
    if (expression === '') report.required(`${at}.expression`)
    else {
      const problem = matchConditionProblem(expression, hasParams)
      if (problem !== undefined) report.invalid(`${at}.expression`, expression, problem)
    }
    if (name === '') return report.required(`${at}.name`)
    report.each(`${at}.name`, name, isQualifiedName(name))
    report.unique(`${at}.name`, name, names)
  })
}

function checkReviewVersions(report: Report, field: string, versions: readonly string[]): void {
  if (versions.length === 0) return report.required(field, 'must specify one of v1, v1beta1')
  const seen = new Set<string>()
  versions.forEach((version, i) => {
    if (seen.has(version)) return report.invalid(`${field}[${i}]`, version, 'duplicate version')
    seen.add(version)
    report.each(`${field}[${i}]`, version, isDns1035Label(version))
  })
  if (!versions.some((v) => knownReviewVersions.includes(v))) {
    report.invalid(field, versions, 'must include at least one of v1, v1beta1')
  }
}

function checkQualifiedDomain(report: Report, field: string, name: string): void {
  if (name === '') return report.required(field)
  const errors = isDns1123Subdomain(name)
  if (errors.length > 0) return report.invalid(field, name, errors.join(','))
  if (name.split('.').length < 3) {
    report.invalid(field, name, 'should be a domain with at least three segments separated by dots')
  }
}

export function checkRule(report: Report, at: string, rule: Part): void {
  const given = textsIn(rule, 'operations')
  checkWildcard(report, `${at}.operations`, given, 'operations')
  given.forEach((operation, i) => report.oneOf(`${at}.operations[${i}]`, operation, operations))
  checkWildcard(report, `${at}.apiGroups`, textsIn(rule, 'apiGroups'), 'API groups')
  const versions = textsIn(rule, 'apiVersions')
  checkWildcard(report, `${at}.apiVersions`, versions, 'API versions')
  versions.forEach((version, i) => {
    if (version === '') report.required(`${at}.apiVersions[${i}]`)
  })
  checkResources(report, `${at}.resources`, textsIn(rule, 'resources'))
  report.oneOfIfSet(`${at}.scope`, rule.scope, ['*', 'Cluster', 'Namespaced'])
}

function checkWildcard(report: Report, field: string, values: readonly string[], what: string): void {
  if (values.length === 0) report.required(field)
  if (values.length > 1 && values.includes('*')) {
    report.invalid(field, values, `if '*' is present, must not specify other ${what}`)
  }
}

/** `pods`, `pods/log`, `pods/*`, … : what one of them covers, no later one may name again. */
function checkResources(report: Report, field: string, resources: readonly string[]): void {
  if (resources.length === 0) report.required(field)
  const withAllSubresources = new Set<string>()
  const ofAllResources = new Set<string>()
  let namesPlainResource = false
  resources.forEach((text, i) => {
    if (text === '') return report.required(`${field}[${i}]`)
    const slash = text.indexOf('/')
    if (slash < 0) {
      namesPlainResource = text !== '*'
      return
    }
    const [resource, subresource] = [text.slice(0, slash), text.slice(slash + 1)]
    if (withAllSubresources.has(resource)) {
      report.invalid(`${field}[${i}]`, text, `if '${resource}/*' is present, must not specify ${text}`)
    }
    if (ofAllResources.has(subresource)) {
      report.invalid(`${field}[${i}]`, text, `if '*/${subresource}' is present, must not specify ${text}`)
    }
    if (subresource === '*') withAllSubresources.add(resource)
    if (resource === '*') ofAllResources.add(subresource)
  })
  if (resources.length > 1 && resources.includes('*/*')) {
    report.invalid(field, resources, "if '*/*' is present, must not specify other resources")
  }
  if (resources.includes('*') && namesPlainResource) {
    report.invalid(field, resources, "if '*' is present, must not specify other resources without subresources")
  }
}

const webhook = fillAbsent({
  failurePolicy: 'Fail',
  matchPolicy: 'Equivalent',
  namespaceSelector: {},
  objectSelector: {},
  timeoutSeconds: 10,
})

/** Validating and mutating webhook configurations. */
const columns: TableColumns = {
  definitions: [nameColumn, column('Webhooks', 'integer', 'How many webhooks it registers.'), ageColumn],
  cells: (o, now) => [nameOf(o), listAt(o, 'webhooks').length, ageOf(o, now)],
}

const facts: Strategy = {
  unconditionalUpdate: false,
  tracksGeneration: true,
  generationCounts: ({ webhooks }) => webhooks,
}

export const mutatingWebhookConfiguration: BuiltInKind = {
  categories: ['api-extensions'],
  strategy: { ...facts, validate: validateWith((report, next, old) => checkWebhooks(report, next, old, true)) },
  defaults: {
    'io.k8s.api.admissionregistration.v1.MutatingWebhook': [webhook, fillAbsent({ reinvocationPolicy: 'Never' })],
    'io.k8s.api.admissionregistration.v1.RuleWithOperations': [fillAbsent({ scope: '*' })],
    'io.k8s.api.admissionregistration.v1.ServiceReference': [fillAbsent({ port: 443 })],
  },
  columns,
}

export const validatingWebhookConfiguration: BuiltInKind = {
  categories: ['api-extensions'],
  strategy: { ...facts, validate: validateWith((report, next, old) => checkWebhooks(report, next, old, false)) },
  defaults: { 'io.k8s.api.admissionregistration.v1.ValidatingWebhook': [webhook] },
  columns,
}
