/**
 * Events of both API groups, in the form in which they are stored and in the names of that form: upstream too reports
 * a mistake in events.k8s.io/v1 so. Writes through core/v1 are validated no more strictly than before that group came.
 * @see pkg/apis/core/validation/events.go, pkg/registry/core/event/strategy.go of Kubernetes 1.36
 */
import { isQualifiedName } from '../../../kube/names.ts'
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { column, nameOf, since, wide } from '../cell-text.ts'
import { fieldAt, numberAt, objectAt, textAt } from '../field-access.ts'
import { type BuiltInKind, validateWholeWith, validateWith } from '../kind.ts'
import { findPart, numberIn, partIn, type Report, sameValue, textIn } from '../report.ts'
import { firstOf, selectableAt, selectableFields } from '../selectable-fields.ts'
import { toCoreEvent, toNewEvent } from './event-conversion.ts'

/** As core/v1 takes it. */
const checkCoreEvent = (report: Report, next: KubeObject): void => checkEvent(report, next, 'reportingComponent')

/** As events.k8s.io/v1 takes it. */
function checkNewEvent(report: Report, next: KubeObject, old: KubeObject | undefined): void {
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

/** Where the two API groups name the same thing differently. */
interface EventFields {
  readonly involved: string
  readonly message: string
  readonly source: string
  readonly first: string
  readonly last: string
  readonly count: string
  readonly component: string
}

const coreFields: EventFields = {
  involved: 'involvedObject',
  message: 'message',
  source: 'source',
  first: 'firstTimestamp',
  last: 'lastTimestamp',
  count: 'count',
  component: 'reportingComponent',
}

const newFields: EventFields = {
  involved: 'regarding',
  message: 'note',
  source: 'deprecatedSource',
  first: 'deprecatedFirstTimestamp',
  last: 'deprecatedLastTimestamp',
  count: 'deprecatedCount',
  component: 'reportingController',
}

function eventTimes(event: KubeObject, f: EventFields, now: number): { first: string; last: string; count: number } {
  const first = since(fieldAt(event, f.first) ?? fieldAt(event, 'eventTime'), now)
  const series = objectAt(event, 'series')
  if (series) return { first, last: since(fieldAt(series, 'lastObservedTime'), now), count: numberAt(series, 'count') }
  const last = fieldAt(event, f.last)
  return { first, last: last === undefined ? first : since(last, now), count: numberAt(event, f.count) || 1 }
}

function eventObject(event: KubeObject, f: EventFields): string {
  const kind = textAt(event, f.involved, 'kind').toLowerCase()
  const name = textAt(event, f.involved, 'name')
  return name ? `${kind}/${name}` : kind
}

function eventSource(event: KubeObject, f: EventFields): string {
  const component = textAt(event, f.source, 'component') || textAt(event, f.component)
  const instance = textAt(event, f.source, 'host') || textAt(event, 'reportingInstance')
  return instance ? `${component}, ${instance}` : component
}

const eventTable = (f: EventFields): TableColumns => ({
  definitions: [
    column('Last Seen', 'string', 'The time since it last happened.'),
    column('Type', 'string', 'Normal or Warning.'),
    column('Reason', 'string', 'What happened, in a word.'),
    column('Object', 'string', 'What it happened to.'),
    wide('Subobject', 'string', 'Which part of that.'),
    wide('Source', 'string', 'Who reported it.'),
    column('Message', 'string', 'What happened.'),
    wide('First Seen', 'string', 'The time since it first happened.'),
    wide('Count', 'string', 'How often it happened.'),
    column('Name', 'string', 'The name of the object.', { format: 'name', priority: 1 }),
  ],
  cells(o, now) {
    const { first, last, count } = eventTimes(o, f, now)
    return [
      last,
      textAt(o, 'type'),
      textAt(o, 'reason'),
      eventObject(o, f),
      textAt(o, f.involved, 'fieldPath'),
      eventSource(o, f),
      textAt(o, f.message).trim(),
      first,
      count,
      nameOf(o),
    ]
  },
})

const coreColumns: TableColumns = eventTable(coreFields)
const newColumns: TableColumns = eventTable(newFields)
const reference = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath']

export const coreEvent: BuiltInKind = {
  shortNames: ['ev'],
  strategy: {
    validate: validateWholeWith(checkCoreEvent),
    createOnUpdate: true,
    garbageCollected: false,
    selectableFields: {
      ...selectableFields(...reference.map((f) => `involvedObject.${f}`), 'reason', 'type'),
      reportingComponent: selectableAt('reportingComponent'),
      source: firstOf('source.component', 'reportingComponent'),
    },
  },
  columns: coreColumns,
}

export const newEvent: BuiltInKind = {
  shortNames: ['ev'],
  storageName: 'events',
  conversions: { v1: () => ({ toStored: toCoreEvent, fromStored: toNewEvent }) },
  strategy: {
    validate: validateWith(checkNewEvent),
    createOnUpdate: true,
    garbageCollected: false,
    selectableFields: {
      ...selectableFields(...reference.map((f) => `regarding.${f}`), 'reason', 'type'),
      reportingController: selectableAt('reportingController'),
    },
  },
  columns: newColumns,
}
