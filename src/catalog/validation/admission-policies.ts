/**
 * ValidatingAdmissionPolicy and its binding: form, and whether the expressions compile.
 * @see pkg/apis/admissionregistration/validation/validation.go of Kubernetes 1.36
 */
import { compileExpression } from '../../kube/cel/admission-expressions.ts'
import {
  annotationTypes,
  messageTypes,
  type PolicyEnvironment,
  policyEnvironment,
  validationTypes,
} from '../../kube/cel/policy-expressions.ts'
import { validateLabelSelector } from '../../kube/label-selector.ts'
import { isDns1035Label, isDns1123Subdomain, isPathSegment, isQualifiedName } from '../../kube/names.ts'
import type { KubeObject } from '../../kube/types.ts'
import { findPart, type Part, partIn, partsIn, type Report, sameValue, textIn, textsIn } from './report.ts'
import { checkConditions, checkRule } from './webhooks.ts'

const maxAnnotations = 20
const maxValueExpressionBytes = 5 * 1024
const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge', 'Unauthorized']
const identifier = /^[_a-zA-Z][_a-zA-Z0-9]*$/
const reserved =
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  )
const needsOne = 'validations or auditAnnotations must contain at least one item'

const hasNewline = (text: string): boolean => /[\n\r]/.test(text)

export function checkAdmissionPolicy(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const spec = partIn(next, 'spec')
  const before = partIn(old, 'spec')
  report.requiredOneOf('spec.failurePolicy', textIn(spec, 'failurePolicy'), ['Fail', 'Ignore'])
  const paramKind = findPart(spec, 'paramKind')
  const hasParams = paramKind !== undefined
  if (paramKind) checkParamKind(report, paramKind)
  const constraints = findPart(spec, 'matchConstraints')
  if (!constraints) report.required('spec.matchConstraints')
  else {
    checkMatchResources(report, 'spec.matchConstraints', constraints)
    if (partsIn(constraints, 'resourceRules').length === 0) report.required('spec.matchConstraints.resourceRules')
  }
  const isSame = old !== undefined && ['paramKind', 'matchConditions'].every((f) => sameValue(spec[f], before[f]))
  if (!isSame) checkConditions(report, 'spec.matchConditions', partsIn(spec, 'matchConditions'), hasParams)
  const environment = checkVariables(report, partsIn(spec, 'variables'), hasParams)
  const validations = partsIn(spec, 'validations')
  const annotations = partsIn(spec, 'auditAnnotations')
  if (validations.length === 0 && annotations.length === 0) {
    report.required('spec.validations', needsOne)
    report.required('spec.auditAnnotations', needsOne)
  }
  validations.forEach((v, i) => checkValidation(report, `spec.validations[${i}]`, v, environment))
  checkAnnotations(report, annotations, next.metadata.name ?? '', environment)
}

function checkParamKind(report: Report, paramKind: Part): void {
  const at = 'spec.paramKind'
  const apiVersion = textIn(paramKind, 'apiVersion')
  const parts = apiVersion.split('/')
  const [group, version] = parts.length === 1 ? ['', apiVersion] : [parts[0] ?? '', parts[1] ?? '']
  if (apiVersion === '') report.required(`${at}.apiVersion`)
  else if (parts.length > 2) {
    report.invalid(`${at}.apiVersion`, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)
  } else {
    const faults = group === '' ? [] : isDns1123Subdomain(group)
    if (faults.length > 0) report.invalid(`${at}.apiVersion`, group, faults.join(','))
    const versionFaults = isDns1035Label(version)
    if (version === '') report.invalid(`${at}.apiVersion`, apiVersion, 'version must be specified')
    else if (versionFaults.length > 0) report.invalid(`${at}.apiVersion`, version, versionFaults.join(','))
  }
  const kind = textIn(paramKind, 'kind')
  const kindFaults = isDns1035Label(kind.toLowerCase())
  if (kind === '') report.required(`${at}.kind`)
  else if (kindFaults.length > 0) {
    report.invalid(`${at}.kind`, kind, `may have mixed case, but should otherwise match: ${kindFaults.join(',')}`)
  }
}

function checkMatchResources(report: Report, at: string, match: Part): void {
  report.requiredOneOf(`${at}.matchPolicy`, textIn(match, 'matchPolicy'), ['Equivalent', 'Exact'])
  for (const field of ['namespaceSelector', 'objectSelector']) {
    const selector = findPart(match, field)
    if (!selector) report.required(`${at}.${field}`)
    else report.add(validateLabelSelector(selector, `${at}.${field}`))
  }
  for (const field of ['resourceRules', 'excludeResourceRules']) {
    partsIn(match, field).forEach((rule, i) => {
      const names = new Set<string>()
      textsIn(rule, 'resourceNames').forEach((name, j) => {
        report.each(`${at}.${field}[${i}].resourceNames[${j}]`, name, isPathSegment(name))
        report.unique(`${at}.${field}[${i}].resourceNames[${j}]`, name, names)
      })
      checkRule(report, `${at}.${field}[${i}]`, rule)
    })
  }
}

