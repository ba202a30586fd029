/** Runtime classes. @see pkg/apis/node/validation of Kubernetes 1.36 */
import { isDns1123Label } from '../../../kube/names.ts'
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { ageColumn, ageOf, column, nameColumn, nameOf } from '../cell-text.ts'
import { textAt } from '../field-access.ts'
import { type BuiltInKind, validateWholeWith } from '../kind.ts'
import { type Report, textIn } from '../report.ts'

function checkRuntimeClass(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const handler = textIn(next, 'handler')
  if (old) report.immutable('handler', handler, old.handler)
  report.each('handler', handler, isDns1123Label(handler))
}

const columns: TableColumns = {
  definitions: [nameColumn, column('Handler', 'string', 'What runs its containers.'), ageColumn],
  cells: (o, now) => [nameOf(o), textAt(o, 'handler'), ageOf(o, now)],
}

export const runtimeClass: BuiltInKind = {
  strategy: { validate: validateWholeWith(checkRuntimeClass), createOnUpdate: true, unconditionalUpdate: false },
  columns,
}
