/**
 * Claims.
 * @see ValidatePersistentVolumeClaim in pkg/apis/core/validation, pkg/registry/core/persistentvolumeclaim of
 *   Kubernetes 1.36
 */
import { compareQuantities } from '../../../kube/quantity.ts'
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { unvalidated } from '../../../kube/unvalidated.ts'
import { ageColumn, ageOf, column, nameColumn, nameOf, quantityAt } from '../cell-text.ts'
import { fillAbsent, fillUnset } from '../default-rules.ts'
import { fieldAt, textAt, textsAt } from '../field-access.ts'
import { type BuiltInKind, type Prepare, validateWith } from '../kind.ts'
import { findPart, type Part, partIn, type Report, sameValue, textIn } from '../report.ts'
import { checkClaimSpec, withBothSources, withKnownSources } from './claim-spec.ts'
import { checkClaimStatus } from './claim-status.ts'
import {
  classColumns,
  phaseOf,
  preparePending,
  printAccessModes,
  storageClassOf,
  volumeModeColumn,
} from './persistent-volume.ts'
import { checkUnlessStored } from './pod-security.ts'
import { amountOf } from './resource-requirements.ts'

const hasGroup = (claim: KubeObject | undefined): boolean =>
  ['dataSource', 'dataSourceRef'].some((field) => findPart(findPart(claim, 'spec'), field)?.apiGroup !== undefined)

function checkPersistentVolumeClaim(
  report: Report,
  next: KubeObject,
  old: KubeObject | undefined,
  subresource: string,
): void {
  if (subresource === 'status') return checkClaimStatus(report, partIn(next, 'status'))
  const spec = partIn(next, 'spec')
  checkUnlessStored(report, spec, findPart(old, 'spec'), (own, part) =>
    checkClaimSpec(own, 'spec', part, hasGroup(old)),
  )
  if (old) checkClaimUpdate(report, spec, partIn(old, 'spec'), partIn(old, 'status'))
}

/** A volume may be given to a claim once; a bound claim may grow; nothing else changes. */
function checkClaimUpdate(report: Report, next: Part, old: Part, status: Part): void {
  const bound = textIn(status, 'phase') === 'Bound'
  const fixed = (spec: Part): Record<string, unknown> => {
    const copy: Record<string, unknown> = { ...withBothSources(spec) }
    if (textIn(old, 'volumeName') === '') copy.volumeName = undefined
    if (bound) {
      copy.volumeAttributesClassName = undefined
      copy.resources = {
        ...partIn(spec, 'resources'),
        requests: { ...partIn(partIn(spec, 'resources'), 'requests'), storage: undefined },
      }
    }
    if (copy.storageClassName === undefined || old.storageClassName === undefined) copy.storageClassName = undefined
    return copy
  }
  const a = fixed(next)
  const b = fixed(old)
  const changed = [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((f) => !sameValue(a[f], b[f])).sort()
  if (changed.length > 0) {
    report.forbidden(
      'spec',
      'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound ' +
        `claims\nchanged: ${changed.join(', ')}`,
    )
  }
  const was = amountOf(partIn(partIn(old, 'resources'), 'requests').storage)
  const is = amountOf(partIn(partIn(next, 'resources'), 'requests').storage)
  const there = amountOf(partIn(status, 'capacity').storage)
  // Less than was asked for may be asked for, so that an expansion that failed can be taken back.
  if (was && is && there && compareQuantities(is, was) < 0 && compareQuantities(is, there) <= 0) {
    report.forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity')
  }
  report.immutable('volumeMode', next.volumeMode, old.volumeMode)
}

const prepareClaim: Prepare = (next, old, context) => {
  const claim = preparePending(next, old, context)
  if (context.subresource !== '') return claim
  return unvalidated({ ...claim, spec: withKnownSources(partIn(next, 'spec'), findPart(old, 'spec')) })
}

const columns: TableColumns = {
  definitions: [
    nameColumn,
    column('Status', 'string', 'Whether it is bound.'),
    column('Volume', 'string', 'The volume it is bound to.'),
    column('Capacity', 'string', 'The size of that volume.'),
    column('Access Modes', 'string', 'How that volume can be mounted.'),
    ...classColumns,
    ageColumn,
    volumeModeColumn,
  ],
  cells(o, now) {
    const volume = textAt(o, 'spec', 'volumeName')
    return [
      nameOf(o),
      phaseOf(o),
      volume,
      volume ? quantityAt(o, 'status', 'capacity', 'storage') : '',
      volume ? printAccessModes(textsAt(o, 'status', 'accessModes')) : '',
      storageClassOf(o),
      fieldAt(o, 'spec', 'volumeAttributesClassName') ?? '<unset>',
      ageOf(o, now),
      fieldAt(o, 'spec', 'volumeMode') ?? '<unset>',
    ]
  },
}

export const persistentVolumeClaim: BuiltInKind = {
  shortNames: ['pvc'],
  strategy: { prepare: prepareClaim, validate: validateWith(checkPersistentVolumeClaim), returnsDeleted: true },
  defaults: {
    'io.k8s.api.core.v1.PersistentVolumeClaimSpec': [fillAbsent({ volumeMode: 'Filesystem' })],
    'io.k8s.api.core.v1.PersistentVolumeClaimStatus': [fillUnset({ phase: 'Pending' })],
  },
  columns,
}