function checkVariables(report: Report, variables: readonly Part[], hasParams: boolean): PolicyEnvironment {
  const given = variables.map((v) => ({ name: textIn(v, 'name'), expression: textIn(v, 'expression') }))
  const environment = policyEnvironment(given, { params: hasParams })
  given.forEach(({ name, expression }, i) => {
    const at = `spec.variables[${i}]`
    if (name.trim() === '') report.required(`${at}.name`, 'name is not specified')
    else if (!identifier.test(name) || reserved.includes(name)) {
      report.invalid(`${at}.name`, name, 'name is not a valid CEL identifier')
    }
    if (expression.trim() === '') report.required(`${at}.expression`, 'expression is not specified')
    else {
      const problem = environment.compiled.get(name)?.problem
      if (problem !== undefined) report.invalid(`${at}.expression`, expression, problem)
    }
  })
  return environment
}

function checkValidation(report: Report, at: string, validation: Part, environment: PolicyEnvironment): void {
  const [expression, message, messageExpression] = ['expression', 'message', 'messageExpression'].map((f) =>
    textIn(validation, f),
  ) as [string, string, string]
  if (expression.trim() === '') report.required(`${at}.expression`, 'expression is not specified')
  else {
    const { problem } = compileExpression(expression, environment.variables, validationTypes)
    if (problem !== undefined) report.invalid(`${at}.expression`, expression, problem)
  }
  if (messageExpression !== '' && messageExpression.trim() === '') {
    report.invalid(`${at}.messageExpression`, messageExpression, 'must be non-empty if specified')
  } else if (messageExpression !== '') {
    const { problem } = compileExpression(messageExpression, environment.messageVariables, messageTypes)
    if (problem !== undefined) report.invalid(`${at}.messageExpression`, messageExpression, problem)
  }
  if (message !== '' && message.trim() === '') {
    report.invalid(`${at}.message`, message, 'message must be non-empty if specified')
  } else if (hasNewline(message.trim())) {
    report.invalid(`${at}.message`, message, 'message must not contain line breaks')
  }
  report.oneOfIfSet(`${at}.reason`, validation.reason, reasons)
}

function checkAnnotations(
  report: Report,
  annotations: readonly Part[],
  policy: string,
  environment: PolicyEnvironment,
): void {
  if (annotations.length > maxAnnotations) {
    report.invalid('spec.auditAnnotations', annotations, `must not have more than ${maxAnnotations} auditAnnotations`)
  }
  const keys = new Set<string>()
  annotations.forEach((annotation, i) => {
    const at = `spec.auditAnnotations[${i}]`
    const key = textIn(annotation, 'key')
    const name = `${policy}/${key}`
    if (policy === '') report.invalid(`${at}.key`, key, 'requires metadata.name be non-empty')
    else report.each(`${at}.key`, name, isQualifiedName(name))
    const expression = textIn(annotation, 'valueExpression')
    const trimmed = expression.trim()
    const field = `${at}.valueExpression`
    if (trimmed === '') report.required(field, 'valueExpression is not specified')
    else if (Buffer.byteLength(trimmed) > maxValueExpressionBytes) {
      report.required(field, `must not exceed ${maxValueExpressionBytes} bytes in length`)
    } else {
      const { problem } = compileExpression(trimmed, environment.variables, annotationTypes)
      if (problem !== undefined) report.invalid(field, expression, problem)
    }
    report.unique(`${at}.key`, key, keys)
  })
}

const actions = ['Audit', 'Deny', 'Warn']

export function checkPolicyBinding(report: Report, next: KubeObject): void {
  const spec = partIn(next, 'spec')
  report.reference('spec.policyName', textIn(spec, 'policyName'))
  const paramRef = findPart(spec, 'paramRef')
  if (paramRef) checkParamRef(report, paramRef)
  const match = findPart(spec, 'matchResources')
  // Upstream spells the field so.
  if (match) checkMatchResources(report, 'spec.matchResouces', match)
  const given = textsIn(spec, 'validationActions')
  const field = 'spec.validationActions'
  const seen = new Set<string>()
  given.forEach((action, i) => {
    report.oneOf(`${field}[${i}]`, action, actions)
    report.unique(`${field}[${i}]`, action, seen)
  })
  if (seen.has('Deny') && seen.has('Warn')) {
    const detail =
      'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)'
    report.invalid(field, given, detail)
  }
  if (seen.size === 0) report.required(field, 'at least one validation action is required')
}

function checkParamRef(report: Report, paramRef: Part): void {
  const at = 'spec.paramRef'
  const name = textIn(paramRef, 'name')
  const selector = findPart(paramRef, 'selector')
  const exclusive = 'name and selector are mutually exclusive'
  if (name !== '') {
    report.each(`${at}.name`, name, isPathSegment(name))
    if (selector) report.forbidden(`${at}.name`, exclusive)
  }
  if (selector) {
    report.add(validateLabelSelector(selector, `${at}.selector`))
    if (name !== '') report.forbidden(`${at}.selector`, exclusive)
  }
  if (name === '' && !selector) report.required(at, 'one of name or selector must be specified')
  report.requiredOneOf(`${at}.parameterNotFoundAction`, textIn(paramRef, 'parameterNotFoundAction'), ['Deny', 'Allow'])
}
