/** Jobs and cron jobs. @see pkg/apis/batch/validation/validation.go of Kubernetes 1.36 */
import { labelSelectorOf, matchesLabels, validateLabelSelector } from '../../../kube/label-selector.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { checkPodTemplate } from '../apps/deployment.ts'
import { findPart, numberIn, type Part, partIn, type Report, sameValue, textIn } from '../report.ts'
import { isKnownTimeZone, scheduleError } from './cron-schedule.ts'

const jobRestartPolicies = ['OnFailure', 'Never']
/** Room for the eleven characters that its jobs' names get in addition. */
const cronJobNameMax = 52
const indexedParallelismMax = 100_000

export function checkJob(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const spec = partIn(next, 'spec')
  checkJobSpec(report, 'spec', spec)
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

function checkJobSpec(report: Report, at: string, spec: Part): void {
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
  const mode = textIn(spec, 'completionMode')
  if (mode !== '') {
    report.oneOf(`${at}.completionMode`, mode, ['Indexed', 'NonIndexed'])
    if (mode === 'Indexed') {
      if (numberIn(spec, 'completions') === undefined)
        report.required(`${at}.completions`, 'when completion mode is Indexed')
      const parallelism = numberIn(spec, 'parallelism') ?? 0
      if (parallelism > indexedParallelismMax) {
        report.invalid(
          `${at}.parallelism`,
          parallelism,
          `must be less than or equal to ${indexedParallelismMax} when completion mode is Indexed`,
        )
      }
    }
  }
  report.oneOfIfSet(`${at}.podReplacementPolicy`, spec.podReplacementPolicy, ['Failed', 'TerminatingOrFailed'])
  checkPodTemplate(report, `${at}.template`, partIn(spec, 'template'))
  const policy = textIn(partIn(partIn(spec, 'template'), 'spec'), 'restartPolicy')
  const field = `${at}.template.spec.restartPolicy`
  if (policy === '' || policy === 'Always') report.required(field, 'valid values: "OnFailure", "Never"')
  else report.oneOf(field, policy, jobRestartPolicies)
  if (findPart(spec, 'podFailurePolicy') && policy !== 'Never') {
    report.invalid(field, policy, 'only "Never" is supported when podFailurePolicy is specified')
  }
}

function checkJobUpdate(report: Report, next: Part, old: Part, oldJob: KubeObject): void {
  report.immutable('spec.selector', next.selector, old.selector)
  report.immutable('spec.completionMode', next.completionMode, old.completionMode)
  report.immutable('spec.podFailurePolicy', next.podFailurePolicy, old.podFailurePolicy)
  report.immutable('spec.backoffLimitPerIndex', next.backoffLimitPerIndex, old.backoffLimitPerIndex)
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

export function checkCronJob(report: Report, next: KubeObject): void {
  const name = next.metadata.name ?? ''
  if (name.length > cronJobNameMax) {
    report.invalid('metadata.name', name, `must be no more than ${cronJobNameMax} characters`)
  }
  const spec = partIn(next, 'spec')
  const schedule = textIn(spec, 'schedule')
  if (schedule === '') report.required('spec.schedule')
  else {
    const error = scheduleError(schedule)
    if (error) report.invalid('spec.schedule', schedule, error)
    if (schedule.includes('TZ'))
      report.invalid('spec.schedule', schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead')
  }
  const zone = spec.timeZone
  if (typeof zone === 'string') {
    if (zone === '') report.invalid('spec.timeZone', zone, 'timeZone must be nil or non-empty string')
    else if (zone.toLowerCase() === 'local')
      report.invalid(
        'spec.timeZone',
        zone,
        'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones',
      )
    else if (!isKnownTimeZone(zone)) report.invalid('spec.timeZone', zone, `unknown time zone ${zone}`)
  }
  report.notNegative(spec, 'spec', 'startingDeadlineSeconds', 'successfulJobsHistoryLimit', 'failedJobsHistoryLimit')
  report.requiredOneOf('spec.concurrencyPolicy', textIn(spec, 'concurrencyPolicy'), ['Allow', 'Forbid', 'Replace'])
  checkJobTemplate(report, 'spec.jobTemplate', partIn(spec, 'jobTemplate'))
}

function checkJobTemplate(report: Report, at: string, template: Part): void {
  const spec = partIn(template, 'spec')
  checkJobSpec(report, `${at}.spec`, spec)
  if (spec.selector !== undefined) {
    report.invalid(`${at}.spec.selector`, spec.selector, '`selector` will be auto-generated')
  }
  if (spec.manualSelector === true) report.notSupported(`${at}.spec.manualSelector`, true, ['nil', 'false'])
}
