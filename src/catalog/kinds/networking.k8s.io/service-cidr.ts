/** Ranges of service addresses. @see ValidateServiceCIDR in pkg/apis/networking/validation of Kubernetes 1.36 */
import { isCanonicalCidr, parseAddress } from '../../../kube/ip-address.ts'
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { ageColumn, ageOf, column, nameColumn, nameOf } from '../cell-text.ts'
import { textsAt } from '../field-access.ts'
import { type BuiltInKind, validateWholeWith } from '../kind.ts'
import { fieldIsImmutable, partIn, type Report, textsIn } from '../report.ts'

const field = 'spec.cidrs'

function checkServiceCidr(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const cidrs = textsIn(partIn(next, 'spec'), 'cidrs')
  checkCidrs(report, cidrs)
  if (old) checkChange(report, cidrs, textsIn(partIn(old, 'spec'), 'cidrs'))
}

function checkCidrs(report: Report, cidrs: readonly string[]): void {
  if (cidrs.length === 0) report.required(field, 'at least one CIDR required')
  // As Go prints the whole spec.
  else if (cidrs.length > 2) report.invalid(field, { CIDRs: cidrs }, 'may only hold up to 2 values')
  else if (cidrs.length === 2 && !isOfBoth(cidrs)) {
    const why = 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64'
    report.invalid(field, { CIDRs: cidrs }, why)
  } else cidrs.forEach((cidr, i) => report.each(`${field}[${i}]`, cidr, isCanonicalCidr(cidr)))
}

function isOfBoth(cidrs: readonly string[]): boolean {
  const families = cidrs.map((cidr) => parseAddress(cidr.split('/')[0] ?? '')?.family)
  return families.includes('IPv4') && families.includes('IPv6')
}

/** A range of the other family may be added. Nothing else changes. */
function checkChange(report: Report, next: readonly string[], old: readonly string[]): void {
  if (next.length !== old.length && !(old.length === 1 && next.length === 2)) {
    report.invalid(field, next, fieldIsImmutable)
    return
  }
  old.forEach((cidr, i) => {
    if (next[i] !== cidr) report.invalid(`${field}[${i}]`, next[i], fieldIsImmutable)
  })
}

const columns: TableColumns = {
  definitions: [nameColumn, column('CIDRs', 'string', 'The ranges that service addresses come from.'), ageColumn],
  cells: (o, now) => [nameOf(o), textsAt(o, 'spec', 'cidrs').join(','), ageOf(o, now)],
}

export const serviceCidr: BuiltInKind = {
  strategy: { validate: validateWholeWith(checkServiceCidr) },
  columns,
}
