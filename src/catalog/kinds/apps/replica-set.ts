/**
 * Replica sets.
 * @see ValidateReplicaSetSpec in pkg/apis/apps/validation, pkg/apis/apps/v1/defaults.go of Kubernetes 1.36
 */
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { selectorAt } from '../cell-text.ts'
import { checkPodTemplate } from '../core/pod-template.ts'
import { fillAbsent } from '../default-rules.ts'
import { type BuiltInKind, validatePartsWith } from '../kind.ts'
import { findPart, partIn, type Report } from '../report.ts'
import { selectableAt } from '../selectable-fields.ts'
import { checkAlwaysRestarts, checkSelector, replicaCells, replicaColumns } from './workload.ts'
import { checkReplicaStatus } from './workload-status.ts'

function checkReplicaSet(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const spec = partIn(next, 'spec')
  report.notNegative(spec, 'spec', 'replicas', 'minReadySeconds')
  checkSelector(report, spec, 'deployment')
  checkPodTemplate(report, 'spec.template', partIn(spec, 'template'), findPart(findPart(old, 'spec'), 'template'))
  checkAlwaysRestarts(report, spec, 'ReplicaSet')
  if (old) report.immutable('spec.selector', spec.selector, partIn(old, 'spec').selector)
}

const columns: TableColumns = {
  definitions: replicaColumns,
  cells: (o, now) => [...replicaCells(o, now), selectorAt(o, 'spec', 'selector')],
}

export const replicaSet: BuiltInKind = {
  shortNames: ['rs'],
  categories: ['all'],
  strategy: {
    validate: validatePartsWith(checkReplicaSet, checkReplicaStatus),
    tracksGeneration: true,
    selectableFields: { 'status.replicas': selectableAt('status.replicas', '0') },
  },
  defaults: { 'io.k8s.api.apps.v1.ReplicaSetSpec': [fillAbsent({ replicas: 1 })] },
  columns,
}
