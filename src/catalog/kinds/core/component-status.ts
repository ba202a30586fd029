/**
 * Component statuses, which are answered and never stored.
 * @see pkg/registry/core/componentstatus of Kubernetes 1.36
 */
import type { TableColumns } from '../../../kube/table.ts'
import { column, nameColumn, nameOf } from '../cell-text.ts'
import { listAt, textAt } from '../field-access.ts'
import type { BuiltInKind } from '../kind.ts'

const columns: TableColumns = {
  definitions: [
    nameColumn,
    column('Status', 'string', 'Whether it is healthy.'),
    column('Message', 'string', 'What it says.'),
    column('Error', 'string', 'What is wrong.'),
  ],
  cells(o) {
    const healthy = listAt(o, 'conditions').find((c) => textAt(c, 'type') === 'Healthy')
    const status = healthy === undefined ? 'Unknown' : textAt(healthy, 'status') === 'True' ? 'Healthy' : 'Unhealthy'
    return [nameOf(o), status, textAt(healthy, 'message'), textAt(healthy, 'error')]
  },
}

export const componentStatus: BuiltInKind = {
  shortNames: ['cs'],
  // OpenAPI has more of them than discovery.
  verbs: ['get', 'list'],
  columns,
}
