/**
 * Near which nodes and pods a pod wants to be, and how evenly its like are spread.
 * @see validateAffinity, ValidateNodeSelectorTerm, validateTopologySpreadConstraints,
 *   ValidateMatchLabelKeysAndMismatchLabelKeys in pkg/apis/core/validation/validation.go of Kubernetes 1.36
 */
import { validateLabelSelector } from '../../../kube/label-selector.ts'
import { isDns1123Label, isDns1123Subdomain, isLabelValue, isQualifiedName } from '../../../kube/names.ts'
import { findPart, numberIn, type Part, partIn, partsIn, type Report, textIn, textsIn } from '../report.ts'

const nodeOperators = ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt']
const notAnOperator = 'not a valid selector operator'
const maxWeight = 100
const spreadActions = ['DoNotSchedule', 'ScheduleAnyway']
const nodePolicies = ['Honor', 'Ignore']

/** `isNeeded`: what is only preferred may name labels that no node has. */
export function checkNodeTerm(report: Report, at: string, term: Part, isNeeded: boolean): void {
  partsIn(term, 'matchExpressions').forEach((e, i) => {
    const here = `${at}.matchExpressions[${i}]`
    const operator = textIn(e, 'operator')
    const values = textsIn(e, 'values')
    const count = values.length
    if (!nodeOperators.includes(operator)) report.invalid(`${here}.operator`, operator, notAnOperator)
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
    if (isNeeded) values.forEach((value, j) => report.each(`${here}.values[${j}]`, value, isLabelValue(value)))
  })
  partsIn(term, 'matchFields').forEach((e, i) => checkNodeField(report, `${at}.matchFields[${i}]`, e))
}

function checkNodeField(report: Report, at: string, expression: Part): void {
  const operator = textIn(expression, 'operator')
  const values = textsIn(expression, 'values')
  if (operator !== 'In' && operator !== 'NotIn') report.invalid(`${at}.operator`, operator, notAnOperator)
  else if (values.length !== 1) {
    const why = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
    report.required(`${at}.values`, why)
  }
  const key = textIn(expression, 'key')
  if (key !== 'metadata.name') return report.invalid(`${at}.key`, key, 'not a valid field selector key')
  values.forEach((value, i) => report.each(`${at}.values[${i}]`, value, isDns1123Subdomain(value)))
}

function checkLabelKeys(report: Report, at: string, keys: readonly string[], selector: Part | undefined): void {
  if (keys.length === 0) return
  if (!selector) return report.forbidden(at, 'must not be specified when labelSelector is not set')
  keys.forEach((key, i) => report.each(`${at}[${i}]`, key, isQualifiedName(key)))
}

/** Values of these labels are added to the selector when the pod is made, so it can't name them itself. */
function checkMatchedKeys(report: Report, at: string, term: Part): void {
  const keys = textsIn(term, 'matchLabelKeys')
  const others = textsIn(term, 'mismatchLabelKeys')
  const selector = findPart(term, 'labelSelector')
  checkLabelKeys(report, `${at}.matchLabelKeys`, keys, selector)
  checkLabelKeys(report, `${at}.mismatchLabelKeys`, others, selector)
  const named = new Set(Object.keys(partIn(selector, 'matchLabels')))
  const places = new Map(keys.map((key, i) => [key, i]))
  for (const { key } of partsIn(selector, 'matchExpressions')) {
    if (typeof key !== 'string') continue
    if (places.has(key) && named.has(key)) {
      report.invalid(`${at}[${places.get(key)}]`, key, 'exists in both matchLabelKeys and labelSelector')
    }
    named.add(key)
  }
  const mismatched = new Set(others)
  keys.forEach((key, i) => {
    if (!mismatched.has(key)) return
    report.invalid(`${at}.matchLabelKeys[${i}]`, key, 'exists in both matchLabelKeys and mismatchLabelKeys')
  })
}

function checkPodTerm(report: Report, at: string, term: Part): void {
  report.add(validateLabelSelector(findPart(term, 'labelSelector'), `${at}.labelSelector`))
  report.add(validateLabelSelector(findPart(term, 'namespaceSelector'), `${at}.namespaceSelector`))
  for (const name of textsIn(term, 'namespaces')) report.each(`${at}.namespace`, name, isDns1123Label(name))
  checkMatchedKeys(report, at, term)
  const key = textIn(term, 'topologyKey')
  if (key === '') report.required(`${at}.topologyKey`, 'can not be empty')
  report.each(`${at}.topologyKey`, key, isQualifiedName(key))
}

const required = 'requiredDuringSchedulingIgnoredDuringExecution'
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution'

function checkWeight(report: Report, at: string, term: Part): void {
  const weight = numberIn(term, 'weight') ?? 0
  if (weight < 1 || weight > maxWeight) report.invalid(`${at}.weight`, weight, `must be in the range 1-${maxWeight}`)
}

export function checkNodeSelector(report: Report, at: string, selector: Part): void {
  const terms = partsIn(selector, 'nodeSelectorTerms')
  const field = `${at}.nodeSelectorTerms`
  if (terms.length === 0) report.required(field, 'must have at least one node selector term')
  terms.forEach((term, i) => checkNodeTerm(report, `${field}[${i}]`, term, true))
}

export function checkAffinity(report: Report, at: string, affinity: Part | undefined): void {
  const node = findPart(affinity, 'nodeAffinity')
  const needed = findPart(node, required)
  if (needed) checkNodeSelector(report, `${at}.nodeAffinity.${required}`, needed)
  partsIn(node, preferred).forEach((term, i) => {
    const here = `${at}.nodeAffinity.${preferred}[${i}]`
    checkWeight(report, here, term)
    checkNodeTerm(report, `${here}.preference`, partIn(term, 'preference'), false)
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

export function checkSpread(report: Report, at: string, constraints: readonly Part[]): void {
  const pairOf = (c: Part): string => `{${textIn(c, 'topologyKey')}, ${textIn(c, 'whenUnsatisfiable')}}`
  const last = new Map(constraints.map((c, i) => [pairOf(c), i]))
  constraints.forEach((c, i) => {
    const here = `${at}[${i}]`
    const skew = numberIn(c, 'maxSkew') ?? 0
    if (skew <= 0) report.invalid(`${here}.maxSkew`, skew, 'must be greater than zero')
    if (textIn(c, 'topologyKey') === '') report.required(`${here}.topologyKey`, 'can not be empty')
    const action = textIn(c, 'whenUnsatisfiable')
    report.oneOf(`${here}.whenUnsatisfiable`, action, spreadActions)
    const pair = pairOf(c)
    if (last.get(pair) !== i) report.duplicate(`${here}.{topologyKey, whenUnsatisfiable}`, pair)
    const domains = numberIn(c, 'minDomains')
    if (domains !== undefined) {
      if (domains <= 0) report.invalid(`${here}.minDomains`, domains, 'must be greater than zero')
      if (action !== 'DoNotSchedule') {
        const why = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`
        report.invalid(`${here}.minDomains`, domains, why)
      }
    }
    for (const field of ['nodeAffinityPolicy', 'nodeTaintsPolicy']) {
      report.oneOfIfSet(`${here}.${field}`, c[field], nodePolicies)
    }
    checkMatchedKeys(report, here, c)
    report.add(validateLabelSelector(findPart(c, 'labelSelector'), `${here}.labelSelector`))
  })
}
