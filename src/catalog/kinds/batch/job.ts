/**
 * Jobs.
 * @see pkg/apis/batch/validation/validation.go, pkg/apis/batch/v1/defaults.go, pkg/registry/batch/job/strategy.go of
 *   Kubernetes 1.36
 */
import { humanDuration } from '../../../kube/duration.ts'
import { labelSelectorOf, matchesLabels, validateLabelSelector } from '../../../kube/label-selector.ts'
import type { TableColumns } from '../../../kube/table.ts'
import { parseTime } from '../../../kube/time.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { templateContainers } from '../apps/workload.ts'
import {
  ageColumn,
  ageOf,
  column,
  containerColumns,
  isDeleting,
  nameColumn,
  nameOf,
  selectorAt,
  selectorColumn,
} from '../cell-text.ts'
import { checkPodTemplate } from '../core/pod-template.ts'
import { type DefaultRule, fillAbsent, fillUnset, findStruct, listIn, structIn } from '../default-rules.ts'
import { checkDomainPrefixedPath } from '../domain-prefixed-path.ts'
import { conditionAt, fieldAt, numberAt, textAt } from '../field-access.ts'
import { type BuiltInKind, type Prepare, validatePartsWith } from '../kind.ts'
import { findPart, type Part, partIn, partsIn, type Report, sameValue, textIn } from '../report.ts'
import { selectableAt } from '../selectable-fields.ts'
import { checkIndexedJob, checkJobWithoutIndexes } from './indexed-job.ts'
import { checkFailurePolicy, checkSuccessPolicy } from './job-policies.ts'
import { checkJobStatus } from './job-status.ts'

const jobRestartPolicies = ['OnFailure', 'Never']
const managerMaxBytes = 63

function checkJob(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const spec = partIn(next, 'spec')
  checkJobSpec(report, 'spec', spec, findPart(old, 'spec'))
  if (old) return checkJobUpdate(report, spec, partIn(old, 'spec'), old)
  const selector = findPart(spec, 'selector')
  const errors = validateLabelSelector(selector, 'spec.selector')
  if (selector) report.add(errors)
  else report.required('spec.selector')
  const labels = partIn(partIn(spec, 'template'), 'metadata').labels as Record<string, string> | undefined
  if (errors.length === 0 && !(selector && matchesLabels(labelSelectorOf(selector), labels ?? {}))) {
    report.invalid('spec.template.metadata.labels', labels ?? null, '`selector` does not match template `labels`')
  }
}

