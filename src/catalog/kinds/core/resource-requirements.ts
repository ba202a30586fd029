/**
 * Names and amounts of compute resources.
 * @see pkg/apis/core/validation/validation.go, pkg/apis/core/helper/helpers.go of Kubernetes 1.36
 */
import { isQualifiedName } from '../../../kube/names.ts'
import { compareQuantities, findQuantity, isWhole, type Quantity } from '../../../kube/quantity.ts'
import { findPart, notNegative, type Part, partsIn, type Report, textIn } from '../report.ts'

const standardContainerResources = new Set(['cpu', 'memory', 'ephemeral-storage'])
const hugePages = 'hugepages-'

export const isHugePages = (name: string): boolean => name.startsWith(hugePages)
/** Without a domain, or of Kubernetes' own. */
const isNative = (name: string): boolean =>
  !name.includes('/') || name.split('/', 1)[0]?.endsWith('kubernetes.io') === true
/** Of a device plugin, say: counted whole, never overcommitted. */
const isExtended = (name: string): boolean =>
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

/** Limits and requests of one container, or of a whole pod. */
export function checkResourceRequirements(report: Report, field: string, resources: Part): void {
  const limits = findPart(resources, 'limits') ?? {}
  const requests = findPart(resources, 'requests') ?? {}
  for (const [list, amounts] of [
    ['limits', limits],
    ['requests', requests],
  ] as const) {
    for (const name of Object.keys(amounts).sort()) {
      const at = `${field}.${list}`
      checkContainerResourceName(report, `${at}[${name}]`, name)
      checkNotNegative(report, `${at}[${name}]`, amounts[name])
      if (isExtended(name)) checkWhole(report, `${at}[${name}]`, amounts[name])
    }
  }
  for (const name of Object.keys(requests).sort())
    checkRequest(report, `${field}.requests`, name, requests[name], limits[name])
  checkClaims(report, field, resources)
}

function checkRequest(report: Report, field: string, name: string, request: unknown, limit: unknown): void {
  const wanted = amountOf(request)
  const allowed = amountOf(limit)
  const whole = isExtended(name) || isHugePages(name)
  if (!allowed) {
    if (whole)
      report.required(field.replace(/requests$/, 'limits'), 'Limit must be set for non overcommitable resources')
    return
  }
  if (!wanted) return
  const order = compareQuantities(wanted, allowed)
  if (whole && order !== 0) report.invalid(field, request, `must be equal to ${name} limit of ${limit}`)
  else if (order > 0) report.invalid(field, request, `must be less than or equal to ${name} limit of ${limit}`)
}

function checkClaims(report: Report, field: string, resources: Part): void {
  const seen = new Set<string>()
  partsIn(resources, 'claims').forEach((claim, i) => {
    const at = `${field}.claims[${i}]`
    const name = textIn(claim, 'name')
    if (name === '') report.required(`${at}.name`)
    else report.unique(at, `${name}/${textIn(claim, 'request')}`, seen)
  })
}
