/** CSI drivers of a node. @see ValidateCSINode in pkg/apis/storage/validation of Kubernetes 1.36 */
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { ageColumn, ageOf, column, nameColumn, nameOf } from '../cell-text.ts'
import { listAt } from '../field-access.ts'
import { type BuiltInKind, validateWholeWith } from '../kind.ts'
import { partIn, partsIn, type Report, textIn } from '../report.ts'
import { checkDriverName } from './csi-driver.ts'

function checkCsiNode(report: Report, next: KubeObject): void {
  const names = new Set<string>()
  partsIn(partIn(next, 'spec'), 'drivers').forEach((driver, i) => {
    const at = `spec.drivers[${i}]`
    const name = textIn(driver, 'name')
    checkDriverName(report, `${at}.name`, name)
    if (name !== '') report.unique(`${at}.name`, name, names)
    if (textIn(driver, 'nodeID') === '') report.required(`${at}.nodeID`)
  })
}

const columns: TableColumns = {
  definitions: [nameColumn, column('Drivers', 'integer', 'How many CSI drivers the node has.'), ageColumn],
  cells: (o, now) => [nameOf(o), listAt(o, 'spec', 'drivers').length, ageOf(o, now)],
}

export const csiNode: BuiltInKind = {
  strategy: { validate: validateWholeWith(checkCsiNode), unconditionalUpdate: false, returnsDeleted: true },
  columns,
}
