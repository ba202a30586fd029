/**
 * Replication controllers.
 * @see ValidateReplicationController in pkg/apis/core/validation, pkg/apis/core/v1/defaults.go of Kubernetes 1.36
 */
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { checkAlwaysRestarts, replicaCells, replicaColumns, selectorMismatch } from '../apps/workload.ts'
import { checkReplicaStatus } from '../apps/workload-status.ts'
import { labelsAt } from '../cell-text.ts'
import { type DefaultRule, findStruct, structIn } from '../default-rules.ts'
import { type BuiltInKind, validatePartsWith } from '../kind.ts'
import { findPart, partIn, type Report } from '../report.ts'
import { selectableAt } from '../selectable-fields.ts'
import { checkPodTemplate } from './pod-template.ts'

function checkReplicationController(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const spec = partIn(next, 'spec')
  report.notNegative(spec, 'spec', 'minReadySeconds', 'replicas')
  const selector = partIn(spec, 'selector') as Record<string, string>
  if (Object.keys(selector).length === 0) report.required('spec.selector')
  const template = findPart(spec, 'template')
  if (!template) return report.required('spec.template')
  const labels = (partIn(template, 'metadata').labels as Record<string, string> | undefined) ?? {}
  if (Object.entries(selector).some(([key, value]) => labels[key] !== value)) {
    report.invalid('spec.template.metadata.labels', labels, selectorMismatch)
  }
  checkPodTemplate(report, 'spec.template', template, findPart(findPart(old, 'spec'), 'template'))
  checkAlwaysRestarts(report, spec, 'ReplicationController')
}

const defaultObject: DefaultRule = (object) => {
  const spec = structIn(object, 'spec')
  const template = findStruct(spec, 'template')
  const labels = template && findStruct(structIn(template, 'metadata'), 'labels')
  if (labels) {
    if (Object.keys(findStruct(spec, 'selector') ?? {}).length === 0) spec.selector = { ...labels }
    const metadata = structIn(object, 'metadata')
    if (Object.keys(findStruct(metadata, 'labels') ?? {}).length === 0) metadata.labels = { ...labels }
  }
  if (spec.replicas === undefined) spec.replicas = 1
}

const columns: TableColumns = {
  definitions: replicaColumns,
  cells: (o, now) => [...replicaCells(o, now), labelsAt(o, 'spec', 'selector')],
}

export const replicationController: BuiltInKind = {
  shortNames: ['rc'],
  categories: ['all'],
  strategy: {
    validate: validatePartsWith(checkReplicationController, checkReplicaStatus),
    orphansDependents: true,
    tracksGeneration: true,
    selectableFields: { 'status.replicas': selectableAt('status.replicas', '0') },
  },
  defaults: { 'io.k8s.api.core.v1.ReplicationController': [defaultObject] },
  columns,
}
