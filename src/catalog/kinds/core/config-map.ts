/** ConfigMaps. @see ValidateConfigMap in pkg/apis/core/validation of Kubernetes 1.36 */
import { isConfigMapKey } from '../../../kube/names.ts'
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { ageColumn, ageOf, column, entriesAt, nameColumn, nameOf } from '../cell-text.ts'
import { type BuiltInKind, validateWholeWith } from '../kind.ts'
import { partIn, type Report, sameValue } from '../report.ts'

export const maxSizeBytes: number = 1024 * 1024

const frozen = 'field is immutable when `immutable` is set'

export const base64Bytes = (text: string): number =>
  Math.floor((text.length * 3) / 4) - (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0)

export function checkFrozen(report: Report, next: KubeObject, old: KubeObject, fields: readonly string[]): void {
  if (old.immutable !== true) return
  if (next.immutable !== true) report.forbidden('immutable', frozen)
  for (const field of fields) if (!sameValue(next[field], old[field])) report.forbidden(field, frozen)
}

function checkConfigMap(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  if (old !== undefined) checkFrozen(report, next, old, ['data', 'binaryData'])
  const data = partIn(next, 'data')
  const binary = partIn(next, 'binaryData')
  let sizeBytes = 0
  for (const [key, value] of Object.entries(data)) {
    report.each(`data[${key}]`, key, isConfigMapKey(key))
    if (Object.hasOwn(binary, key)) report.invalid(`data[${key}]`, key, 'duplicate of key present in binaryData')
    sizeBytes += Buffer.byteLength(String(value))
  }
  for (const [key, value] of Object.entries(binary)) {
    report.each(`binaryData[${key}]`, key, isConfigMapKey(key))
    sizeBytes += base64Bytes(String(value))
  }
  if (sizeBytes > maxSizeBytes) report.tooLong('[]', maxSizeBytes)
}

const columns: TableColumns = {
  definitions: [nameColumn, column('Data', 'string', 'How many entries it has.'), ageColumn],
  cells: (o, now) => [nameOf(o), entriesAt(o, 'data') + entriesAt(o, 'binaryData'), ageOf(o, now)],
}

export const configMap: BuiltInKind = {
  shortNames: ['cm'],
  strategy: { validate: validateWholeWith(checkConfigMap) },
  columns,
}
