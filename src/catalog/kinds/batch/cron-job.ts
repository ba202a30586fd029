/**
 * Cron jobs.
 * @see ValidateCronJobCreate in pkg/apis/batch/validation, pkg/apis/batch/v1/defaults.go of Kubernetes 1.36
 */
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import {
  ageColumn,
  ageOf,
  column,
  containerColumns,
  containersOf,
  nameColumn,
  nameOf,
  selectorAt,
  selectorColumn,
  since,
} from '../cell-text.ts'
import { fillAbsent, fillUnset } from '../default-rules.ts'
import { fieldAt, listAt, textAt } from '../field-access.ts'
import { type BuiltInKind, validateWholeWith } from '../kind.ts'
import { findPart, type Part, partIn, type Report, textIn } from '../report.ts'
import { isKnownTimeZone, scheduleError } from './cron-schedule.ts'
import { checkJobSpec } from './job.ts'

/** Room for the eleven characters that its jobs' names get in addition. */
const cronJobNameMax = 52

/** Ours: to find out whether megabytes are a schedule takes long, and each minute of a week once is a tenth of it. */
const maxScheduleBytes = 64 * 1024

function checkCronJob(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const name = next.metadata.name ?? ''
  if (name.length > cronJobNameMax) {
    report.invalid('metadata.name', name, `must be no more than ${cronJobNameMax} characters`)
  }
  const spec = partIn(next, 'spec')
  const schedule = textIn(spec, 'schedule')
  if (schedule === '') report.required('spec.schedule')
  else if (schedule.length > maxScheduleBytes) report.tooLong('spec.schedule', maxScheduleBytes)
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
  checkJobTemplate(
    report,
    'spec.jobTemplate',
    partIn(spec, 'jobTemplate'),
    findPart(findPart(old, 'spec'), 'jobTemplate'),
  )
}

function checkJobTemplate(report: Report, at: string, template: Part, stored: Part | undefined): void {
  const spec = partIn(template, 'spec')
  checkJobSpec(report, `${at}.spec`, spec, findPart(stored, 'spec'))
  if (spec.selector !== undefined) {
    report.invalid(`${at}.spec.selector`, spec.selector, '`selector` will be auto-generated')
  }
  if (spec.manualSelector === true) report.notSupported(`${at}.spec.manualSelector`, true, ['nil', 'false'])
}

const columns: TableColumns = {
  definitions: [
    nameColumn,
    column('Schedule', 'string', 'When it runs, as a cron expression.'),
    column('Timezone', 'string', 'The time zone of the schedule.'),
    column('Suspend', 'boolean', 'Whether it is held back.'),
    column('Active', 'integer', 'How many of its jobs run now.'),
    column('Last Schedule', 'string', 'The time since it last ran.'),
    ageColumn,
    ...containerColumns,
    selectorColumn,
  ],
  cells(o, now) {
    const suspend = fieldAt(o, 'spec', 'suspend')
    const last = fieldAt(o, 'status', 'lastScheduleTime')
    return [
      nameOf(o),
      textAt(o, 'spec', 'schedule'),
      textAt(o, 'spec', 'timeZone') || '<none>',
      suspend === undefined ? '<unset>' : suspend ? 'True' : 'False',
      listAt(o, 'status', 'active').length,
      last === undefined ? '<none>' : since(last, now),
      ageOf(o, now),
      ...containersOf(fieldAt(o, 'spec', 'jobTemplate', 'spec', 'template', 'spec')),
      selectorAt(o, 'spec', 'jobTemplate', 'spec', 'selector'),
    ]
  },
}

export const cronJob: BuiltInKind = {
  shortNames: ['cj'],
  categories: ['all'],
  strategy: { validate: validateWholeWith(checkCronJob), tracksGeneration: true },
  defaults: {
    'io.k8s.api.batch.v1.CronJobSpec': [
      fillUnset({ concurrencyPolicy: 'Allow' }),
      fillAbsent({ suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 }),
    ],
  },
  columns,
}
