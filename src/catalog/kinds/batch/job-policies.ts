/**
 * When a job has failed or succeeded before all of its pods are done.
 * @see validatePodFailurePolicy, validateSuccessPolicy in pkg/apis/batch/validation of Kubernetes 1.36
 */
import { isQualifiedName } from '../../../kube/names.ts'
import { findPart, notNegative, numberIn, type Part, partIn, partsIn, type Report, textIn } from '../report.ts'

const maxRules = 20
const maxPatterns = 20
const maxExitCodes = 255
const maxIndexesBytes = 64 * 1024
const actions = ['Count', 'FailIndex', 'FailJob', 'Ignore']
const operators = ['In', 'NotIn']
const statuses = ['False', 'True', 'Unknown']

const listed = (values: readonly string[]): string => `valid values: [${values.map((v) => `"${v}"`).join(' ')}]`

function checkChoice(report: Report, field: string, value: string, values: readonly string[]): void {
  if (value === '') report.required(field, listed(values))
  else report.oneOf(field, value, values)
}

export function checkFailurePolicy(report: Report, at: string, spec: Part): void {
  const pod = partIn(partIn(spec, 'template'), 'spec')
  const names = ['containers', 'initContainers'].flatMap((list) => partsIn(pod, list).map((c) => textIn(c, 'name')))
  const rules = partsIn(partIn(spec, 'podFailurePolicy'), 'rules')
  if (rules.length > maxRules) report.tooMany(`${at}.rules`, rules.length, maxRules)
  rules.forEach((rule, i) => {
    const here = `${at}.rules[${i}]`
    const action = textIn(rule, 'action')
    if (action !== 'FailIndex') checkChoice(report, `${here}.action`, action, actions)
    else if (spec.backoffLimitPerIndex === undefined)
      report.invalid(`${here}.action`, action, 'requires the backoffLimitPerIndex to be set')
    const exitCodes = findPart(rule, 'onExitCodes')
    const conditions = partsIn(rule, 'onPodConditions')
    if (exitCodes) checkExitCodes(report, `${here}.onExitCodes`, exitCodes, names)
    if (conditions.length > 0) checkConditions(report, `${here}.onPodConditions`, conditions)
    const why = exitCodes
      ? 'specifying both OnExitCodes and OnPodConditions is not supported'
      : 'specifying one of OnExitCodes and OnPodConditions is required'
    // Upstream leaves the value out.
    if ((exitCodes === undefined) === (conditions.length === 0))
      report.add([{ type: 'FieldValueInvalid', field: here, body: `Invalid value: ${why}` }])
  })
}

function checkExitCodes(report: Report, at: string, codes: Part, names: readonly string[]): void {
  const operator = textIn(codes, 'operator')
  checkChoice(report, `${at}.operator`, operator, operators)
  const { containerName } = codes
  if (typeof containerName === 'string' && !names.includes(containerName)) {
    const why = 'must be one of the container or initContainer names in the pod template'
    report.invalid(`${at}.containerName`, containerName, why)
  }
  const values = Array.isArray(codes.values) ? (codes.values as number[]) : []
  if (values.length === 0) report.invalid(`${at}.values`, codes.values ?? null, 'at least one value is required')
  else if (values.length > maxExitCodes) report.tooMany(`${at}.values`, values.length, maxExitCodes)
  const seen = new Set<number>()
  values.forEach((value, i) => {
    const field = `${at}.values[${i}]`
    if (operator === 'In' && value === 0) report.invalid(field, value, 'must not be 0 for the In operator')
    if (seen.has(value)) report.duplicate(field, value)
    seen.add(value)
  })
  if (values.some((value, i) => i > 0 && (values[i - 1] ?? 0) > value)) {
    report.invalid(`${at}.values`, values, 'must be ordered')
  }
}

function checkConditions(report: Report, at: string, conditions: readonly Part[]): void {
  if (conditions.length > maxPatterns) report.tooMany(at, conditions.length, maxPatterns)
  conditions.forEach((condition, i) => {
    const type = textIn(condition, 'type')
    report.each(`${at}[${i}].type`, type, isQualifiedName(type))
    checkChoice(report, `${at}[${i}].status`, textIn(condition, 'status'), statuses)
  })
}

export function checkSuccessPolicy(report: Report, at: string, spec: Part): void {
  const rules = partsIn(partIn(spec, 'successPolicy'), 'rules')
  if (rules.length === 0) {
    report.required(`${at}.rules`, 'at least one rules must be specified when the successPolicy is specified')
  }
  if (rules.length > maxRules) report.tooMany(`${at}.rules`, rules.length, maxRules)
  const completions = numberIn(spec, 'completions') ?? 0
  rules.forEach((rule, i) => checkSuccessRule(report, `${at}.rules[${i}]`, rule, completions))
}

function checkSuccessRule(report: Report, at: string, rule: Part, completions: number): void {
  const { succeededIndexes } = rule
  const count = numberIn(rule, 'succeededCount')
  if (count === undefined && succeededIndexes === undefined) {
    report.required(at, 'at least one of succeededCount or succeededIndexes must be specified')
  }
  let indexes: number | undefined
  if (typeof succeededIndexes === 'string') {
    const field = `${at}.succeededIndexes`
    if (Buffer.byteLength(succeededIndexes) > maxIndexesBytes) report.tooLong(field, maxIndexesBytes)
    const counted = countIndexes(succeededIndexes, completions)
    indexes = typeof counted === 'number' ? counted : 0
    if (typeof counted === 'string') {
      report.invalid(field, succeededIndexes, `error parsing succeededIndexes: ${counted}`)
    }
  }
  if (count === undefined) return
  const field = `${at}.succeededCount`
  if (count < 0) report.invalid(field, count, notNegative)
  if (count > completions) {
    report.invalid(field, count, `must be less than or equal to ${completions} (the number of specified completions)`)
  }
  if (indexes !== undefined && count > indexes) {
    report.invalid(
      field,
      count,
      `must be less than or equal to ${indexes} (the number of indexes in the specified succeededIndexes field)`,
    )
  }
}

/** Of `1,3-5`; a text says what is wrong with it. */
function countIndexes(text: string, completions: number): number | string {
  if (text === '') return 0
  let total = 0
  let last: number | undefined
  for (const interval of text.split(',')) {
    const ends = interval.split('-')
    if (ends.length > 2) {
      return (
        `the fragment ${JSON.stringify(interval)} violates the requirement that an index interval can have at most ` +
        `two parts separated by '-'`
      )
    }
    for (const end of ends) {
      if (!/^[-+]?\d+$/.test(end)) return `cannot convert string to integer for index: ${JSON.stringify(end)}`
      if (Number(end) >= completions) return `too large index: ${JSON.stringify(end)}`
    }
    const [from = 0, to = from] = ends.map(Number)
    if (ends.length > 1 && from >= to) return `non-increasing order, previous: ${from}, current: ${to}`
    if (last !== undefined && last >= from) return `non-increasing order, previous: ${last}, current: ${from}`
    total += to - from + 1
    last = to
  }
  return total
}
