/**
 * Names and amounts of compute resources.
 * @see pkg/apis/core/validation/validation.go, pkg/apis/core/helper/helpers.go of Kubernetes 1.36
 */
import { isQualifiedName } from '../../../kube/names.ts'
import {
  compareQuantities,
  findQuantity,
  isWhole,
  printQuantity,
  type Quantity,
  wholeValue,
} from '../../../kube/quantity.ts'
import { findPart, notNegative, type Part, partsIn, type Report, textIn } from '../report.ts'

const standardContainerResources = new Set(['cpu', 'memory', 'ephemeral-storage'])
const hugePages = 'hugepages-'

export const isHugePages = (name: string): boolean => name.startsWith(hugePages)
/** Without a domain, or of Kubernetes' own. */
const isNative = (name: string): boolean =>
  !name.includes('/') || name.split('/', 1)[0]?.endsWith('kubernetes.io') === true
/** Of a device plugin, say: counted whole, never overcommitted. */
export const isExtended = (name: string): boolean =>
  !isNative(name) && !name.startsWith('requests.') && isQualifiedName(`requests.${name}`).length === 0

/** Amounts have passed their schema, so they parse. */
export function amountOf(value: unknown): Quantity | undefined {
  return typeof value === 'string' || typeof value === 'number' ? findQuantity(String(value)) : undefined
}

export function checkNotNegative(report: Report, field: string, value: unknown): void {
  const amount = amountOf(value)
  if (amount && amount.nanos < 0n) report.invalid(field, value, notNegative)
}

export function checkWhole(report: Report, field: string, value: unknown): void {
  const amount = amountOf(value)
  if (amount && !isWhole(amount)) report.invalid(field, value, 'must be an integer')
}

const standardResources: ReadonlySet<string> = new Set(
  (
    'cpu memory ephemeral-storage storage requests.cpu requests.memory requests.storage requests.ephemeral-storage ' +
    'limits.cpu limits.memory limits.ephemeral-storage pods resourcequotas services services.nodeports ' +
    'services.loadbalancers replicationcontrollers secrets configmaps persistentvolumeclaims'
  ).split(' '),
)

/** Qualified, or one that Kubernetes has. */
export function checkResourceName(report: Report, field: string, name: string): void {
  const errors = isQualifiedName(name)
  report.each(field, name, errors)
  if (errors.length > 0 || name.includes('/')) return
  if (!standardResources.has(name) && !isHugePages(name) && !isHugePages(name.replace(/^requests\./, ''))) {
    report.invalid(field, name, 'must be a standard resource type or fully qualified')
  }
}

export function checkContainerResourceName(report: Report, field: string, name: string): void {
  checkResourceName(report, field, name)
  if (!name.includes('/')) {
    if (!standardContainerResources.has(name) && !isHugePages(name)) {
      report.invalid(field, name, 'must be a standard resource for containers')
    }
  } else if (!isNative(name) && !isExtended(name)) {
    report.invalid(field, name, "doesn't follow extended resource name standard")
  }
}

type CheckName = (report: Report, field: string, name: string) => void

const noClaims: ReadonlySet<string> = new Set()

/** Limits and requests of one container, or of a whole pod. `claims` are those that the pod has. */
export function checkResourceRequirements(
  report: Report,
  field: string,
  resources: Part,
  claims: ReadonlySet<string> = noClaims,
  checkName: CheckName = checkContainerResourceName,
): void {
  const limits = findPart(resources, 'limits') ?? {}
  const requests = findPart(resources, 'requests') ?? {}
  for (const name of Object.keys(limits).sort()) {
    checkName(report, `${field}.limits[${name}]`, name)
    checkAmount(report, `${field}.limits[${name}]`, name, limits[name])
  }
  for (const name of Object.keys(requests).sort()) {
    checkName(report, `${field}.requests[${name}]`, name)
    checkAmount(report, `${field}.requests[${name}]`, name, requests[name])
    checkRequest(report, field, name, requests[name], limits[name])
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)]
  if (names.some(isHugePages) && !names.includes('cpu') && !names.includes('memory')) {
    report.forbidden(field, 'HugePages require cpu or memory')
  }
  checkClaims(report, `${field}.claims`, partsIn(resources, 'claims'), claims)
}

function checkAmount(report: Report, field: string, name: string, value: unknown): void {
  checkNotNegative(report, field, value)
  if (isExtended(name)) checkWhole(report, field, value)
  const amount = amountOf(value)
  if (!amount || !isHugePages(name)) return
  const page = findQuantity(name.slice(hugePages.length))
  if (page && page.nanos > 0n && isWhole(page) && wholeValue(amount) % wholeValue(page) === 0n) return
  const shown = printQuantity(amount)
  report.invalid(field, shown, `${shown} is not positive integer multiple of ${name}`)
}

function checkRequest(report: Report, field: string, name: string, request: unknown, limit: unknown): void {
  const wanted = amountOf(request)
  const allowed = amountOf(limit)
  const whole = isExtended(name) || isHugePages(name)
  if (!allowed) {
    if (whole) report.required(`${field}.limits`, 'Limit must be set for non overcommitable resources')
    return
  }
  if (!wanted) return
  const order = compareQuantities(wanted, allowed)
  const ofLimit = `${name} limit of ${printQuantity(allowed)}`
  const shown = printQuantity(wanted)
  if (whole && order !== 0) report.invalid(`${field}.requests`, shown, `must be equal to ${ofLimit}`)
  else if (order > 0) report.invalid(`${field}.requests`, shown, `must be less than or equal to ${ofLimit}`)
}

/** A claim is used as a whole, or some of its requests are: each once. */
function checkClaims(report: Report, field: string, used: readonly Part[], claims: ReadonlySet<string>): void {
  const seen = new Set<string>()
  const inParts = new Map<string, number>()
  const all = [...claims].sort()
  const which = all.length === 0 ? ' which is empty' : `: ${all.join(', ')}`
  used.forEach((claim, i) => {
    const at = `${field}[${i}]`
    const name = textIn(claim, 'name')
    if (name === '') return report.required(at)
    if (seen.has(name)) report.duplicate(at, name)
    else {
      const request = textIn(claim, 'request')
      if (request !== '') report.label(`${at}.request`, request)
      const key = request === '' ? name : `${name}/${request}`
      if (seen.has(key)) report.duplicate(at, key)
      else if (request === '') {
        for (let n = inParts.get(name) ?? 0; n > 0; n--) report.duplicate(at, name)
      } else inParts.set(name, (inParts.get(name) ?? 0) + 1)
      seen.add(key)
    }
    if (claims.has(name)) return
    report.notFound(at, name, `must be one of the names in pod.spec.resourceClaims${which}`)
  })
}
