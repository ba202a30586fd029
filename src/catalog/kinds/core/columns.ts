/**
 * Tables of namespaces and what lies in them, of nodes, events, quotas, leases and flow control.
 * @see k8s.io/kubernetes/pkg/printers/internalversion/printers.go v1.36
 */

import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { ageColumn, ageOf, column, nameColumn, nameOf, quantityAt, since, wide } from '../cell-text.ts'
import { booleanAt, conditionAt, fieldAt, listAt, numberAt, objectAt, textAt } from '../field-access.ts'

export const namespaces: TableColumns = {
  definitions: [nameColumn, column('Status', 'string', 'Whether it is in use or going.'), ageColumn],
  cells: (o, now) => [nameOf(o), textAt(o, 'status', 'phase'), ageOf(o, now)],
}

const sizeOf = (object: KubeObject, field: string): number => Object.keys(objectAt(object, field) ?? {}).length

export const configMaps: TableColumns = {
  definitions: [nameColumn, column('Data', 'string', 'How many entries it has.'), ageColumn],
  cells: (o, now) => [nameOf(o), sizeOf(o, 'data') + sizeOf(o, 'binaryData'), ageOf(o, now)],
}

export const secrets: TableColumns = {
  definitions: [
    nameColumn,
    column('Type', 'string', 'What it is for.'),
    column('Data', 'string', 'How many entries it has.'),
    ageColumn,
  ],
  cells: (o, now) => [nameOf(o), textAt(o, 'type'), sizeOf(o, 'data'), ageOf(o, now)],
}

export const serviceAccounts: TableColumns = {
  definitions: [nameColumn, column('Secrets', 'string', 'How many secrets its pods may mount.'), ageColumn],
  cells: (o, now) => [nameOf(o), listAt(o, 'secrets').length, ageOf(o, now)],
}

function nodeRoles(node: KubeObject): string {
  const prefix = 'node-role.kubernetes.io/'
  const roles = Object.entries(node.metadata.labels ?? {}).map(([key, value]) => {
    if (key.startsWith(prefix)) return key.slice(prefix.length)
    return key === 'kubernetes.io/role' ? value : ''
  })
  return [...new Set(roles.filter((r) => r !== ''))].sort().join(',') || '<none>'
}

function nodeStatus(node: KubeObject): string {
  const ready = conditionAt(node, 'Ready')
  const status = ready === undefined ? 'Unknown' : textAt(ready, 'status') === 'True' ? 'Ready' : 'NotReady'
  return booleanAt(node, 'spec', 'unschedulable') ? `${status},SchedulingDisabled` : status
}

function nodeAddress(node: KubeObject, type: string): string {
  const found = listAt(node, 'status', 'addresses').find((a) => textAt(a, 'type') === type)
  return found === undefined ? '<none>' : textAt(found, 'address')
}

