/** Priority classes. @see pkg/apis/scheduling/{validation,v1/defaults.go} of Kubernetes 1.36 */
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { ageColumn, ageOf, column, nameColumn, nameOf } from '../cell-text.ts'
import { fillAbsent } from '../default-rules.ts'
import { booleanAt, numberAt, textAt } from '../field-access.ts'
import { type BuiltInKind, validateWholeWith } from '../kind.ts'
import { numberIn, type Report } from '../report.ts'

const highestUserPriority = 1_000_000_000

const systemPriorities: Readonly<Record<string, number>> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
}

function checkPriorityClass(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const name = next.metadata.name ?? ''
  const value = numberIn(next, 'value') ?? 0
  if (name.startsWith('system-')) {
    const known = systemPriorities[name]
    if (known === undefined) {
      report.forbidden(
        'metadata.name',
        "priority class names with 'system-' prefix are reserved for system use only. error: " +
          `${name} is not a known system priority class`,
      )
    } else if (known !== value) {
      report.forbidden(
        'metadata.name',
        `priority class names with 'system-' prefix are reserved for system use only. error: value of ` +
          `${name} PriorityClass must be ${known}`,
      )
    }
  } else if (value > highestUserPriority) {
    report.forbidden('value', `maximum allowed value of a user defined priority is ${highestUserPriority}`)
  }
  report.oneOfIfSet('preemptionPolicy', next.preemptionPolicy, ['PreemptLowerPriority', 'Never'])
  if (!old) return
  if (value !== (numberIn(old, 'value') ?? 0)) report.forbidden('value', 'may not be changed in an update.')
  report.immutable('preemptionPolicy', next.preemptionPolicy, old.preemptionPolicy)
}

const columns: TableColumns = {
  definitions: [
    nameColumn,
    column('Value', 'integer', 'The priority its pods get.'),
    column('Global-Default', 'boolean', 'Whether pods without a class get this one.'),
    ageColumn,
    column('PreemptionPolicy', 'string', 'Whether its pods may push others out.'),
  ],
  cells: (o, now) => [
    nameOf(o),
    numberAt(o, 'value'),
    booleanAt(o, 'globalDefault'),
    ageOf(o, now),
    textAt(o, 'preemptionPolicy'),
  ],
}

export const priorityClass: BuiltInKind = {
  shortNames: ['pc'],
  strategy: { validate: validateWholeWith(checkPriorityClass), tracksGeneration: true },
  defaults: {
    'io.k8s.api.scheduling.v1.PriorityClass': [fillAbsent({ preemptionPolicy: 'PreemptLowerPriority' })],
  },
  columns,
}
