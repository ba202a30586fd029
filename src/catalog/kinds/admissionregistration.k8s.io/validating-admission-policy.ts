/**
 * ValidatingAdmissionPolicies and their bindings: form, and whether the expressions compile.
 * @see pkg/apis/admissionregistration/{validation,v1/defaults.go} of Kubernetes 1.36
 */

import { inBatches, type Resumable } from '../../../base/resumable.ts'
import { compileExpression } from '../../../cel/admission-expressions.ts'
import { compiledAtOnce } from '../../../cel/environment.ts'
import {
  annotationTypes,
  messageTypes,
  type PolicyEnvironment,
  validationTypes,
} from '../../../cel/policy-expressions.ts'
import { isQualifiedName } from '../../../kube/names.ts'
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { fillAbsent } from '../default-rules.ts'
import { allMetadata, type BuiltInKind, validateWholeWith } from '../kind.ts'
import { findPart, type Part, partIn, partsIn, type Report, textIn, textsIn } from '../report.ts'
import {
  bindingColumns,
  checkMatchResources,
  checkParamRef,
  checkPolicyParts,
  policyFacts,
  policyTable,
} from './policy-parts.ts'

const maxAnnotations = 20
const maxValueExpressionBytes = 5 * 1024
const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge', 'Unauthorized']
const needsOne = 'validations or auditAnnotations must contain at least one item'
const hasNewline = (text: string): boolean => /[\n\r]/.test(text)

function* checkAdmissionPolicy(report: Report, next: KubeObject, old: KubeObject | undefined): Resumable<void> {
  const spec = partIn(next, 'spec')
  const environment = yield* checkPolicyParts(report, spec, old && partIn(old, 'spec'))
  const validations = partsIn(spec, 'validations')
  const annotations = partsIn(spec, 'auditAnnotations')
  if (validations.length === 0 && annotations.length === 0) {
    report.required('spec.validations', needsOne)
    report.required('spec.auditAnnotations', needsOne)
  }
  yield* inBatches(validations, compiledAtOnce, (v, i) =>
    checkValidation(report, `spec.validations[${i}]`, v, environment),
  )
  checkAnnotations(report, annotations, next.metadata.name ?? '', environment)
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
    // As Go prints its own form of them.
    const shown = annotations.map((a) => ({ Key: textIn(a, 'key'), ValueExpression: textIn(a, 'valueExpression') }))
    report.invalid('spec.auditAnnotations', shown, `must not have more than ${maxAnnotations} auditAnnotations`)
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

function checkPolicyBinding(report: Report, next: KubeObject): void {
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
      'must not contain both Deny and Warn (repeating the same validation failure information in the API ' +
      'response and headers serves no purpose)'
    report.invalid(field, given, detail)
  }
  if (seen.size === 0) report.required(field, 'at least one validation action is required')
}

const columns: TableColumns = policyTable('validations', 'Validations')

export const validatingAdmissionPolicy: BuiltInKind = {
  categories: ['api-extensions'],
  strategy: {
    ...policyFacts,
    validate: validateWholeWith(checkAdmissionPolicy),
    keptMetadata: { status: allMetadata },
  },
  defaults: {
    'io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicySpec': [fillAbsent({ failurePolicy: 'Fail' })],
  },
  columns,
}

export const validatingAdmissionPolicyBinding: BuiltInKind = {
  categories: ['api-extensions'],
  strategy: { ...policyFacts, validate: validateWholeWith(checkPolicyBinding) },
  columns: bindingColumns,
}
