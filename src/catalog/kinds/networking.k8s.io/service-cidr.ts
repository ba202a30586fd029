/** Ranges of service addresses. @see ValidateServiceCIDR in pkg/apis/networking/validation of Kubernetes 1.36 */
import { isCanonicalCidr, parseBlock } from '../../../kube/ip-address.ts'
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { ageColumn, ageOf, column, nameColumn, nameOf } from '../cell-text.ts'
import { textsAt } from '../field-access.ts'
import { type BuiltInKind, validateWholeWith } from '../kind.ts'
import { fieldIsImmutable, partIn, type Report, textsIn } from '../report.ts'

const field = 'spec.cidrs'

function checkServiceCidr(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const spec = partIn(next, 'spec')
  if (old) checkChange(report, spec.cidrs ?? null, textsIn(partIn(old, 'spec'), 'cidrs'))
  else checkCidrs(report, textsIn(spec, 'cidrs'))
}

function checkCidrs(report: Report, cidrs: readonly string[]): void {
  if (cidrs.length === 0) return report.required(field, 'at least one CIDR required')
  // As Go prints the whole spec.
  if (cidrs.length > 2) return report.invalid(field, { CIDRs: cidrs }, 'may only hold up to 2 values')
  cidrs.forEach((cidr, i) => report.each(`${field}[${i}]`, cidr, isCanonicalCidr(cidr)))
  const [first, second] = cidrs.map((cidr) => parseBlock(cidr)?.address.family)
  if (first !== undefined && first === second) {
    const why = 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64'
    report.invalid(field, cidrs, why)
  }
}

/** A range of the other family may be added. Nothing else changes. */
function checkChange(report: Report, given: unknown, old: readonly string[]): void {
  const next = Array.isArray(given) ? (given as string[]) : []
  const isGrowing = old.length === 1 && next.length === 2
  if (next.length !== old.length && !isGrowing) {
    report.invalid(field, given, fieldIsImmutable)
    return
  }
  old.forEach((cidr, i) => {
    if (next[i] !== cidr) report.invalid(`${field}[${i}]`, next[i], fieldIsImmutable)
  })
  if (isGrowing) checkCidrs(report, next)
}

const columns: TableColumns = {
  definitions: [nameColumn, column('CIDRs', 'string', 'The ranges that service addresses come from.'), ageColumn],
  cells: (o, now) => [nameOf(o), textsAt(o, 'spec', 'cidrs').join(','), ageOf(o, now)],
}

export const serviceCidr: BuiltInKind = {
  strategy: { validate: validateWholeWith(checkServiceCidr) },
  columns,
}
