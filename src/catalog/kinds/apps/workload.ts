/**
 * What the kinds that make pods have in common: their selector, their template, the columns that count pods.
 * @see pkg/apis/apps/validation/validation.go of Kubernetes 1.36
 */

import { labelSelectorOf, matchesLabels, validateLabelSelector } from '../../../kube/label-selector.ts'
import type { ColumnDefinition } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import {
  ageColumn,
  ageOf,
  column,
  containerColumns,
  containersOf,
  nameColumn,
  nameOf,
  selectorColumn,
} from '../cell-text.ts'
import { type DefaultRule, fillAbsent, structIn } from '../default-rules.ts'
import { fieldAt, numberAt } from '../field-access.ts'
import { checkIntOrPercent, findPart, type Part, partIn, partsIn, percentOf, type Report, textIn } from '../report.ts'

export const selectorMismatch = '`selector` does not match template `labels`'

/** The pods a controller makes must be pods it finds. */
export function checkSelector(report: Report, spec: Part, kind: string): void {
  const selector = findPart(spec, 'selector')
  const errors = validateLabelSelector(selector, 'spec.selector')
  if (selector) report.add(errors)
  else if (kind !== 'daemonset') report.required('spec.selector')
  const parts = Object.keys(partIn(selector, 'matchLabels')).length + partsIn(selector, 'matchExpressions').length
  if (selector && parts === 0) return report.invalid('spec.selector', selector, `empty selector is invalid for ${kind}`)
  if (errors.length > 0) {
    if (kind !== 'daemonset') {
      report.invalid('spec.selector', selector, kind === 'deployment' ? 'invalid label selector' : '')
    }
    return
  }
  const labels = partIn(partIn(spec, 'template'), 'metadata').labels as Record<string, string> | undefined
  if (!selector || !matchesLabels(labelSelectorOf(selector), labels ?? {})) {
    report.invalid('spec.template.metadata.labels', labels ?? null, selectorMismatch)
  }
}

/** These controllers bring every pod back: it must want to be. */
export function checkAlwaysRestarts(report: Report, spec: Part, kind: string): void {
  const pod = partIn(partIn(spec, 'template'), 'spec')
  const policy = textIn(pod, 'restartPolicy')
  if (policy !== 'Always') report.notSupported('spec.template.spec.restartPolicy', policy, ['Always'])
  if (pod.activeDeadlineSeconds !== undefined) {
    report.forbidden('spec.template.spec.activeDeadlineSeconds', `activeDeadlineSeconds in ${kind} is not Supported`)
  }
}

export function checkPercent(report: Report, field: string, value: unknown, max = false): void {
  checkIntOrPercent(report, field, value)
  const percent = percentOf(value)
  if (max && percent !== undefined && percent > 100) report.invalid(field, value, 'must not be greater than 100%')
}

/** As Go prints its own form of it. */
export const shownStrategy = (strategy: Part): object => ({
  Type: textIn(strategy, 'type'),
  RollingUpdate: strategy.rollingUpdate ?? null,
})

export const isZero = (value: unknown): boolean => value === undefined || value === 0 || percentOf(value) === 0

export const rolling = (value: Record<string, number | string>): DefaultRule => {
  const fill = fillAbsent(value)
  return (strategy) => {
    if (strategy.type === 'RollingUpdate') fill(structIn(strategy, 'rollingUpdate'))
  }
}

export const templateContainers = (object: KubeObject): [string, string] =>
  containersOf(fieldAt(object, 'spec', 'template', 'spec'))

export const replicaColumns: readonly ColumnDefinition[] = [
  nameColumn,
  column('Desired', 'integer', 'How many pods are wanted.'),
  column('Current', 'integer', 'How many pods there are.'),
  column('Ready', 'integer', 'How many pods are ready.'),
  ageColumn,
  ...containerColumns,
  selectorColumn,
]

export const replicaCells = (o: KubeObject, now: number): unknown[] => [
  nameOf(o),
  numberAt(o, 'spec', 'replicas'),
  numberAt(o, 'status', 'replicas'),
  numberAt(o, 'status', 'readyReplicas'),
  ageOf(o, now),
  ...templateContainers(o),
]
