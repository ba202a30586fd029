/**
 * MutatingAdmissionPolicies and their bindings: form, and whether the expressions compile.
 * @see pkg/apis/admissionregistration/{validation,v1/defaults.go} of Kubernetes 1.36
 */

import { inBatches, type Resumable } from '../../../base/resumable.ts'
import { compiledAtOnce } from '../../../cel/environment.ts'
import { compileMutation, type PatchType } from '../../../cel/mutation-expressions.ts'
import { type PolicyEnvironment } from '../../../cel/policy-expressions.ts'
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { fillAbsent } from '../default-rules.ts'
import { type BuiltInKind, validateWholeWith } from '../kind.ts'
import { findPart, type Part, partIn, partsIn, type Report, textIn } from '../report.ts'
import {
  bindingColumns,
  checkMatchResources,
  checkOperations,
  checkParamRef,
  checkPolicyParts,
  policyFacts,
  policyTable,
} from './policy-parts.ts'

/** Nothing is left to change of what is deleted. */
const operations = ['*', 'CONNECT', 'CREATE', 'UPDATE']

const fieldOfPatch: Readonly<Record<PatchType, string>> = {
  ApplyConfiguration: 'applyConfiguration',
  JSONPatch: 'jsonPatch',
}

const patchTypes = Object.keys(fieldOfPatch) as readonly PatchType[]

function* checkMutatingPolicy(report: Report, next: KubeObject, old: KubeObject | undefined): Resumable<void> {
  const spec = partIn(next, 'spec')
  const environment = yield* checkPolicyParts(report, spec, old && partIn(old, 'spec'), operations)
  const mutations = partsIn(spec, 'mutations')
  if (mutations.length === 0) report.required('spec.mutations', 'mutations must contain at least one item')
  yield* inBatches(mutations, compiledAtOnce, (mutation, i) =>
    checkMutation(report, `spec.mutations[${i}]`, mutation, environment),
  )
  report.requiredOneOf('spec.reinvocationPolicy', textIn(spec, 'reinvocationPolicy'), ['IfNeeded', 'Never'])
}

function checkMutation(report: Report, at: string, mutation: Part, environment: PolicyEnvironment): void {
  const given = textIn(mutation, 'patchType')
  report.requiredOneOf(`${at}.patchType`, given, patchTypes)
  const patchType = patchTypes.find((type) => type === given)
  if (patchType === undefined) return
  for (const type of patchTypes) {
    const field = fieldOfPatch[type]
    const patch = findPart(mutation, field)
    if (type !== patchType) {
      if (patch) report.invalid(`${at}.${field}`, `{${field}}`, `must not be specified when patchType is ${patchType}`)
    } else if (!patch) report.required(`${at}.${field}`, `must be specified when patchType is ${patchType}`)
    else {
      const expression = textIn(patch, 'expression').trim()
      const problem = expression === '' ? undefined : compileMutation({ patchType, expression }, environment).problem
      if (expression === '') report.required(`${at}.${field}.expression`)
      else if (problem !== undefined) report.invalid(`${at}.${field}.expression`, expression, problem)
    }
  }
}

function checkMutatingBinding(report: Report, next: KubeObject): void {
  const spec = partIn(next, 'spec')
  report.reference('spec.policyName', textIn(spec, 'policyName'))
  const paramRef = findPart(spec, 'paramRef')
  if (paramRef) checkParamRef(report, paramRef)
  const match = findPart(spec, 'matchResources')
  if (!match) return
  checkMatchResources(report, 'spec.matchResources', match)
  checkOperations(report, 'spec.matchResources', match, operations)
}

const columns: TableColumns = policyTable('mutations', 'Mutations')

export const mutatingAdmissionPolicy: BuiltInKind = {
  categories: ['api-extensions'],
  strategy: { ...policyFacts, validate: validateWholeWith(checkMutatingPolicy) },
  defaults: {
    'io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicySpec': [fillAbsent({ failurePolicy: 'Fail' })],
  },
  columns,
}

export const mutatingAdmissionPolicyBinding: BuiltInKind = {
  categories: ['api-extensions'],
  strategy: { ...policyFacts, validate: validateWholeWith(checkMutatingBinding) },
  columns: bindingColumns,
}
