/** Volume attributes classes. */
import type { TableColumns } from '../../../kube/table.ts'
import { ageColumn, ageOf, column, nameColumn, nameOf } from '../cell-text.ts'
import { textAt } from '../field-access.ts'
import type { BuiltInKind } from '../kind.ts'

const columns: TableColumns = {
  definitions: [nameColumn, column('DriverName', 'string', 'The driver it is for.'), ageColumn],
  cells: (o, now) => [nameOf(o), textAt(o, 'driverName'), ageOf(o, now)],
}

export const volumeAttributesClass: BuiltInKind = {
  shortNames: ['vac'],
  columns,
}
