/** CSI storage capacities. */
import type { TableColumns } from '../../../kube/table.ts'
import { column, nameColumn, nameOf, quantityAt } from '../cell-text.ts'
import { fieldAt, textAt } from '../field-access.ts'
import type { BuiltInKind } from '../kind.ts'

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
  strategy: { unconditionalUpdate: false },
  columns,
}
