/** Flow schemas. @see pkg/apis/flowcontrol/v1/defaults.go, pkg/registry/flowcontrol/flowschema of Kubernetes 1.36 */
import type { TableColumns } from '../../../kube/table.ts'
import { ageColumn, ageOf, column, nameColumn, nameOf } from '../cell-text.ts'
import { fillUnset } from '../default-rules.ts'
import { conditionAt, numberAt, textAt } from '../field-access.ts'
import { allMetadata, type BuiltInKind } from '../kind.ts'

const columns: TableColumns = {
  definitions: [
    nameColumn,
    column('PriorityLevel', 'string', 'The priority level its requests go to.'),
    column('MatchingPrecedence', 'string', 'The lower, the earlier it is tried.'),
    column('DistinguisherMethod', 'string', 'How its requests are told apart.'),
    ageColumn,
    column('MissingPL', 'string', 'Whether its priority level is missing.'),
  ],
  cells: (o, now) => [
    nameOf(o),
    textAt(o, 'spec', 'priorityLevelConfiguration', 'name'),
    numberAt(o, 'spec', 'matchingPrecedence'),
    textAt(o, 'spec', 'distinguisherMethod', 'type') || '<none>',
    ageOf(o, now),
    textAt(conditionAt(o, 'Dangling'), 'status') || '?',
  ],
}

export const flowSchema: BuiltInKind = {
  strategy: { tracksGeneration: true, keptMetadata: { status: allMetadata } },
  defaults: { 'io.k8s.api.flowcontrol.v1.FlowSchemaSpec': [fillUnset({ matchingPrecedence: 1000 })] },
  columns,
}
