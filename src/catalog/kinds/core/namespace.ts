/**
 * Namespaces, but for their phases, finalizers and initializers: those are in `src/apis/namespaces/`.
 * @see pkg/apis/core/v1/defaults.go of Kubernetes 1.36
 */
import { nameIsLabel } from '../../../kube/names.ts'
import type { TableColumns } from '../../../kube/table.ts'
import { ageColumn, ageOf, column, nameColumn, nameOf } from '../cell-text.ts'
import { type DefaultRule, fillUnset, isUnset, structIn } from '../default-rules.ts'
import { textAt } from '../field-access.ts'
import type { BuiltInKind } from '../kind.ts'

const nameLabel = 'kubernetes.io/metadata.name'

/** Overwrites what was sent: no client can take the label off or change it (SEMANTICS 1.1). */
const namespaceLabel: DefaultRule = (namespace) => {
  const metadata = structIn(namespace, 'metadata')
  if (!isUnset(metadata.name)) structIn(metadata, 'labels')[nameLabel] = metadata.name
}

const columns: TableColumns = {
  definitions: [nameColumn, column('Status', 'string', 'Whether it is in use or going.'), ageColumn],
  cells: (o, now) => [nameOf(o), textAt(o, 'status', 'phase'), ageOf(o, now)],
}

export const namespace: BuiltInKind = {
  shortNames: ['ns'],
  strategy: { validateName: nameIsLabel, returnsDeleted: true },
  defaults: {
    'io.k8s.api.core.v1.Namespace': [namespaceLabel],
    'io.k8s.api.core.v1.NamespaceStatus': [fillUnset({ phase: 'Active' })],
  },
  columns,
}
