/** CSI storage capacities. @see ValidateCSIStorageCapacity in pkg/apis/storage/validation of Kubernetes 1.36 */
import { validateLabelSelector } from '../../../kube/label-selector.ts'
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { column, nameColumn, nameOf, quantityAt } from '../cell-text.ts'
import { checkNotNegative } from '../core/resource-requirements.ts'
import { fieldAt, textAt } from '../field-access.ts'
import { type BuiltInKind, validateWholeWith } from '../kind.ts'
import { findPart, type Report, sameValue, textIn } from '../report.ts'

function checkCapacity(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  report.add(validateLabelSelector(findPart(next, 'nodeTopology'), 'nodeTopology'))
  report.subdomain('storageClassName', textIn(next, 'storageClassName'))
  if (next.capacity !== undefined) checkNotNegative(report, 'capacity', next.capacity)
  if (!old) return
  if (!sameValue(next.nodeTopology, old.nodeTopology)) {
    report.invalid('nodeTopology', next.nodeTopology ?? null, 'field is immutable')
  }
  report.immutable('storageClassName', next.storageClassName, old.storageClassName)
}

const columns: TableColumns = {
  definitions: [
    nameColumn,
    column('StorageClassName', 'string', 'The storage class it is about.'),
    column('Capacity', 'string', 'How much is left.'),
  ],
  cells: (o) => [
    nameOf(o),
    textAt(o, 'storageClassName'),
    fieldAt(o, 'capacity') === undefined ? '<unset>' : quantityAt(o, 'capacity'),
  ],
}

export const csiStorageCapacity: BuiltInKind = {
  strategy: { validate: validateWholeWith(checkCapacity), unconditionalUpdate: false },
  columns,
}