export function checkJobSpec(report: Report, at: string, spec: Part, stored: Part | undefined): void {
  report.notNegative(
    spec,
    at,
    'parallelism',
    'completions',
    'activeDeadlineSeconds',
    'backoffLimit',
    'ttlSecondsAfterFinished',
    'backoffLimitPerIndex',
    'maxFailedIndexes',
  )
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined) {
    report.required(`${at}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified')
  }
  const { managedBy, completionMode } = spec
  if (typeof managedBy === 'string') {
    checkDomainPrefixedPath(report, `${at}.managedBy`, managedBy)
    if (Buffer.byteLength(managedBy) > managerMaxBytes) report.tooLong(`${at}.managedBy`, managerMaxBytes)
  }
  report.oneOfIfSet(`${at}.completionMode`, completionMode, ['NonIndexed', 'Indexed'])
  if (completionMode === 'Indexed') checkIndexedJob(report, at, spec)
  else if (completionMode === undefined || completionMode === 'NonIndexed') checkJobWithoutIndexes(report, at, spec)
  if (findPart(spec, 'podFailurePolicy')) checkFailurePolicy(report, `${at}.podFailurePolicy`, spec)
  const success = findPart(spec, 'successPolicy')
  if (success && completionMode === 'Indexed') checkSuccessPolicy(report, `${at}.successPolicy`, spec)
  else if (success) report.invalid(`${at}.successPolicy`, shownSuccess(success), 'requires indexed completion mode')
  report.oneOfIfSet(`${at}.podReplacementPolicy`, spec.podReplacementPolicy, ['Failed', 'TerminatingOrFailed'])
  checkPodTemplate(report, `${at}.template`, partIn(spec, 'template'), findPart(stored, 'template'))
  const policy = textIn(partIn(partIn(spec, 'template'), 'spec'), 'restartPolicy')
  const field = `${at}.template.spec.restartPolicy`
  if (policy === '' || policy === 'Always') report.required(field, 'valid values: "OnFailure", "Never"')
  else if (!jobRestartPolicies.includes(policy)) report.notSupported(field, policy, jobRestartPolicies)
  else if (findPart(spec, 'podFailurePolicy') && policy !== 'Never') {
    report.invalid(field, policy, 'only "Never" is supported when podFailurePolicy is specified')
  }
}

/** As Go prints it. */
const shownSuccess = (policy: Part): object => ({
  Rules: Array.isArray(policy.rules)
    ? partsIn(policy, 'rules').map((rule) => ({
        SucceededIndexes: rule.succeededIndexes ?? null,
        SucceededCount: rule.succeededCount ?? null,
      }))
    : null,
})

function checkJobUpdate(report: Report, next: Part, old: Part, oldJob: KubeObject): void {
  report.immutable('spec.selector', next.selector, old.selector)
  report.immutable('spec.completionMode', next.completionMode, old.completionMode)
  report.immutable('spec.podFailurePolicy', next.podFailurePolicy, old.podFailurePolicy)
  report.immutable('spec.backoffLimitPerIndex', next.backoffLimitPerIndex, old.backoffLimitPerIndex)
  report.immutable('spec.managedBy', next.managedBy, old.managedBy)
  const [success, oldSuccess] = [next, old]
    .map((spec) => findPart(spec, 'successPolicy'))
    .map((p) => p && shownSuccess(p))
  report.immutable('spec.successPolicy', success, oldSuccess)
  const elastic = next.completionMode === 'Indexed' && next.completions === next.parallelism
  if (!elastic) report.immutable('spec.completions', next.completions, old.completions)
  checkTemplateUpdate(report, partIn(next, 'template'), partIn(old, 'template'), oldJob)
}

/** Where its pods may run can still be said while the job was never started. */
const schedulingFields = ['affinity', 'nodeSelector', 'tolerations', 'schedulingGates']

function checkTemplateUpdate(report: Report, next: Part, old: Part, oldJob: KubeObject): void {
  const waiting = partIn(oldJob, 'spec').suspend === true && partIn(oldJob, 'status').startTime === undefined
  const fixed = (template: Part): unknown => {
    if (!waiting) return template
    const spec: Record<string, unknown> = { ...partIn(template, 'spec') }
    for (const field of schedulingFields) delete spec[field]
    const { labels: _labels, annotations: _annotations, ...metadata } = partIn(template, 'metadata')
    return { ...template, metadata, spec }
  }
  if (!sameValue(fixed(next), fixed(old))) report.invalid('spec.template', next, 'field is immutable')
}

/** Labels by which a job finds its pods, unless its author says how. */
const prepareJob: Prepare = (next, old) => {
  const spec = partIn(next, 'spec')
  if (old || spec.manualSelector === true) return next
  const uid = next.metadata.uid ?? ''
  const name = next.metadata.name ?? ''
  const template = partIn(spec, 'template')
  const metadata = partIn(template, 'metadata')
  const labels = {
    ...(partIn(metadata, 'labels') as Record<string, string>),
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
  }
  const selector = partIn(spec, 'selector')
  const matchLabels = { ...partIn(selector, 'matchLabels'), 'batch.kubernetes.io/controller-uid': uid }
  return {
    ...next,
    spec: {
      ...spec,
      selector: { ...selector, matchLabels },
      template: { ...template, metadata: { ...metadata, labels } },
    },
  }
}

const unlimited = 2_147_483_647
const backoffLimit = 6

const defaultSpec: DefaultRule = (spec) => {
  if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1
  if (spec.parallelism === undefined) spec.parallelism = 1
  if (spec.backoffLimit === undefined) {
    spec.backoffLimit = spec.backoffLimitPerIndex === undefined ? backoffLimit : unlimited
  }
  const policy = findStruct(spec, 'podFailurePolicy')
  if (spec.podReplacementPolicy === undefined) spec.podReplacementPolicy = policy ? 'Failed' : 'TerminatingOrFailed'
  for (const rule of policy ? listIn(policy, 'rules') : []) {
    for (const pattern of listIn(rule, 'onPodConditions')) fillUnset({ status: 'True' })(pattern)
  }
}

/** A job without labels takes those of its pods. */
const defaultLabels: DefaultRule = (object) => {
  const template = findStruct(structIn(object, 'spec'), 'template')
  const labels = template && findStruct(structIn(template, 'metadata'), 'labels')
  const metadata = structIn(object, 'metadata')
  if (labels && Object.keys(findStruct(metadata, 'labels') ?? {}).length === 0) metadata.labels = { ...labels }
}

function jobStatus(job: KubeObject): string {
  const is = (type: string): boolean => textAt(conditionAt(job, type), 'status') === 'True'
  if (is('Complete')) return 'Complete'
  if (is('Failed')) return 'Failed'
  if (isDeleting(job)) return 'Terminating'
  if (is('Suspended')) return 'Suspended'
  return is('FailureTarget') ? 'FailureTarget' : 'Running'
}

function jobCompletions(job: KubeObject): string {
  const succeeded = numberAt(job, 'status', 'succeeded')
  const completions = fieldAt(job, 'spec', 'completions')
  if (completions !== undefined) return `${succeeded}/${completions}`
  const parallelism = numberAt(job, 'spec', 'parallelism')
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`
}

function jobDuration(job: KubeObject, nowMs: number): string {
  const start = parseTime(textAt(job, 'status', 'startTime'))
  if (start === undefined) return ''
  return humanDuration((parseTime(textAt(job, 'status', 'completionTime')) ?? nowMs) - start)
}

const columns: TableColumns = {
  definitions: [
    nameColumn,
    column('Status', 'string', 'Whether it runs, is done or has failed.'),
    column('Completions', 'string', 'How many pods have succeeded, of how many wanted.'),
    column('Duration', 'string', 'How long it took, or has been running.'),
    ageColumn,
    ...containerColumns,
    selectorColumn,
  ],
  cells: (o, now) => [
    nameOf(o),
    jobStatus(o),
    jobCompletions(o),
    jobDuration(o, now),
    ageOf(o, now),
    ...templateContainers(o),
    selectorAt(o, 'spec', 'selector'),
  ],
}

export const job: BuiltInKind = {
  categories: ['all'],
  strategy: {
    prepare: prepareJob,
    validate: validatePartsWith(checkJob, checkJobStatus),
    orphansDependents: true,
    tracksGeneration: true,
    selectableFields: { 'status.successful': selectableAt('status.succeeded', '0') },
  },
  defaults: {
    'io.k8s.api.batch.v1.Job': [
      defaultLabels,
      // Not in the rules of the spec: the jobs inside a CronJob get them when they are made.
      (object) => defaultSpec(structIn(object, 'spec')),
      (object) => fillAbsent({ completionMode: 'NonIndexed', suspend: false })(structIn(object, 'spec')),
    ],
  },
  columns,
}
