/** Controller revisions. @see ValidateControllerRevision in pkg/apis/apps/validation of Kubernetes 1.36 */
import { parseApiVersion, qualifiedKind } from '../../../kube/gvk.ts'
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { ageColumn, ageOf, column, nameColumn, nameOf } from '../cell-text.ts'
import { booleanAt, listAt, numberAt, textAt } from '../field-access.ts'
import { type BuiltInKind, validateWholeWith } from '../kind.ts'
import { notNegative, numberIn, type Report } from '../report.ts'

function checkControllerRevision(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  if (next.data === undefined) report.required('data', 'data is mandatory')
  const revision = numberIn(next, 'revision') ?? 0
  if (revision < 0) report.invalid('revision', revision, notNegative)
  if (old) report.immutable('data', next.data, old.data)
}

function controllerOf(object: KubeObject): string {
  const owner = listAt(object, 'metadata', 'ownerReferences').find((o) => booleanAt(o, 'controller'))
  if (!owner) return '<none>'
  const group = parseApiVersion(textAt(owner, 'apiVersion'))?.group ?? ''
  return `${qualifiedKind({ group, kind: textAt(owner, 'kind') }).toLowerCase()}/${textAt(owner, 'name')}`
}

const columns: TableColumns = {
  definitions: [
    nameColumn,
    column('Controller', 'string', 'Whose history it belongs to.'),
    column('Revision', 'string', 'Its place in that history.'),
    ageColumn,
  ],
  cells: (o, now) => [nameOf(o), controllerOf(o), numberAt(o, 'revision'), ageOf(o, now)],
}

export const controllerRevision: BuiltInKind = {
  strategy: { validate: validateWholeWith(checkControllerRevision) },
  columns,
}
