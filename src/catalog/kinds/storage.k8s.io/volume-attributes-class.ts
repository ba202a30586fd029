/** Volume attributes classes. @see ValidateVolumeAttributesClass in pkg/apis/storage/validation of Kubernetes 1.36 */
import { isQualifiedName } from '../../../kube/names.ts'
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { ageColumn, ageOf, column, nameColumn, nameOf } from '../cell-text.ts'
import { textAt } from '../field-access.ts'
import { type BuiltInKind, validateWholeWith } from '../kind.ts'
import { partIn, type Report, sameValue, textIn } from '../report.ts'
import { checkProvisionerParameters } from './parameters.ts'

function checkAttributesClass(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  for (const field of old ? ['driverName', 'parameters'] : []) {
    if (!sameValue(next[field], old?.[field])) report.forbidden(field, `updates to ${field} are forbidden.`)
  }
  const driver = textIn(next, 'driverName')
  if (driver === '') report.required('driverName')
  else report.each('driverName', driver, isQualifiedName(driver.toLowerCase()))
  const parameters = partIn(next, 'parameters')
  checkProvisionerParameters(report, parameters)
  if (Object.keys(parameters).length === 0) report.required('parameters', 'must contain at least one key/value pair')
}

const columns: TableColumns = {
  definitions: [nameColumn, column('DriverName', 'string', 'The driver it is for.'), ageColumn],
  cells: (o, now) => [nameOf(o), textAt(o, 'driverName'), ageOf(o, now)],
}

export const volumeAttributesClass: BuiltInKind = {
  shortNames: ['vac'],
  strategy: { validate: validateWholeWith(checkAttributesClass) },
  columns,
}
