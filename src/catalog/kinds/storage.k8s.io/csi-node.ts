/** CSI drivers of a node. @see ValidateCSINode in pkg/apis/storage/validation of Kubernetes 1.36 */
import { isQualifiedName } from '../../../kube/names.ts'
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { ageColumn, ageOf, column, nameColumn, nameOf } from '../cell-text.ts'
import { listAt } from '../field-access.ts'
import { type BuiltInKind, validateWholeWith } from '../kind.ts'
import { fieldIsImmutable, type Part, partIn, partsIn, type Report, sameValue, textIn, textsIn } from '../report.ts'
import { checkDriverName } from './csi-driver.ts'

const maxNodeId = 256

const driversOf = (node: KubeObject): readonly Part[] => partsIn(partIn(node, 'spec'), 'drivers')

function checkCsiNode(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const names = new Set<string>()
  driversOf(next).forEach((driver, i) => {
    const at = `spec.drivers[${i}]`
    const name = textIn(driver, 'name')
    checkDriverName(report, `${at}.name`, name)
    const id = textIn(driver, 'nodeID')
    if (id === '') report.required(`${at}.nodeID`)
    if (Buffer.byteLength(id) > maxNodeId) {
      report.invalid(`${at}.nodeID`, id, `must be ${maxNodeId} characters or less`)
    }
    report.notNegative(partIn(driver, 'allocatable'), `${at}.allocatable`, 'count')
    report.unique(`${at}.name`, name, names)
    const keys = new Set<string>()
    // Upstream names the driver here, not its key.
    for (const key of textsIn(driver, 'topologyKeys')) {
      if (key === '') report.required(at)
      report.unique(at, key, keys)
      report.each(at, key, isQualifiedName(key))
    }
  })
  if (old) checkDriversKept(report, driversOf(next), driversOf(old))
}

/** A driver may come and go, and tell how many volumes it can have. */
function checkDriversKept(report: Report, next: readonly Part[], old: readonly Part[]): void {
  for (const before of old) {
    for (const driver of next.filter((d) => d.name === before.name)) {
      if (sameValue({ ...driver, allocatable: null }, { ...before, allocatable: null })) continue
      const shown = {
        Name: textIn(driver, 'name'),
        NodeID: textIn(driver, 'nodeID'),
        TopologyKeys: driver.topologyKeys ?? null,
        Allocatable: null,
      }
      report.invalid('spec.drivers', shown, fieldIsImmutable)
    }
  }
}

const columns: TableColumns = {
  definitions: [nameColumn, column('Drivers', 'integer', 'How many CSI drivers the node has.'), ageColumn],
  cells: (o, now) => [nameOf(o), listAt(o, 'spec', 'drivers').length, ageOf(o, now)],
}

export const csiNode: BuiltInKind = {
  strategy: { validate: validateWholeWith(checkCsiNode), unconditionalUpdate: false, returnsDeleted: true },
  columns,
}
