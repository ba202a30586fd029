/** Volume attachments. @see ValidateVolumeAttachment in pkg/apis/storage/validation of Kubernetes 1.36 */
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { ageColumn, ageOf, column, nameColumn, nameOf } from '../cell-text.ts'
import { booleanAt, textAt } from '../field-access.ts'
import { allMetadata, type BuiltInKind, validateWholeWith } from '../kind.ts'
import { type Part, partIn, type Report, sameValue, textIn } from '../report.ts'
import { checkDriverName } from './csi-driver.ts'

function checkVolumeAttachment(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const spec = partIn(next, 'spec')
  checkDriverName(report, 'spec.attacher', textIn(spec, 'attacher'))
  report.subdomain('spec.nodeName', textIn(spec, 'nodeName'))
  const source = partIn(spec, 'source')
  const { persistentVolumeName: volume, inlineVolumeSpec: inline } = source
  const onlyOne = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'
  if (volume === undefined && inline === undefined) report.required('spec.source', onlyOne)
  else if (volume !== undefined && inline !== undefined) report.forbidden('spec.source', onlyOne)
  else if (typeof volume === 'string') {
    const at = 'spec.source.persistentVolumeName'
    if (volume === '') report.required(at, 'must specify non empty persistentVolumeName')
    if (!old) report.subdomain(at, volume)
  }
  if (old && !sameValue(spec, old.spec)) report.invalid('spec', shownSpec(spec), 'field is immutable')
}

/** As Go prints it, but for a volume that stands in it. */
const shownSpec = (spec: Part): object => {
  const { persistentVolumeName, inlineVolumeSpec } = partIn(spec, 'source')
  return {
    Attacher: textIn(spec, 'attacher'),
    Source: { PersistentVolumeName: persistentVolumeName ?? null, InlineVolumeSpec: inlineVolumeSpec ?? null },
    NodeName: textIn(spec, 'nodeName'),
  }
}

const columns: TableColumns = {
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

export const volumeAttachment: BuiltInKind = {
  strategy: {
    validate: validateWholeWith(checkVolumeAttachment),
    unconditionalUpdate: false,
    returnsDeleted: true,
    keptMetadata: { status: allMetadata },
  },
  columns,
}
