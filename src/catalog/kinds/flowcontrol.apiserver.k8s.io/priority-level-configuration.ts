/**
 * Priority levels.
 * @see pkg/apis/flowcontrol/v1/defaults.go, pkg/registry/flowcontrol/prioritylevelconfiguration of Kubernetes 1.36
 */
import type { TableColumns } from '../../../kube/table.ts'
import { ageColumn, ageOf, column, nameColumn, nameOf } from '../cell-text.ts'
import { fillAbsent, fillUnset } from '../default-rules.ts'
import { fieldAt, textAt } from '../field-access.ts'
import { allMetadata, type BuiltInKind } from '../kind.ts'

const columns: TableColumns = {
  definitions: [
    nameColumn,
    column('Type', 'string', 'Limited or Exempt.'),
    column('NominalConcurrencyShares', 'string', 'Its share of the requests that run at once.'),
    column('Queues', 'string', 'How many queues it has.'),
    column('HandSize', 'string', 'How many queues a flow may use.'),
    column('QueueLengthLimit', 'string', 'How many requests a queue holds.'),
    ageColumn,
  ],
  cells(o, now) {
    const queuing = (field: string): unknown =>
      fieldAt(o, 'spec', 'limited', 'limitResponse', 'queuing', field) ?? '<none>'
    return [
      nameOf(o),
      textAt(o, 'spec', 'type'),
      fieldAt(o, 'spec', 'limited', 'nominalConcurrencyShares') ?? '<none>',
      queuing('queues'),
      queuing('handSize'),
      queuing('queueLengthLimit'),
      ageOf(o, now),
    ]
  },
}

export const priorityLevelConfiguration: BuiltInKind = {
  strategy: { tracksGeneration: true, keptMetadata: { status: allMetadata } },
  defaults: {
    'io.k8s.api.flowcontrol.v1.LimitedPriorityLevelConfiguration': [
      fillAbsent({ nominalConcurrencyShares: 30, lendablePercent: 0 }),
    ],
    'io.k8s.api.flowcontrol.v1.ExemptPriorityLevelConfiguration': [
      fillAbsent({ nominalConcurrencyShares: 0, lendablePercent: 0 }),
    ],
    'io.k8s.api.flowcontrol.v1.QueuingConfiguration': [fillUnset({ handSize: 8, queues: 64, queueLengthLimit: 50 })],
  },
  columns,
}
