/**
 * Deployments.
 * @see ValidateDeploymentSpec in pkg/apis/apps/validation, pkg/apis/apps/v1/defaults.go of Kubernetes 1.36
 */
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import {
  ageColumn,
  ageOf,
  column,
  containerColumns,
  nameColumn,
  nameOf,
  printSelectorObject,
  selectorColumn,
} from '../cell-text.ts'
import { checkPodTemplate } from '../core/pod-template.ts'
import { type DefaultRules, fillAbsent, fillUnset } from '../default-rules.ts'
import { numberAt, objectAt } from '../field-access.ts'
import { type BuiltInKind, validatePartsWith } from '../kind.ts'
import { findPart, numberIn, partIn, type Report, textIn } from '../report.ts'
import {
  checkAlwaysRestarts,
  checkPercent,
  checkSelector,
  isZero,
  rolling,
  shownStrategy,
  templateContainers,
} from './workload.ts'
import { checkDeploymentStatus } from './workload-status.ts'

function checkDeployment(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const spec = partIn(next, 'spec')
  report.notNegative(spec, 'spec', 'replicas')
  checkSelector(report, spec, 'deployment')
  checkPodTemplate(report, 'spec.template', partIn(spec, 'template'), findPart(findPart(old, 'spec'), 'template'))
  checkAlwaysRestarts(report, spec, 'ReplicaSet')
  const strategy = partIn(spec, 'strategy')
  const type = textIn(strategy, 'type')
  const rolling = findPart(strategy, 'rollingUpdate')
  if (type === 'Recreate') {
    if (rolling) {
      report.forbidden('spec.strategy.rollingUpdate', "may not be specified when strategy `type` is 'Recreate'")
    }
  } else if (type === 'RollingUpdate') {
    const at = 'spec.strategy.rollingUpdate'
    checkPercent(report, `${at}.maxUnavailable`, rolling?.maxUnavailable, true)
    checkPercent(report, `${at}.maxSurge`, rolling?.maxSurge)
    if (isZero(rolling?.maxUnavailable) && isZero(rolling?.maxSurge)) {
      report.invalid(`${at}.maxUnavailable`, rolling?.maxUnavailable ?? 0, 'may not be 0 when `maxSurge` is 0')
    }
  } else report.notSupported('spec.strategy', shownStrategy(strategy), ['Recreate', 'RollingUpdate'])
  report.notNegative(spec, 'spec', 'minReadySeconds', 'revisionHistoryLimit')
  const deadline = numberIn(spec, 'progressDeadlineSeconds')
  if (deadline !== undefined) {
    report.notNegative(spec, 'spec', 'progressDeadlineSeconds')
    if (deadline <= (numberIn(spec, 'minReadySeconds') ?? 0)) {
      report.invalid('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds')
    }
  }
  if (old) report.immutable('spec.selector', spec.selector, partIn(old, 'spec').selector)
}

const defaults: DefaultRules = {
  'io.k8s.api.apps.v1.DeploymentSpec': [
    fillAbsent({ replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 }),
  ],
  'io.k8s.api.apps.v1.DeploymentStrategy': [
    fillUnset({ type: 'RollingUpdate' }),
    rolling({ maxUnavailable: '25%', maxSurge: '25%' }),
  ],
}

const columns: TableColumns = {
  definitions: [
    nameColumn,
    column('Ready', 'string', 'How many pods are ready, of how many wanted.'),
    column('Up-to-date', 'string', 'How many pods have the current template.'),
    column('Available', 'string', 'How many pods have been ready long enough.'),
    ageColumn,
    ...containerColumns,
    selectorColumn,
  ],
  cells: (o, now) => [
    nameOf(o),
    `${numberAt(o, 'status', 'readyReplicas')}/${numberAt(o, 'spec', 'replicas')}`,
    numberAt(o, 'status', 'updatedReplicas'),
    numberAt(o, 'status', 'availableReplicas'),
    ageOf(o, now),
    ...templateContainers(o),
    printSelectorObject(objectAt(o, 'spec', 'selector')) ?? '<invalid>',
  ],
}

export const deployment: BuiltInKind = {
  shortNames: ['deploy'],
  categories: ['all'],
  strategy: {
    validate: validatePartsWith(checkDeployment, checkDeploymentStatus),
    tracksGeneration: true,
    // They are copied to its ReplicaSets.
    generationCounts: ({ spec, metadata }) => [spec, metadata.annotations ?? {}],
    keptMetadata: { status: ['labels'] },
  },
  defaults,
  columns,
}