export const nodes: TableColumns = {
  definitions: [
    nameColumn,
    column('Status', 'string', 'Whether it takes pods.'),
    column('Roles', 'string', 'What it is for, from its labels.'),
    ageColumn,
    column('Version', 'string', 'The version of its kubelet.'),
    wide('Internal-IP', 'string', 'Its address inside.'),
    wide('External-IP', 'string', 'Its address outside.'),
    wide('OS-Image', 'string', 'Its operating system.'),
    wide('Kernel-Version', 'string', 'Its kernel.'),
    wide('Container-Runtime', 'string', 'What runs its containers.'),
  ],
  cells: (o, now) => [
    nameOf(o),
    nodeStatus(o),
    nodeRoles(o),
    ageOf(o, now),
    textAt(o, 'status', 'nodeInfo', 'kubeletVersion'),
    nodeAddress(o, 'InternalIP'),
    nodeAddress(o, 'ExternalIP'),
    textAt(o, 'status', 'nodeInfo', 'osImage') || '<unknown>',
    textAt(o, 'status', 'nodeInfo', 'kernelVersion') || '<unknown>',
    textAt(o, 'status', 'nodeInfo', 'containerRuntimeVersion') || '<unknown>',
  ],
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

const coreEvent: EventFields = {
  involved: 'involvedObject',
  message: 'message',
  source: 'source',
  first: 'firstTimestamp',
  last: 'lastTimestamp',
  count: 'count',
  component: 'reportingComponent',
}
const newEvent: EventFields = {
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

export const coreEvents: TableColumns = eventTable(coreEvent)
export const newEvents: TableColumns = eventTable(newEvent)

function quotaUse(quota: KubeObject, wantLimits: boolean): string {
  return Object.keys(objectAt(quota, 'status', 'hard') ?? {})
    .filter((name) => name.startsWith('limits.') === wantLimits)
    .sort()
    .map((n) => `${n}: ${quantityAt(quota, 'status', 'used', n)}/${quantityAt(quota, 'status', 'hard', n)}`)
    .join(', ')
}

export const resourceQuotas: TableColumns = {
  definitions: [
    nameColumn,
    column('Request', 'string', 'What is counted, and how much is used of how much.'),
    column('Limit', 'string', 'The limits that are counted, and how much is used of how much.'),
    ageColumn,
  ],
  cells: (o, now) => [nameOf(o), quotaUse(o, false), quotaUse(o, true), ageOf(o, now)],
}

export const leases: TableColumns = {
  definitions: [nameColumn, column('Holder', 'string', 'Who holds it.'), ageColumn],
  cells: (o, now) => [nameOf(o), textAt(o, 'spec', 'holderIdentity'), ageOf(o, now)],
}

export const flowSchemas: TableColumns = {
  definitions: [
    nameColumn,
    column('PriorityLevel', 'string', 'The priority level its requests go to.'),
    column('MatchingPrecedence', 'string', 'The lower, the earlier it is tried.'),
    column('DistinguisherMethod', 'string', 'How its requests are told apart.'),
    ageColumn,
    column('MissingPL', 'string', 'Whether its priority level is missing.'),
  ],
  cells: (o, now) => [
    nameOf(o),
    textAt(o, 'spec', 'priorityLevelConfiguration', 'name'),
    numberAt(o, 'spec', 'matchingPrecedence'),
    textAt(o, 'spec', 'distinguisherMethod', 'type') || '<none>',
    ageOf(o, now),
    textAt(conditionAt(o, 'Dangling'), 'status') || '?',
  ],
}

export const priorityLevels: TableColumns = {
  definitions: [
    nameColumn,
    column('Type', 'string', 'Limited or Exempt.'),
    column('NominalConcurrencyShares', 'string', 'Its share of the requests that run at once.'),
    column('Queues', 'string', 'How many queues it has.'),
    column('HandSize', 'string', 'How many queues a flow may use.'),
    column('QueueLengthLimit', 'string', 'How many requests a queue holds.'),
    ageColumn,
  ],
  cells(o, now) {
    const queuing = (field: string): unknown =>
      fieldAt(o, 'spec', 'limited', 'limitResponse', 'queuing', field) ?? '<none>'
    return [
      nameOf(o),
      textAt(o, 'spec', 'type'),
      fieldAt(o, 'spec', 'limited', 'nominalConcurrencyShares') ?? '<none>',
      queuing('queues'),
      queuing('handSize'),
      queuing('queueLengthLimit'),
      ageOf(o, now),
    ]
  },
}

export const componentStatuses: TableColumns = {
  definitions: [
    nameColumn,
    column('Status', 'string', 'Whether it is healthy.'),
    column('Message', 'string', 'What it says.'),
    column('Error', 'string', 'What is wrong.'),
  ],
  cells(o) {
    const healthy = listAt(o, 'conditions').find((c) => textAt(c, 'type') === 'Healthy')
    const status = healthy === undefined ? 'Unknown' : textAt(healthy, 'status') === 'True' ? 'Healthy' : 'Unhealthy'
    return [nameOf(o), status, textAt(healthy, 'message'), textAt(healthy, 'error')]
  },
}
