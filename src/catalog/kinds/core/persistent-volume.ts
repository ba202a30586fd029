/**
 * Persistent volumes.
 * @see ValidatePersistentVolume in pkg/apis/core/validation, pkg/registry/core/persistentvolume of Kubernetes 1.36
 */
import type { ColumnDefinition, TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { ageColumn, ageOf, column, isDeleting, nameColumn, nameOf, quantityAt, wide } from '../cell-text.ts'
import { fillAbsent, fillUnset } from '../default-rules.ts'
import { fieldAt, objectAt, textAt, textsAt } from '../field-access.ts'
import { type BuiltInKind, type Prepare, validateWith } from '../kind.ts'
import { findPart, type Part, partIn, type Report, sameValue, textIn } from '../report.ts'
import { checkAccessModes, volumeModes } from './access-modes.ts'
import { checkPersistentSources, persistentSourcesOf } from './persistent-sources.ts'
import { checkUnlessStored } from './pod-security.ts'
import { amountOf } from './resource-requirements.ts'

const reclaimPolicies = ['Delete', 'Recycle', 'Retain']

/** As Go prints a map. */
const sortKeys = (part: Part): Part => Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))

function checkCapacity(report: Report, field: string, value: unknown): void {
  const amount = amountOf(value)
  if (amount === undefined) return
  // Upstream counts in whole units here, rounded up, as everywhere.
  if (amount.nanos <= -1_000_000_000n) {
    report.invalid(field, Number(amount.nanos / 1_000_000_000n), 'must be a valid resource quantity')
  }
  if (amount.nanos <= 0n) report.invalid(field, value, 'must be greater than zero')
}

function checkAttributesClass(report: Report, spec: Part): void {
  const { volumeAttributesClassName: name } = spec
  if (typeof name !== 'string') return
  const field = 'spec.volumeAttributesClassName'
  if (name === '') report.required(field, 'an empty string is disallowed')
  else report.subdomain(field, name)
  if (spec.csi === undefined) report.required('spec.csi', 'has to be specified when using volumeAttributesClassName')
}

function checkPersistentVolume(
  report: Report,
  next: KubeObject,
  old: KubeObject | undefined,
  subresource: string,
): void {
  if (subresource === 'status') return
  const spec = partIn(next, 'spec')
  checkAccessModes(report, 'spec.accessModes', spec)
  const capacity = partIn(spec, 'capacity')
  if (Object.keys(capacity).length === 0) report.required('spec.capacity')
  if (Object.keys(capacity).length > 1 || capacity.storage === undefined) {
    report.notSupported('spec.capacity', sortKeys(capacity), ['storage'])
  }
  for (const name of Object.keys(capacity).sort()) checkCapacity(report, `spec.capacity[${name}]`, capacity[name])
  report.oneOfIfSet('spec.persistentVolumeReclaimPolicy', spec.persistentVolumeReclaimPolicy, reclaimPolicies)
  report.oneOfIfSet('spec.volumeMode', spec.volumeMode, volumeModes)
  const className = textIn(spec, 'storageClassName')
  if (className !== '') report.subdomain('spec.storageClassName', className)
  checkUnlessStored(report, spec, findPart(old, 'spec'), (own, part) => {
    checkPersistentSources(own, 'spec', part, next.metadata.name ?? '')
    checkAttributesClass(own, part)
  })
  if (!old) return
  const before = partIn(old, 'spec')
  const sources = persistentSourcesOf(spec)
  const same =
    sources.length === persistentSourcesOf(before).length && sources.every((s) => sameValue(spec[s], before[s]))
  if (!same) report.forbidden('spec.persistentvolumesource', 'spec.persistentvolumesource is immutable after creation')
  report.immutable('volumeMode', spec.volumeMode, before.volumeMode)
}

/** Claims and volumes begin as pending. */
export const preparePending: Prepare = (next, old) => (old ? next : { ...next, status: { phase: 'Pending' } })

const modes: readonly (readonly [string, string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
]

export const printAccessModes = (given: readonly string[]): string =>
  modes
    .filter(([mode]) => given.includes(mode))
    .map(([, short]) => short)
    .join(',')

/** An old annotation stands above the field. */
export const storageClassOf = (object: KubeObject): string =>
  object.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? textAt(object, 'spec', 'storageClassName')

export const phaseOf = (object: KubeObject): string =>
  isDeleting(object) ? 'Terminating' : textAt(object, 'status', 'phase')

export const classColumns: readonly ColumnDefinition[] = [
  column('StorageClass', 'string', 'Its storage class.'),
  column('VolumeAttributesClass', 'string', 'Its volume attributes class.'),
]

export const volumeModeColumn: ColumnDefinition = wide(
  'VolumeMode',
  'string',
  'Whether it holds files or is a raw device.',
)

const columns: TableColumns = {
  definitions: [
    nameColumn,
    column('Capacity', 'string', 'Its size.'),
    column('Access Modes', 'string', 'How it can be mounted.'),
    column('Reclaim Policy', 'string', 'What becomes of it when its claim goes.'),
    column('Status', 'string', 'Whether it is free, bound or released.'),
    column('Claim', 'string', 'The claim it is bound to.'),
    ...classColumns,
    column('Reason', 'string', 'Why it is in this status.'),
    ageColumn,
    volumeModeColumn,
  ],
  cells(o, now) {
    const claim = objectAt(o, 'spec', 'claimRef')
    return [
      nameOf(o),
      quantityAt(o, 'spec', 'capacity', 'storage'),
      printAccessModes(textsAt(o, 'spec', 'accessModes')),
      textAt(o, 'spec', 'persistentVolumeReclaimPolicy'),
      phaseOf(o),
      claim ? `${textAt(claim, 'namespace')}/${textAt(claim, 'name')}` : '',
      storageClassOf(o),
      fieldAt(o, 'spec', 'volumeAttributesClassName') ?? '<unset>',
      textAt(o, 'status', 'reason'),
      ageOf(o, now),
      fieldAt(o, 'spec', 'volumeMode') ?? '<unset>',
    ]
  },
}

export const persistentVolume: BuiltInKind = {
  shortNames: ['pv'],
  strategy: { prepare: preparePending, validate: validateWith(checkPersistentVolume), returnsDeleted: true },
  defaults: {
    'io.k8s.api.core.v1.PersistentVolumeSpec': [
      fillUnset({ persistentVolumeReclaimPolicy: 'Retain' }),
      fillAbsent({ volumeMode: 'Filesystem' }),
    ],
    'io.k8s.api.core.v1.PersistentVolumeStatus': [fillUnset({ phase: 'Pending' })],
  },
  columns,
}
