/** Requests, priority levels and flow schemas for tests of priority and fairness. */
import { FakeClock } from '../../src/base/fake-clock.ts'
import type { Admission, FlowCaller, FlowRequest, RequestAttributes, Seat } from '../../src/flowcontrol/flow-control.ts'
import { PriorityAndFairness } from '../../src/flowcontrol/priority-and-fairness.ts'
import type { FlowSchemaObject, PriorityLevelObject, QueuingSpec } from '../../src/flowcontrol/types.ts'
import { type EstimateWork, oneSeat } from '../../src/flowcontrol/work-estimate.ts'
import type { FieldError, FieldErrorType } from '../../src/kube/field-error.ts'
import type { UserInfo } from '../../src/kube/user.ts'

export const patient: FlowCaller = new AbortController()

/** Of the same name, the same object, as authenticators answer it. */
const users = new Map<string, UserInfo>()
export function userNamed(username: string, ...groups: string[]): UserInfo {
  const key = `${username} ${groups}`
  const user = users.get(key) ?? { username, groups: [...groups, 'system:authenticated'] }
  users.set(key, user)
  return user
}

const noInfo: RequestAttributes = {
  isResource: true,
  verb: 'get',
  path: '',
  group: '',
  version: 'v1',
  namespace: 'team-a',
  resource: 'configmaps',
  subresource: '',
  name: '',
  query: new URLSearchParams(),
}

export const infoOf = (info: Partial<RequestAttributes>): RequestAttributes => ({ ...noInfo, ...info })

export const nonResource = (path: string, verb = 'get'): RequestAttributes =>
  infoOf({ isResource: false, verb, path, version: '', namespace: '', resource: '' })

export function requestOf(
  user: string | UserInfo,
  info: Partial<RequestAttributes> = {},
  receivedAtMs: number = new FakeClock().now(),
): FlowRequest {
  return { user: typeof user === 'string' ? userNamed(user) : user, info: infoOf(info), receivedAtMs }
}

/** A level that queues, with all the seats that `worldOf` gives. */
export const queuedLevel = (
  name: string,
  queuing: QueuingSpec,
  limited: { readonly shares?: number; readonly lendable?: number; readonly borrowing?: number } = {},
): PriorityLevelObject => ({
  kind: 'PriorityLevelConfiguration',
  metadata: { name, uid: `uid-of-level-${name}` },
  spec: {
    type: 'Limited',
    limited: {
      nominalConcurrencyShares: limited.shares ?? 100_000,
      lendablePercent: limited.lendable ?? 0,
      borrowingLimitPercent: limited.borrowing ?? 0,
      limitResponse: { type: 'Queue', queuing },
    },
  },
})

export const rejectingLevel = (name: string, shares = 100_000): PriorityLevelObject => ({
  kind: 'PriorityLevelConfiguration',
  metadata: { name, uid: `uid-of-level-${name}` },
  spec: {
    type: 'Limited',
    limited: {
      nominalConcurrencyShares: shares,
      lendablePercent: 0,
      borrowingLimitPercent: 0,
      limitResponse: { type: 'Reject' },
    },
  },
})

/** All requests of all users go to `level`, one flow per user. */
export const allUsersTo = (
  level: string,
  name: string = `to-${level}`,
  matchingPrecedence = 1000,
): FlowSchemaObject => ({
  kind: 'FlowSchema',
  metadata: { name, uid: `uid-of-schema-${name}` },
  spec: {
    priorityLevelConfiguration: { name: level },
    matchingPrecedence,
    distinguisherMethod: { type: 'ByUser' },
    rules: [
      {
        subjects: [{ kind: 'Group', group: { name: 'system:authenticated' } }],
        resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
        nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
      },
    ],
  },
})

export interface World {
  readonly clock: FakeClock
  readonly apf: PriorityAndFairness
}

export interface WorldOptions {
  readonly seats?: number
  readonly levels?: readonly PriorityLevelObject[]
  readonly schemas?: readonly FlowSchemaObject[]
  readonly estimateWork?: EstimateWork
  readonly waitLimitMs?: number
  readonly endOfTurn?: (run: () => void) => void
}

export function worldOf(options: WorldOptions): World {
  const { seats = 10, levels = [], schemas = [], estimateWork, waitLimitMs = 15_000, endOfTurn } = options
  const clock = new FakeClock()
  const apf = new PriorityAndFairness({
    clock,
    salt: '',
    serverSeats: seats,
    waitLimitMs,
    estimateWork: estimateWork ?? (() => oneSeat),
    ...(endOfTurn ? { endOfTurn } : {}),
  })
  apf.configure(schemas, levels)
  return { clock, apf }
}

export function seatOf(admission: Admission | Promise<Admission>): Seat {
  if (admission instanceof Promise) throw new Error('the request waits')
  if (!admission.granted) throw new Error(`the request is refused: ${admission.reason}`)
  return admission
}

/** The value of a gauge or counter for these labels; undefined if there is no such sample. */
export function metricOf(
  apf: PriorityAndFairness,
  name: string,
  labels: Readonly<Record<string, string>>,
): number | undefined {
  const family = apf.metrics().find((f) => f.name === `apiserver_flowcontrol_${name}`)
  if (family === undefined || family.type === 'histogram') throw new Error(`there is no number ${name}`)
  const fits = (of: Readonly<Record<string, string>>): boolean =>
    Object.entries(labels).every(([key, value]) => of[key] === value)
  const found = family.samples.filter((sample) => fits(sample.labels))
  return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0)
}

/** Of lines `<type> <field>: <body>`. */
export const fieldErrors = (lines: readonly string[]): FieldError[] =>
  lines.map((line) => {
    const [, type = '', field = '', body = ''] = /^(\S+) (\S+): (.*)$/.exec(line) ?? []
    return { type: type as FieldErrorType, field, body }
  })
