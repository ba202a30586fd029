/**
 * What validating and mutating admission policies and their bindings have in common.
 * @see pkg/apis/admissionregistration/{validation,v1/defaults.go} of Kubernetes 1.36
 */

import { inBatches, type Resumable } from '../../../base/resumable.ts'
import { compiledAtOnce } from '../../../cel/environment.ts'
import { compileEnvironment, type PolicyEnvironment } from '../../../cel/policy-expressions.ts'
import { validateLabelSelector } from '../../../kube/label-selector.ts'
import { isDns1035Label, isDns1123Subdomain, isPathSegment } from '../../../kube/names.ts'
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import type { Strategy } from '../../strategy.ts'
import { ageColumn, ageOf, column, nameColumn, nameOf, printSelectorObject } from '../cell-text.ts'
import { type DefaultRules, fillAbsent } from '../default-rules.ts'
import { listAt, objectAt, textAt } from '../field-access.ts'
import { findPart, type Part, partsIn, type Report, sameValue, textIn, textsIn } from '../report.ts'
import { checkConditions, checkRule } from './webhook-configuration.ts'

const identifier = /^[_a-zA-Z][_a-zA-Z0-9]*$/

const reserved = (
  'true false null in as break const continue else for function if import let loop package namespace return ' +
  'var void while'
).split(' ')

/**
 * `before` is the spec that is stored, `operations` those that the rules may name, if not all. Answers what the
 * expressions of the policy may name.
 */
export function* checkPolicyParts(
  report: Report,
  spec: Part,
  before: Part | undefined,
  operations?: readonly string[],
): Resumable<PolicyEnvironment> {
  report.requiredOneOf('spec.failurePolicy', textIn(spec, 'failurePolicy'), ['Fail', 'Ignore'])
  const paramKind = findPart(spec, 'paramKind')
  const hasParams = paramKind !== undefined
  if (paramKind) checkParamKind(report, paramKind)
  const constraints = findPart(spec, 'matchConstraints')
  if (!constraints) report.required('spec.matchConstraints')
  else {
    checkMatchResources(report, 'spec.matchConstraints', constraints)
    if (partsIn(constraints, 'resourceRules').length === 0) report.required('spec.matchConstraints.resourceRules')
    if (operations) checkOperations(report, 'spec.matchConstraints', constraints, operations)
  }
  // What was accepted once is not judged again.
  const isSame = before !== undefined && ['paramKind', 'matchConditions'].every((f) => sameValue(spec[f], before[f]))
  if (!isSame) yield* checkConditions(report, 'spec.matchConditions', partsIn(spec, 'matchConditions'), hasParams)
  return yield* checkVariables(report, partsIn(spec, 'variables'), hasParams)
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

export function checkMatchResources(report: Report, at: string, match: Part): void {
  report.requiredOneOf(`${at}.matchPolicy`, textIn(match, 'matchPolicy'), ['Equivalent', 'Exact'])
  for (const field of ['namespaceSelector', 'objectSelector']) {
    report.add(validateLabelSelector(findPart(match, field), `${at}.${field}`))
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

/** Told of no rule in particular, as upstream does. */
export function checkOperations(report: Report, at: string, match: Part, supported: readonly string[]): void {
  for (const rule of partsIn(match, 'resourceRules')) {
    for (const operation of textsIn(rule, 'operations')) {
      report.oneOf(`${at}.resourceRules.operations`, operation, supported)
    }
  }
}

function* checkVariables(report: Report, variables: readonly Part[], hasParams: boolean): Resumable<PolicyEnvironment> {
  const given = variables.map((v) => ({ name: textIn(v, 'name'), expression: textIn(v, 'expression') }))
  const environment = yield* compileEnvironment(given, { params: hasParams })
  yield* inBatches(given, compiledAtOnce, ({ name, expression }, i) => {
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

export function checkParamRef(report: Report, paramRef: Part): void {
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

function paramKind(policy: KubeObject): string {
  const kind = objectAt(policy, 'spec', 'paramKind')
  return kind ? `${textAt(kind, 'apiVersion')}/${textAt(kind, 'kind')}` : '<unset>'
}

export const policyTable = (rules: 'validations' | 'mutations', columnName: string): TableColumns => ({
  definitions: [
    nameColumn,
    column(columnName, 'integer', 'How many rules it has.'),
    column('ParamKind', 'string', 'The kind of its parameters.'),
    ageColumn,
  ],
  cells: (o, now) => [nameOf(o), listAt(o, 'spec', rules).length, paramKind(o), ageOf(o, now)],
})

function paramRef(binding: KubeObject): string {
  const ref = objectAt(binding, 'spec', 'paramRef')
  const name = textAt(ref, 'name')
  if (name) return `${textAt(ref, 'namespace') || '*'}/${name}`
  const selector = objectAt(ref, 'selector')
  return selector ? (printSelectorObject(selector) ?? '<error>') : '<unset>'
}

/** Bindings of validating and mutating admission policies. */
export const bindingColumns: TableColumns = {
  definitions: [
    nameColumn,
    column('PolicyName', 'string', 'The policy it puts into force.'),
    column('ParamRef', 'string', 'The parameters it gives the policy.'),
    ageColumn,
  ],
  cells: (o, now) => [nameOf(o), textAt(o, 'spec', 'policyName'), paramRef(o), ageOf(o, now)],
}

export const policyFacts: Strategy = { unconditionalUpdate: false, tracksGeneration: true }

export const policyPartDefaults: DefaultRules = {
  'io.k8s.api.admissionregistration.v1.NamedRuleWithOperations': [fillAbsent({ scope: '*' })],
  'io.k8s.api.admissionregistration.v1.MatchResources': [
    fillAbsent({ matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} }),
  ],
}
