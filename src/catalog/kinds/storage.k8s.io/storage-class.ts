/**
 * Storage classes.
 * @see ValidateStorageClass in pkg/apis/storage/validation, pkg/apis/storage/v1/defaults.go of Kubernetes 1.36
 */
import { isQualifiedName } from '../../../kube/names.ts'
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { ageColumn, ageOf, column, nameColumn, nameOf } from '../cell-text.ts'
import { fillAbsent } from '../default-rules.ts'
import { booleanAt, textAt } from '../field-access.ts'
import { type BuiltInKind, validateWholeWith } from '../kind.ts'
import { partIn, partsIn, type Report, sameValue, textIn, textsIn } from '../report.ts'

const bindingModes = ['Immediate', 'WaitForFirstConsumer']

function checkStorageClass(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const provisioner = textIn(next, 'provisioner')
  if (provisioner === '') report.required('provisioner')
  else report.each('provisioner', provisioner, isQualifiedName(provisioner.toLowerCase()))
  report.oneOf('reclaimPolicy', textIn(next, 'reclaimPolicy'), ['Delete', 'Retain'])
  report.oneOf('volumeBindingMode', textIn(next, 'volumeBindingMode'), bindingModes)
  for (const key of Object.keys(partIn(next, 'parameters'))) {
    if (key === '') report.invalid('parameters', key, 'field can not be empty.')
  }
  partsIn(next, 'allowedTopologies').forEach((term, i) => {
    if (partsIn(term, 'matchLabelExpressions').length === 0) return
    partsIn(term, 'matchLabelExpressions').forEach((e, j) => {
      if (textsIn(e, 'values').length === 0)
        report.required(`allowedTopologies[${i}].matchLabelExpressions[${j}].values`)
    })
  })
  if (!old) return
  for (const field of ['parameters', 'provisioner', 'reclaimPolicy']) {
    if (!sameValue(next[field], old[field])) report.forbidden(field, `updates to ${field} are forbidden.`)
  }
  report.immutable('volumeBindingMode', next.volumeBindingMode, old.volumeBindingMode)
}

function isDefaultClass(object: KubeObject): boolean {
  const annotations = object.metadata.annotations
  return (
    annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true' ||
    annotations?.['storageclass.beta.kubernetes.io/is-default-class'] === 'true'
  )
}

const columns: TableColumns = {
  definitions: [
    nameColumn,
    column('Provisioner', 'string', 'Who makes its volumes.'),
    column('ReclaimPolicy', 'string', 'What becomes of a volume when its claim goes.'),
    column('VolumeBindingMode', 'string', 'When volumes are made and bound.'),
    column('AllowVolumeExpansion', 'string', 'Whether volumes may grow.'),
    ageColumn,
  ],
  cells: (o, now) => [
    `${nameOf(o)}${isDefaultClass(o) ? ' (default)' : ''}`,
    textAt(o, 'provisioner'),
    textAt(o, 'reclaimPolicy') || 'Delete',
    textAt(o, 'volumeBindingMode') || 'Immediate',
    booleanAt(o, 'allowVolumeExpansion'),
    ageOf(o, now),
  ],
}

export const storageClass: BuiltInKind = {
  shortNames: ['sc'],
  strategy: { validate: validateWholeWith(checkStorageClass), returnsDeleted: true },
  defaults: {
    'io.k8s.api.storage.v1.StorageClass': [fillAbsent({ reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' })],
  },
  columns,
}
