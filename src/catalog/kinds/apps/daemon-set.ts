/**
 * Daemon sets.
 * @see ValidateDaemonSetSpec in pkg/apis/apps/validation, pkg/apis/apps/v1/defaults.go of Kubernetes 1.36
 */
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import {
  ageColumn,
  ageOf,
  column,
  containerColumns,
  labelsAt,
  nameColumn,
  nameOf,
  selectorAt,
  selectorColumn,
} from '../cell-text.ts'
import { checkPodTemplate } from '../core/pod-template.ts'
import { type DefaultRules, fillAbsent, fillUnset } from '../default-rules.ts'
import { numberAt } from '../field-access.ts'
import { type BuiltInKind, validatePartsWith } from '../kind.ts'
import { findPart, partIn, type Report, textIn } from '../report.ts'
import {
  checkAlwaysRestarts,
  checkPercent,
  checkSelector,
  isZero,
  rolling,
  shownStrategy,
  templateContainers,
} from './workload.ts'
import { checkDaemonSetStatus } from './workload-status.ts'

function checkDaemonSet(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const spec = partIn(next, 'spec')
  checkSelector(report, spec, 'daemonset')
  checkPodTemplate(report, 'spec.template', partIn(spec, 'template'), findPart(findPart(old, 'spec'), 'template'))
  checkAlwaysRestarts(report, spec, 'DaemonSet')
  const strategy = partIn(spec, 'updateStrategy')
  const type = textIn(strategy, 'type')
  if (type === 'RollingUpdate') {
    const at = 'spec.updateStrategy.rollingUpdate'
    const rolling = partIn(strategy, 'rollingUpdate')
    checkPercent(report, `${at}.maxUnavailable`, rolling.maxUnavailable, true)
    checkPercent(report, `${at}.maxSurge`, rolling.maxSurge, true)
    if (isZero(rolling.maxUnavailable) && isZero(rolling.maxSurge)) {
      report.required(`${at}.maxUnavailable`, 'cannot be 0 when maxSurge is 0')
    } else if (!isZero(rolling.maxUnavailable) && !isZero(rolling.maxSurge)) {
      report.invalid(`${at}.maxSurge`, rolling.maxSurge, 'may not be set when maxUnavailable is non-zero')
    }
  } else if (type !== 'OnDelete') {
    report.notSupported('spec.updateStrategy', shownStrategy(strategy), ['RollingUpdate', 'OnDelete'])
  }
  report.notNegative(spec, 'spec', 'minReadySeconds', 'revisionHistoryLimit')
  if (old) report.immutable('spec.selector', spec.selector, partIn(old, 'spec').selector)
}

const defaults: DefaultRules = {
  'io.k8s.api.apps.v1.DaemonSetSpec': [fillAbsent({ revisionHistoryLimit: 10 })],
  'io.k8s.api.apps.v1.DaemonSetUpdateStrategy': [
    fillUnset({ type: 'RollingUpdate' }),
    rolling({ maxUnavailable: 1, maxSurge: 0 }),
  ],
}

const columns: TableColumns = {
  definitions: [
    nameColumn,
    column('Desired', 'integer', 'How many nodes should run its pod.'),
    column('Current', 'integer', 'How many nodes run its pod, as they should.'),
    column('Ready', 'integer', 'How many nodes have its pod ready.'),
    column('Up-to-date', 'integer', 'How many nodes run the current template.'),
    column('Available', 'integer', 'How many nodes have had its pod ready long enough.'),
    column('Node Selector', 'string', 'The labels of the nodes it is for.'),
    ageColumn,
    ...containerColumns,
    selectorColumn,
  ],
  cells: (o, now) => [
    nameOf(o),
    numberAt(o, 'status', 'desiredNumberScheduled'),
    numberAt(o, 'status', 'currentNumberScheduled'),
    numberAt(o, 'status', 'numberReady'),
    numberAt(o, 'status', 'updatedNumberScheduled'),
    numberAt(o, 'status', 'numberAvailable'),
    labelsAt(o, 'spec', 'template', 'spec', 'nodeSelector'),
    ageOf(o, now),
    ...templateContainers(o),
    selectorAt(o, 'spec', 'selector'),
  ],
}

export const daemonSet: BuiltInKind = {
  shortNames: ['ds'],
  categories: ['all'],
  strategy: { validate: validatePartsWith(checkDaemonSet, checkDaemonSetStatus), tracksGeneration: true },
  defaults,
  columns,
}
