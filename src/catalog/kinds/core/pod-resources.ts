/**
 * What a pod asks for as a whole, and by name of devices that are claimed for it.
 * @see validatePodResources, validatePodResourceConsistency, validatePodResourceClaims in
 *   pkg/apis/core/validation/validation.go of Kubernetes 1.36
 */
import { addQuantities, compareQuantities, maxQuantity, printQuantity, type Quantity } from '../../../kube/quantity.ts'
import { findPart, type Part, partIn, partsIn, Report, textIn } from '../report.ts'
import { amountOf, checkResourceName, checkResourceRequirements, isHugePages } from './resource-requirements.ts'

const ofPods = ['cpu', 'hugepages-', 'memory']

function checkName(report: Report, field: string, name: string): void {
  const own = new Report()
  checkResourceName(own, field, name)
  report.add(own.errors)
  if (own.errors.length > 0 || name === 'cpu' || name === 'memory' || isHugePages(name)) return
  report.notSupported(field, name, ofPods)
}

export function checkPodResources(report: Report, at: string, spec: Part, claims: ReadonlySet<string>): void {
  const resources = findPart(spec, 'resources')
  if (!resources) return
  if (partIn(spec, 'os').name === 'windows') return report.forbidden(at, 'may not be set for a windows pod')
  if (Array.isArray(resources.claims)) {
    report.forbidden(`${at}.claims`, 'claims may not be set for Resources at pod-level')
  }
  checkResourceRequirements(report, at, resources, claims, checkName)
  checkLeast(report, at, 'requests', partIn(resources, 'requests'), totalOf(spec, 'requests'))
  const limits = partIn(resources, 'limits')
  const totals = [...totalOf(spec, 'limits')].filter(([name]) => isHugePages(name))
  checkLeast(report, at, 'limits', limits, new Map(totals))
  partsIn(spec, 'containers').forEach((container, i) => {
    const own = partIn(partIn(container, 'resources'), 'limits')
    for (const name of Object.keys(own).sort()) {
      const limit = amountOf(own[name])
      const most = amountOf(limits[name])
      if (!limit || !most || compareQuantities(limit, most) <= 0) continue
      const why = `must be less than or equal to pod limits of ${printQuantity(most)}`
      report.invalid(`${at}.containers[${i}][${name}].limits`, printQuantity(limit), why)
    }
  })
}

type Amounts = Map<string, Quantity>

/** The whole is no less than its containers together. */
function checkLeast(report: Report, at: string, list: string, given: Part, totals: Amounts): void {
  for (const [name, total] of [...totals].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const amount = amountOf(given[name])
    if (!amount || compareQuantities(total, amount) <= 0) continue
    const why = `must be greater than or equal to aggregate container ${list} of ${printQuantity(total)}`
    report.invalid(`${at}.${list}[${name}]`, printQuantity(amount), why)
  }
}

/** Sidecars run on beside all that start after them; other init containers run one by one. */
function totalOf(spec: Part, list: 'requests' | 'limits'): Amounts {
  const amountsOf = (container: Part): [string, Quantity][] =>
    Object.entries(partIn(partIn(container, 'resources'), list)).flatMap(([name, value]) => {
      const amount = amountOf(value)
      return amount ? [[name, amount] satisfies [string, Quantity]] : []
    })
  const totals: Amounts = new Map()
  const sidecars: Amounts = new Map()
  const starting: Amounts = new Map()
  const join = (to: Amounts, name: string, amount: Quantity, how: typeof addQuantities): void => {
    const had = to.get(name)
    to.set(name, had ? how(had, amount) : amount)
  }
  for (const container of partsIn(spec, 'containers')) {
    for (const [name, amount] of amountsOf(container)) join(totals, name, amount, addQuantities)
  }
  for (const container of partsIn(spec, 'initContainers')) {
    const isSidecar = container.restartPolicy === 'Always'
    for (const [name, amount] of amountsOf(container)) {
      const beside = sidecars.get(name)
      join(starting, name, beside ? addQuantities(amount, beside) : amount, maxQuantity)
      if (!isSidecar) continue
      join(totals, name, amount, addQuantities)
      join(sidecars, name, amount, addQuantities)
    }
  }
  for (const [name, amount] of starting) join(totals, name, amount, maxQuantity)
  return totals
}

/** Returns the names by which containers use what is claimed. */
export function checkPodClaims(report: Report, at: string, claims: readonly Part[]): ReadonlySet<string> {
  const names = new Set<string>()
  claims.forEach((claim, i) => {
    const here = `${at}[${i}]`
    const name = textIn(claim, 'name')
    if (name === '') report.required(`${here}.name`)
    else if (names.has(name)) report.duplicate(`${here}.name`, name)
    else {
      report.label(`${here}.name`, name)
      names.add(name)
    }
    const fields = ['resourceClaimName', 'resourceClaimTemplateName']
    const given = fields.filter((field) => typeof claim[field] === 'string')
    // As Go prints its own form of a claim.
    const [own = null, template = null] = fields.map((field) => claim[field])
    const shown = { Name: name, ResourceClaimName: own, ResourceClaimTemplateName: template }
    if (given.length > 1) {
      report.invalid(here, shown, 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified')
    } else if (given.length === 0) {
      report.invalid(here, shown, 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`')
    }
    for (const field of given) report.subdomain(`${here}.${field}`, textIn(claim, field))
  })
  return names
}
