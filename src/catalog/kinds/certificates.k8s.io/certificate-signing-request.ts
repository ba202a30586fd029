/**
 * Certificate signing requests, but for what may be asked for and decided: that is in `src/apis/certificates/`.
 * @see pkg/registry/certificates of Kubernetes 1.36
 */
import { humanDuration } from '../../../kube/duration.ts'
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { ageColumn, ageOf, column, nameColumn, nameOf } from '../cell-text.ts'
import { conditionAt, fieldAt, numberAt, textAt } from '../field-access.ts'
import type { BuiltInKind } from '../kind.ts'
import { selectableFields } from '../selectable-fields.ts'

function requestCondition(request: KubeObject): string {
  const has = (type: string): boolean => conditionAt(request, type) !== undefined
  const decision = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending'
  return `${decision}${has('Failed') ? ',Failed' : ''}${textAt(request, 'status', 'certificate') ? ',Issued' : ''}`
}

const columns: TableColumns = {
  definitions: [
    nameColumn,
    ageColumn,
    column('SignerName', 'string', 'Who is asked to sign.'),
    column('Requestor', 'string', 'Who asks.'),
    column('RequestedDuration', 'string', 'How long it should be valid.'),
    column('Condition', 'string', 'What has been decided.'),
  ],
  cells(o, now) {
    const seconds = fieldAt(o, 'spec', 'expirationSeconds')
    return [
      nameOf(o),
      ageOf(o, now),
      textAt(o, 'spec', 'signerName') || '<none>',
      textAt(o, 'spec', 'username'),
      seconds === undefined ? '<none>' : humanDuration(numberAt(o, 'spec', 'expirationSeconds') * 1000),
      requestCondition(o),
    ]
  },
}

export const certificateSigningRequest: BuiltInKind = {
  shortNames: ['csr'],
  strategy: { selectableFields: selectableFields('spec.signerName') },
  columns,
}
