/**
 * Tables of volumes, claims, storage classes and CSI objects.
 * @see k8s.io/kubernetes/pkg/printers/internalversion/printers.go v1.36
 */

import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { ageColumn, ageOf, column, isDeleting, nameColumn, nameOf, quantityAt, wide } from '../cell-text.ts'
import { booleanAt, fieldAt, listAt, objectAt, textAt, textsAt } from '../field-access.ts'

const modes: readonly (readonly [string, string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
]

const accessModes = (given: readonly string[]): string =>
  modes
    .filter(([mode]) => given.includes(mode))
    .map(([, short]) => short)
    .join(',')

/** An old annotation stands above the field. */
const storageClassOf = (object: KubeObject): string =>
  object.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? textAt(object, 'spec', 'storageClassName')

const phaseOf = (object: KubeObject): string => (isDeleting(object) ? 'Terminating' : textAt(object, 'status', 'phase'))

const classColumns = [
  column('StorageClass', 'string', 'Its storage class.'),
  column('VolumeAttributesClass', 'string', 'Its volume attributes class.'),
]
const volumeModeColumn = wide('VolumeMode', 'string', 'Whether it holds files or is a raw device.')

export const persistentVolumes: TableColumns = {
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
      accessModes(textsAt(o, 'spec', 'accessModes')),
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

export const persistentVolumeClaims: TableColumns = {
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
      volume ? accessModes(textsAt(o, 'status', 'accessModes')) : '',
      storageClassOf(o),
      fieldAt(o, 'spec', 'volumeAttributesClassName') ?? '<unset>',
      ageOf(o, now),
      fieldAt(o, 'spec', 'volumeMode') ?? '<unset>',
    ]
  },
}

function isDefaultClass(object: KubeObject): boolean {
  const annotations = object.metadata.annotations
  return (
    annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true' ||
    annotations?.['storageclass.beta.kubernetes.io/is-default-class'] === 'true'
  )
}

export const storageClasses: TableColumns = {
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

export const volumeAttributesClasses: TableColumns = {
  definitions: [nameColumn, column('DriverName', 'string', 'The driver it is for.'), ageColumn],
  cells: (o, now) => [nameOf(o), textAt(o, 'driverName'), ageOf(o, now)],
}

export const volumeAttachments: TableColumns = {
  definitions: [
    nameColumn,
    column('Attacher', 'string', 'The driver that attaches the volume.', { format: 'name' }),
    column('PV', 'string', 'The volume.'),
    column('Node', 'string', 'The node.'),
    column('Attached', 'boolean', 'Whether it is done.'),
    ageColumn,
  ],
  cells: (o, now) => [
    nameOf(o),
    textAt(o, 'spec', 'attacher'),
    textAt(o, 'spec', 'source', 'persistentVolumeName'),
    textAt(o, 'spec', 'nodeName'),
    booleanAt(o, 'status', 'attached'),
    ageOf(o, now),
  ],
}

export const csiNodes: TableColumns = {
  definitions: [nameColumn, column('Drivers', 'integer', 'How many CSI drivers the node has.'), ageColumn],
  cells: (o, now) => [nameOf(o), listAt(o, 'spec', 'drivers').length, ageOf(o, now)],
}

export const csiDrivers: TableColumns = {
  definitions: [
    nameColumn,
    column('AttachRequired', 'boolean', 'Whether volumes must be attached before they are mounted.'),
    column('PodInfoOnMount', 'boolean', 'Whether it is told about the pod.'),
    column('StorageCapacity', 'boolean', 'Whether its capacity is looked at before pods are placed.'),
    column('TokenRequests', 'string', 'The audiences of the tokens it gets.'),
    column('RequiresRepublish', 'boolean', 'Whether mounts are refreshed from time to time.'),
    column('Modes', 'string', 'The kinds of volumes it offers.'),
    ageColumn,
  ],
  cells: (o, now) => [
    nameOf(o),
    fieldAt(o, 'spec', 'attachRequired') !== false,
    booleanAt(o, 'spec', 'podInfoOnMount'),
    booleanAt(o, 'spec', 'storageCapacity'),
    fieldAt(o, 'spec', 'tokenRequests') === undefined
      ? '<unset>'
      : listAt(o, 'spec', 'tokenRequests')
          .map((r) => textAt(r, 'audience'))
          .join(','),
    booleanAt(o, 'spec', 'requiresRepublish'),
    textsAt(o, 'spec', 'volumeLifecycleModes').join(',') || '<none>',
    ageOf(o, now),
  ],
}

export const csiStorageCapacities: TableColumns = {
  definitions: [
    nameColumn,
    column('StorageClassName', 'string', 'The storage class it is about.'),
    column('Capacity', 'string', 'How much is left.'),
  ],
  cells: (o) => [
    nameOf(o),
    textAt(o, 'storageClassName'),
    fieldAt(o, 'capacity') === undefined ? '<unset>' : quantityAt(o, 'capacity'),
  ],
}
