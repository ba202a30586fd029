/** Service accounts and their tokens. @see pkg/apis/authentication/v1/defaults.go of Kubernetes 1.36 */
import type { TableColumns } from '../../../kube/table.ts'
import { ageColumn, ageOf, column, nameColumn, nameOf } from '../cell-text.ts'
import { fillAbsent } from '../default-rules.ts'
import { listAt } from '../field-access.ts'
import type { BuiltInKind } from '../kind.ts'

const columns: TableColumns = {
  definitions: [nameColumn, column('Secrets', 'string', 'How many secrets its pods may mount.'), ageColumn],
  cells: (o, now) => [nameOf(o), listAt(o, 'secrets').length, ageOf(o, now)],
}

export const serviceAccount: BuiltInKind = {
  shortNames: ['sa'],
  strategy: { returnsDeleted: true },
  defaults: { 'io.k8s.api.authentication.v1.TokenRequestSpec': [fillAbsent({ expirationSeconds: 3600 })] },
  columns,
}
