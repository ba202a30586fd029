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
import { type Part, partIn, partsIn, type Report, sameValue, textIn, textsIn } from '../report.ts'
import { checkProvisionerParameters } from './parameters.ts'

const bindingModes = ['Immediate', 'WaitForFirstConsumer']

function checkTopologies(report: Report, terms: readonly Part[]): void {
  // Go compares with as many empty terms as it makes room for.
  const seen = terms.map(() => '')
  terms.forEach((term, i) => {
    const at = `allowedTopologies[${i}].matchLabelExpressions`
    const valuesOf = new Map<string, string>()
    partsIn(term, 'matchLabelExpressions').forEach((expression, j) => {
      const key = textIn(expression, 'key')
      const values = textsIn(expression, 'values')
      const before = new Set<string>()
      if (values.length === 0) report.required(`${at}[${j}].values`)
      values.forEach((value, k) => report.unique(`${at}[${j}].values[${k}]`, value, before))
      report.each(`${at}[${j}].key`, key, isQualifiedName(key))
      if (valuesOf.has(key)) report.duplicate(`${at}[${j}].key`, key)
      valuesOf.set(key, [...values].sort().join())
    })
    const shape = JSON.stringify([...valuesOf].sort())
    const all = valuesOf.size === 0 ? '' : shape
    for (const one of seen) if (one === all) report.duplicate(at, '')
    seen.push(all)
  })
}

function checkStorageClass(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const provisioner = textIn(next, 'provisioner')
  if (provisioner === '') report.required('provisioner')
  else report.each('provisioner', provisioner, isQualifiedName(provisioner.toLowerCase()))
  const reclaimPolicy = textIn(next, 'reclaimPolicy')
  if (reclaimPolicy !== '') report.oneOf('reclaimPolicy', reclaimPolicy, ['Delete', 'Retain'])
  report.oneOf('volumeBindingMode', textIn(next, 'volumeBindingMode'), bindingModes)
  checkProvisionerParameters(report, partIn(next, 'parameters'))
  checkTopologies(report, partsIn(next, 'allowedTopologies'))
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
