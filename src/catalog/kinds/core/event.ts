/**
 * Events, in the form in which both API groups store them, and in the names of that form: so upstream tells of a
 * mistake in events.k8s.io/v1 too. Through core/v1 nothing is judged that was not judged of old.
 * @see pkg/apis/core/validation/events.go of Kubernetes 1.36
 */
import { isQualifiedName } from '../../../kube/names.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { findPart, numberIn, partIn, type Report, sameValue, textIn } from '../report.ts'

/** As core/v1 takes it. */
export const checkCoreEvent = (report: Report, next: KubeObject): void => checkEvent(report, next, 'reportingComponent')

/** As events.k8s.io/v1 takes it. */
export function checkNewEvent(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  checkEvent(report, next, 'reportingController')
  if (old === undefined) checkNew(report, next)
  else checkChange(report, next, old)
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null

/** The object it is about, and who tells. @param reporter what the reporting component is called */
function checkEvent(report: Report, next: KubeObject, reporter: string): void {
  const namespace = next.metadata.namespace ?? ''
  const about = textIn(partIn(next, 'involvedObject'), 'namespace')
  const timed = isSet(next.eventTime)
  // Events about cluster-scoped objects live in default. What the new library tells may be about another namespace.
  const misplaced = timed
    ? about === '' && namespace !== 'default' && namespace !== 'kube-system'
    : about === ''
      ? namespace !== 'default'
      : about !== namespace
  if (misplaced) report.invalid('involvedObject.namespace', about, 'does not match event.namespace')
  if (!timed) return
  // Only the new library sets a time: what it leaves out is a mistake of its user.
  const component = textIn(next, 'reportingComponent')
  if (component === '') report.required(reporter)
  report.each(reporter, component, isQualifiedName(component))
  for (const field of ['reportingInstance', 'action', 'reason']) {
    const value = textIn(next, field)
    if (value === '') report.required(field)
    else if (Buffer.byteLength(value) > 128) report.invalid(field, '', 'can have at most 128 characters')
  }
  if (Buffer.byteLength(textIn(next, 'message')) > 1024) {
    report.invalid('message', '', 'can have at most 1024 characters')
  }
}

function checkNew(report: Report, next: KubeObject): void {
  checkSeries(report, next)
  if (!isSet(next.eventTime)) report.required('eventTime')
  const type = textIn(next, 'type')
  if (type !== 'Normal' && type !== 'Warning') report.invalid('type', '', `has invalid value: ${type}`)
  const source = partIn(next, 'source')
  const given = {
    firstTimestamp: isSet(next.firstTimestamp),
    lastTimestamp: isSet(next.lastTimestamp),
    count: (numberIn(next, 'count') ?? 0) !== 0,
    source: textIn(source, 'component') !== '' || textIn(source, 'host') !== '',
  }
  for (const [field, isGiven] of Object.entries(given)) if (isGiven) report.invalid(field, '', 'needs to be unset')
}

function checkSeries(report: Report, next: KubeObject): void {
  const series = findPart(next, 'series')
  if (series === undefined) return
  if ((numberIn(series, 'count') ?? 0) < 2) report.invalid('series.count', '', 'should be at least 2')
  if (!isSet(series.lastObservedTime)) report.required('series.lastObservedTime')
}

/** Upstream's order, in which the reason comes twice. */
const fixedFields = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'reason',
  'type',
  'eventTime',
  'action',
  'related',
  'reportingComponent',
  'reportingInstance',
]

function checkChange(report: Report, next: KubeObject, old: KubeObject): void {
  if (!sameValue(next.series, old.series)) checkSeries(report, next)
  for (const field of fixedFields) {
    report.immutable(field === 'reportingComponent' ? 'reportingController' : field, next[field], old[field])
  }
}
