/** Pod disruption budgets. @see ValidatePodDisruptionBudgetSpec in pkg/apis/policy/validation of Kubernetes 1.36 */
import { validateLabelSelector } from '../../../kube/label-selector.ts'
import { nameIsPathSegment } from '../../../kube/names.ts'
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { ageColumn, ageOf, column, intOrStringAt, nameColumn, nameOf } from '../cell-text.ts'
import { checkStandardConditions } from '../conditions.ts'
import { numberAt } from '../field-access.ts'
import { type BuiltInKind, validatePartsWith } from '../kind.ts'
import { checkIntOrPercent, findPart, type Part, partIn, partsIn, percentOf, type Report } from '../report.ts'

function checkPodDisruptionBudget(report: Report, next: KubeObject): void {
  const spec = partIn(next, 'spec')
  if (spec.minAvailable !== undefined && spec.maxUnavailable !== undefined) {
    report.invalid('spec', shownSpec(spec), 'minAvailable and maxUnavailable cannot be both set')
  }
  for (const field of ['minAvailable', 'maxUnavailable']) {
    checkIntOrPercent(report, `spec.${field}`, spec[field])
    const percent = percentOf(spec[field])
    if (percent !== undefined && percent > 100)
      report.invalid(`spec.${field}`, spec[field], 'must not be greater than 100%')
  }
  report.oneOfIfSet('spec.unhealthyPodEvictionPolicy', spec.unhealthyPodEvictionPolicy, [
    'AlwaysAllow',
    'IfHealthyBudget',
  ])
  report.add(validateLabelSelector(findPart(spec, 'selector'), 'spec.selector'))
}

function checkStatus(report: Report, next: KubeObject): void {
  const status = partIn(next, 'status')
  checkStandardConditions(report, 'status.conditions', partsIn(status, 'conditions'))
  report.notNegative(status, 'status', 'disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods')
}

/** As Go prints it. */
const shownSpec = (spec: Part): object => ({
  MinAvailable: spec.minAvailable ?? null,
  Selector: spec.selector ?? null,
  MaxUnavailable: spec.maxUnavailable ?? null,
  UnhealthyPodEvictionPolicy: spec.unhealthyPodEvictionPolicy ?? null,
})

const columns: TableColumns = {
  definitions: [
    nameColumn,
    column('Min Available', 'string', 'How many pods must stay available.'),
    column('Max Unavailable', 'string', 'How many pods may be unavailable.'),
    column('Allowed Disruptions', 'integer', 'How many pods may be evicted now.'),
    ageColumn,
  ],
  cells: (o, now) => [
    nameOf(o),
    intOrStringAt(o, 'N/A', 'spec', 'minAvailable'),
    intOrStringAt(o, 'N/A', 'spec', 'maxUnavailable'),
    numberAt(o, 'status', 'disruptionsAllowed'),
    ageOf(o, now),
  ],
}

export const podDisruptionBudget: BuiltInKind = {
  shortNames: ['pdb'],
  strategy: {
    // Upstream never asks more of its name, though it may become that of no other object.
    validateName: nameIsPathSegment,
    validate: validatePartsWith(checkPodDisruptionBudget, checkStatus),
    unconditionalUpdate: false,
    tracksGeneration: true,
  },
  columns,
}
