/**
 * What may be asked of devices: requests, constraints and configuration of claims. Selectors are not compiled.
 * @see pkg/apis/resource/validation/validation.go of Kubernetes 1.36
 */
import { isExactNumber } from '../../../kube/json-value.ts'
import { isDns1123Label, isDns1123Subdomain, isLabelValue, isQualifiedName } from '../../../kube/names.ts'
import { findPart, type Part, partsIn, type Report, textIn, textsIn } from '../report.ts'
import { checkDriverName } from '../storage.k8s.io/csi-driver.ts'
import { checkFullyQualifiedName } from './attribute-names.ts'

const maxRequests = 32
const maxSubRequests = 8
const maxSelectors = 32
const maxTolerations = 16
const maxExpressionBytes = 10 * 1024
const maxParameterBytes = 10 * 1024

type Check<T> = (field: string, item: T) => void

/** Nothing is said of the items of a list that is too long. */
export function checkList<T>(report: Report, field: string, items: readonly T[], max: number, check: Check<T>): void {
  if (items.length > max) report.tooMany(field, items.length, max)
  else items.forEach((item, i) => check(`${field}[${i}]`, item))
}

function checkNamed<T>(
  report: Report,
  field: string,
  items: readonly T[],
  { max, check, nameOf }: { max: number; check: Check<T>; nameOf: (item: T) => string },
): void {
  checkList(report, field, items, max, check)
  const seen = new Set<string>()
  if (items.length <= max) items.forEach((item, i) => report.unique(`${field}[${i}]`, nameOf(item), seen))
}

const nameOf = (item: Part): string => textIn(item, 'name')

export function checkDeviceClaim(report: Report, at: string, devices: Part): void {
  const names = requestNames(devices)
  const checkReferences = (field: string, part: Part): void =>
    checkNamed(report, `${field}.requests`, textsIn(part, 'requests'), {
      max: maxRequests,
      check: (one, name) => checkReference(report, one, name, names),
      nameOf: (name) => name,
    })
  checkNamed(report, `${at}.requests`, partsIn(devices, 'requests'), {
    max: maxRequests,
    check: (field, request) => checkRequest(report, field, request),
    nameOf,
  })
  checkList(report, `${at}.constraints`, partsIn(devices, 'constraints'), 32, (field, constraint) => {
    checkReferences(field, constraint)
    const { matchAttribute, distinctAttribute } = constraint
    if (typeof matchAttribute === 'string') checkFullyQualifiedName(report, `${field}.matchAttribute`, matchAttribute)
    else if (typeof distinctAttribute === 'string')
      checkFullyQualifiedName(report, `${field}.distinctAttribute`, distinctAttribute)
    else {
      const why = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'
      report.required(field, why)
    }
  })
  checkList(report, `${at}.config`, partsIn(devices, 'config'), 32, (field, config) => {
    checkReferences(field, config)
    checkConfiguration(report, field, config)
  })
}

/** Requests, and those that are one of several: `request/alternative`. */
function requestNames(devices: Part): ReadonlySet<string> {
  const names = new Set<string>()
  for (const request of partsIn(devices, 'requests')) {
    names.add(nameOf(request))
    for (const one of partsIn(request, 'firstAvailable')) names.add(`${nameOf(request)}/${nameOf(one)}`)
  }
  return names
}

function checkReference(report: Report, field: string, name: string, known: ReadonlySet<string>): void {
  const unknown =
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
  const segments = name.split('/')
  if (segments.length > 2) return report.invalid(field, name, unknown)
  for (const segment of segments) report.each(field, segment, isDns1123Label(segment))
  if (!known.has(name)) report.invalid(field, name, unknown)
}

function checkRequest(report: Report, at: string, request: Part): void {
  report.label(`${at}.name`, nameOf(request))
  const exactly = findPart(request, 'exactly')
  const several = partsIn(request, 'firstAvailable')
  const one = 'exactly one of `exactly` or `firstAvailable` is required'
  if (exactly && several.length > 0) report.invalid(at, null, `${one}, but multiple fields are set`)
  else if (exactly) checkDevices(report, `${at}.exactly`, exactly)
  else if (several.length === 0) report.required(at, one)
  else {
    checkNamed(report, `${at}.firstAvailable`, several, {
      max: maxSubRequests,
      check(field, sub) {
        report.label(`${field}.name`, nameOf(sub))
        checkDevices(report, field, sub)
      },
      nameOf,
    })
  }
}

function checkDevices(report: Report, at: string, request: Part): void {
  const deviceClass = textIn(request, 'deviceClassName')
  if (deviceClass === '') report.required(`${at}.deviceClassName`)
  else report.each(`${at}.deviceClassName`, deviceClass, isDns1123Subdomain(deviceClass))
  checkSelectors(report, `${at}.selectors`, request)
  const mode = textIn(request, 'allocationMode')
  // As it was sent: no double holds all that a client may ask for.
  const shown = request.count ?? 0
  const count = isExactNumber(shown) ? Number(shown.rawJSON) : Number(shown)
  if (mode === 'All') {
    if (count !== 0) report.invalid(`${at}.count`, shown, "must not be specified when allocationMode is 'All'")
  } else if (mode === 'ExactCount') {
    if (count <= 0) report.invalid(`${at}.count`, shown, 'must be greater than zero')
  } else report.notSupported(`${at}.allocationMode`, mode, ['All', 'ExactCount'])
  checkList(report, `${at}.tolerations`, partsIn(request, 'tolerations'), maxTolerations, (field, toleration) =>
    checkToleration(report, field, toleration),
  )
}

export function checkSelectors(report: Report, field: string, request: Part): void {
  checkList(report, field, partsIn(request, 'selectors'), maxSelectors, (at, selector) => {
    const cel = findPart(selector, 'cel')
    if (!cel) report.required(`${at}.cel`)
    else if (Buffer.byteLength(textIn(cel, 'expression')) > maxExpressionBytes) {
      report.tooLong(`${at}.cel.expression`, maxExpressionBytes)
    }
  })
}

function checkToleration(report: Report, at: string, toleration: Part): void {
  const key = textIn(toleration, 'key')
  const value = textIn(toleration, 'value')
  const operator = textIn(toleration, 'operator')
  const effect = textIn(toleration, 'effect')
  if (key !== '') report.each(`${at}.key`, key, isQualifiedName(key))
  if (operator === 'Exists') {
    if (value !== '') report.invalid(`${at}.value`, value, 'must be empty for operator `Exists`')
  } else if (operator === 'Equal') report.each(`${at}.value`, value, isLabelValue(value))
  else report.requiredOneOf(`${at}.operator`, operator, ['Equal', 'Exists'])
  if (effect !== '') report.oneOf(`${at}.effect`, effect, ['NoExecute', 'NoSchedule', 'None'])
}

export function checkConfiguration(report: Report, at: string, config: Part): void {
  const opaque = findPart(config, 'opaque')
  if (!opaque) return report.required(`${at}.opaque`)
  const driver = textIn(opaque, 'driver')
  if (driver === '') report.required(`${at}.opaque.driver`)
  else checkDriverName(report, `${at}.opaque.driver`, driver)
  const { parameters } = opaque
  const field = `${at}.opaque.parameters`
  if (parameters === undefined || parameters === null) report.required(field)
  else if (Buffer.byteLength(JSON.stringify(parameters)) > maxParameterBytes) report.tooLong(field, maxParameterBytes)
  else if (typeof parameters !== 'object' || Array.isArray(parameters))
    report.invalid(field, '<value omitted>', 'must be a valid JSON object')
}
