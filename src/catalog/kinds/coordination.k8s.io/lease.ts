/** Leases. @see pkg/apis/coordination/validation of Kubernetes 1.36 */
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { ageColumn, ageOf, column, nameColumn, nameOf } from '../cell-text.ts'
import { textAt } from '../field-access.ts'
import { type BuiltInKind, validateWholeWith } from '../kind.ts'
import { numberIn, partIn, type Report } from '../report.ts'

function checkLease(report: Report, next: KubeObject): void {
  const spec = partIn(next, 'spec')
  const seconds = numberIn(spec, 'leaseDurationSeconds')
  if (seconds !== undefined && seconds <= 0)
    report.invalid('spec.leaseDurationSeconds', seconds, 'must be greater than 0')
  report.notNegative(spec, 'spec', 'leaseTransitions')
}

const columns: TableColumns = {
  definitions: [nameColumn, column('Holder', 'string', 'Who holds it.'), ageColumn],
  cells: (o, now) => [nameOf(o), textAt(o, 'spec', 'holderIdentity'), ageOf(o, now)],
}

export const lease: BuiltInKind = {
  strategy: { validate: validateWholeWith(checkLease), createOnUpdate: true, unconditionalUpdate: false },
  columns,
}
