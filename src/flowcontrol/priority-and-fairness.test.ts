import { getEventListeners } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test, vi } from 'vitest'
import {
  allUsersTo,
  metricOf,
  nonResource,
  patient,
  queuedLevel,
  rejectingLevel,
  requestOf,
  seatOf,
  userNamed,
  worldOf,
} from '../../test/support/flow-control.ts'
import type { Timer } from '../base/clock.ts'
import { FakeClock } from '../base/fake-clock.ts'
import {
  mandatoryFlowSchemas,
  mandatoryPriorityLevels,
  suggestedFlowSchemas,
  suggestedPriorityLevels,
} from './bootstrap-objects.ts'
import { Classifier, maxKinds } from './classifier.ts'
import type { Admission, Seat } from './flow-control.ts'
import { parseFlowSchema } from './flow-schema.ts'
import { FlowStats } from './flow-stats.ts'
import { PriorityLevel } from './level.ts'
import { Turn } from './turn.ts'
import type { FlowSchemaObject, PriorityLevelObject } from './types.ts'
import { workEstimator } from './work-estimate.ts'

const oneQueue = { queues: 1, handSize: 1, queueLengthLimit: 3 }
const level = queuedLevel('level', oneQueue)
const schema = allUsersTo('level')
const headers = {
  'x-kubernetes-pf-flowschema-uid': 'uid-of-schema-to-level',
  'x-kubernetes-pf-prioritylevel-uid': 'uid-of-level-level',
}

/** Remembers what each promise came to. */
function outcomeOf(admission: Admission | Promise<Admission>): { value: Admission | undefined } {
  const outcome: { value: Admission | undefined } = { value: undefined }
  if (admission instanceof Promise) void admission.then((value) => (outcome.value = value))
  else outcome.value = admission
  return outcome
}

describe('admission', () => {
  test('grants a seat at once while one is free, with the headers of what has decided', () => {
    const { apf } = worldOf({ levels: [level], schemas: [schema] })
    const seat = seatOf(apf.admit(requestOf('alice'), patient))
    expect(seat.headers).toEqual(headers)
    expect(metricOf(apf, 'current_executing_requests', { priority_level: 'level' })).toBe(1)
    seat.release()
    expect(metricOf(apf, 'current_executing_requests', { priority_level: 'level' })).toBe(0)
    expect(metricOf(apf, 'dispatched_requests_total', { priority_level: 'level' })).toBe(1)
  })

  test('queues where no seat is free, and grants in the order of arrival', async () => {
    const { apf, clock } = worldOf({ levels: [level], schemas: [schema] })
    const seats = Array.from({ length: 10 }, () => seatOf(apf.admit(requestOf('alice'), patient)))
    const waiting = [1, 2, 3].map(() => outcomeOf(apf.admit(requestOf('alice'), patient)))
    expect(metricOf(apf, 'current_inqueue_requests', { flow_schema: 'to-level' })).toBe(3)
    seats[0]?.release()
    await clock.advance(0)
    expect(waiting.map(({ value }) => value?.granted)).toEqual([true, undefined, undefined])
    seats[1]?.release()
    await clock.advance(0)
    expect(waiting.map(({ value }) => value?.granted)).toEqual([true, true, undefined])
  })

  test('refuses what finds its queue full, at once', () => {
    const { apf } = worldOf({ levels: [level], schemas: [schema] })
    for (let i = 0; i < 13; i++) void apf.admit(requestOf('alice'), patient)
    expect(apf.admit(requestOf('alice'), patient)).toEqual({
      granted: false,
      reason: 'queue-full',
      retryAfterSeconds: 1,
      headers,
    })
    expect(metricOf(apf, 'rejected_requests_total', { reason: 'queue-full' })).toBe(1)
  })

  test('refuses where a level without queues has no seat', () => {
    const { apf } = worldOf({ seats: 1, levels: [rejectingLevel('level')], schemas: [schema] })
    const seat = seatOf(apf.admit(requestOf('alice'), patient))
    expect(apf.admit(requestOf('bob'), patient)).toEqual({
      granted: false,
      reason: 'concurrency-limit',
      retryAfterSeconds: 1,
      headers,
    })
    seat.release()
    expect(seatOf(apf.admit(requestOf('bob'), patient)).granted).toBe(true)
  })

  test('refuses what has waited as long as it may, counted from when it was received', async () => {
    const { apf, clock } = worldOf({ seats: 1, levels: [level], schemas: [schema] })
    seatOf(apf.admit(requestOf('alice'), patient))
    const received = clock.now()
    await clock.advance(4000)
    const waiting = outcomeOf(apf.admit(requestOf('bob', {}, received), patient))
    await clock.advance(10_999)
    expect(waiting.value).toBeUndefined()
    await clock.advance(1)
    expect(waiting.value).toEqual({ granted: false, reason: 'time-out', retryAfterSeconds: 1, headers })
    expect(metricOf(apf, 'current_inqueue_requests', { priority_level: 'level' })).toBe(0)
    expect(apf.admit(requestOf('bob', {}, received), patient)).toMatchObject({ granted: false, reason: 'time-out' })
  })

  test('leaves no timer and no listener behind', async () => {
    const { apf, clock } = worldOf({ seats: 1, levels: [level], schemas: [schema] })
    const timers = vi.spyOn(clock, 'after')
    const client = new AbortController()
    const first = seatOf(apf.admit(requestOf('alice'), patient))
    const waiting = outcomeOf(apf.admit(requestOf('bob'), client))
    expect(getEventListeners(client.signal, 'abort').length).toBe(1)
    const [timer] = timers.mock.results.map(({ value }) => value as Timer)
    if (timer === undefined) throw new Error('nothing ends the wait')
    const cancel = vi.spyOn(timer, 'cancel')
    first.release()
    await clock.advance(0)
    expect(waiting.value?.granted).toBe(true)
    expect(cancel).toHaveBeenCalledOnce()
    expect(getEventListeners(client.signal, 'abort')).toEqual([])
  })

  test('lets a request go whose client has gone away', async () => {
    const { apf, clock } = worldOf({ seats: 1, levels: [level], schemas: [schema] })
    const first = seatOf(apf.admit(requestOf('alice'), patient))
    const client = new AbortController()
    const gone = outcomeOf(apf.admit(requestOf('bob'), client))
    const next = outcomeOf(apf.admit(requestOf('carol'), patient))
    client.abort()
    first.release()
    await clock.advance(0)
    expect(gone.value).toEqual({ granted: false, reason: 'cancelled', retryAfterSeconds: 1, headers })
    expect(next.value?.granted).toBe(true)
    expect(apf.admit(requestOf('bob'), client)).toMatchObject({ granted: false, reason: 'cancelled' })
  })

  test('counts a seat once, however often it is released', () => {
    const { apf } = worldOf({ seats: 2, levels: [level], schemas: [schema] })
    const [a] = [seatOf(apf.admit(requestOf('a'), patient)), seatOf(apf.admit(requestOf('b'), patient))]
    a?.release()
    a?.release()
    expect(metricOf(apf, 'current_executing_seats', { priority_level: 'level' })).toBe(1)
    seatOf(apf.admit(requestOf('c'), patient))
    expect(apf.admit(requestOf('d'), patient)).toBeInstanceOf(Promise)
  })

  test('keeps the seats of a change until it has gone out to its watchers', async () => {
    const estimateWork = workEstimator({ statsOf: () => undefined, watchersOf: () => 25 })
    const wide = queuedLevel('level', { queues: 1, handSize: 1, queueLengthLimit: 9 })
    const { apf, clock } = worldOf({ seats: 20, levels: [wide], schemas: [schema], estimateWork })
    const seat = seatOf(apf.admit(requestOf('alice', { verb: 'create' }), patient))
    expect(metricOf(apf, 'current_executing_seats', { priority_level: 'level' })).toBe(3)
    seat.release()
    expect(metricOf(apf, 'current_executing_requests', { priority_level: 'level' })).toBe(0)
    expect(metricOf(apf, 'current_executing_seats', { priority_level: 'level' })).toBe(3)
    await clock.advance(5)
    expect(metricOf(apf, 'current_executing_seats', { priority_level: 'level' })).toBe(0)
  })

  test('lets a request that is wider than its whole level run alone', async () => {
    const estimateWork = workEstimator({
      statsOf: () => ({ objectCount: 1, totalBytes: 1_500_000 }),
      watchersOf: () => 0,
    })
    const { apf, clock } = worldOf({ seats: 20, levels: [level], schemas: [schema], estimateWork })
    const list = seatOf(apf.admit(requestOf('alice', { verb: 'list' }), patient))
    // 15 % of the level's seats, so no more than three of them.
    expect(metricOf(apf, 'current_executing_seats', { priority_level: 'level' })).toBe(3)
    apf.configure([schema], [queuedLevel('level', oneQueue, { shares: 1 }), queuedLevel('rest', oneQueue)])
    const get = outcomeOf(apf.admit(requestOf('bob'), patient))
    await clock.advance(0)
    expect(get.value).toBeUndefined()
    list.release()
    await clock.advance(0)
    expect(get.value?.granted).toBe(true)
  })
})

describe('classification', () => {
  const boot = {
    levels: [...mandatoryPriorityLevels, ...suggestedPriorityLevels],
    schemas: [...mandatoryFlowSchemas, ...suggestedFlowSchemas],
  }
  const node = userNamed('system:node:a', 'system:nodes')
  const gc = userNamed('system:serviceaccount:kube-system:gc', 'system:serviceaccounts')
  test.each([
    { name: 'an administrator', request: requestOf(userNamed('root', 'system:masters')), schema: 'exempt' },
    {
      name: 'an anonymous health check',
      request: {
        ...requestOf('x'),
        user: { username: 'system:anonymous', groups: ['system:unauthenticated'] },
        info: nonResource('/readyz'),
      },
      schema: 'probes',
    },
    { name: 'a user', request: requestOf('alice'), schema: 'global-default' },
    {
      name: 'discovery by a user',
      request: { ...requestOf('alice'), info: nonResource('/apis') },
      schema: 'global-default',
    },
    {
      name: 'a lease of a controller',
      request: requestOf(gc, { verb: 'update', group: 'coordination.k8s.io', resource: 'leases' }),
      schema: 'system-leader-election',
    },
    {
      name: 'other work of a controller',
      request: requestOf(gc, { verb: 'list' }),
      schema: 'kube-system-service-accounts',
    },
    {
      name: 'a service account',
      request: requestOf(userNamed('system:serviceaccount:a:b', 'system:serviceaccounts')),
      schema: 'service-accounts',
    },
    {
      name: 'the status of a node',
      request: requestOf(node, { verb: 'patch', resource: 'nodes', subresource: 'status', namespace: '' }),
      schema: 'system-node-high',
    },
    {
      name: 'other work of a node',
      request: requestOf(node, { verb: 'list', resource: 'pods' }),
      schema: 'system-nodes',
    },
    {
      name: 'the scheduler',
      request: requestOf('system:kube-scheduler', { verb: 'create', resource: 'pods', subresource: 'binding' }),
      schema: 'kube-scheduler',
    },
    {
      name: 'a request that no schema knows',
      request: { ...requestOf('x'), user: { username: 'x', groups: [] } },
      schema: 'catch-all',
    },
  ])('$name goes by $schema, twice the same way', ({ request, schema: wanted }) => {
    const { apf } = worldOf({ seats: 600, ...boot })
    for (const times of [1, 2]) {
      seatOf(apf.admit(request, patient)).release()
      expect(metricOf(apf, 'dispatched_requests_total', { flow_schema: wanted })).toBe(times)
    }
  })

  test('tells requests apart that differ in one name only', () => {
    const byNamespace: FlowSchemaObject = {
      ...allUsersTo('special', 'special', 10),
      spec: {
        ...allUsersTo('special', 'special', 10).spec,
        rules: [
          {
            subjects: [{ kind: 'User', user: { name: 'alice' } }],
            resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods/log'], namespaces: ['team-b'] }],
          },
        ],
      },
    }
    const { apf } = worldOf({ levels: [level, rejectingLevel('special', 100)], schemas: [schema, byNamespace] })
    const special = { verb: 'get', group: '', resource: 'pods', subresource: 'log', namespace: 'team-b' }
    const others = [
      { verb: 'create' },
      { group: 'apps' },
      { resource: 'nodes' },
      { subresource: '' },
      { namespace: 'team-a' },
      { namespace: '' },
    ]
    for (let i = 0; i < 2; i++) {
      for (const other of others) seatOf(apf.admit(requestOf('alice', { ...special, ...other }), patient)).release()
      seatOf(apf.admit(requestOf('bob', special), patient)).release()
      seatOf(apf.admit(requestOf('alice', special), patient)).release()
    }
    expect(metricOf(apf, 'dispatched_requests_total', { flow_schema: 'special' })).toBe(2)
    expect(metricOf(apf, 'dispatched_requests_total', { flow_schema: 'to-level' })).toBe(14)
  })

  test('goes by user and groups, not by the object that holds them', () => {
    const { apf } = worldOf({ seats: 600, ...boot })
    const plain = { username: 'x', groups: ['system:authenticated'] }
    const sly = { username: 'x","system:masters', groups: ['system:authenticated'] }
    for (const user of [
      plain,
      { ...plain },
      sly,
      { username: 'x', groups: ['system:masters', 'system:authenticated'] },
    ]) {
      seatOf(apf.admit({ ...requestOf('x'), user }, patient)).release()
    }
    expect(metricOf(apf, 'dispatched_requests_total', { flow_schema: 'global-default' })).toBe(3)
    expect(metricOf(apf, 'dispatched_requests_total', { flow_schema: 'exempt' })).toBe(1)
  })

  test('stays right when more kinds of requests come than are remembered', () => {
    const { apf } = worldOf({ seats: 600, ...boot })
    for (let i = 0; i < 20_000; i++) {
      seatOf(apf.admit(requestOf(i % 2 ? 'alice' : node, { namespace: `n-${i}` }), patient)).release()
    }
    const long = 'x'.repeat(100_000)
    for (let i = 0; i < 2; i++) {
      seatOf(apf.admit({ ...requestOf('alice'), info: nonResource(`/${long}`) }, patient)).release()
      seatOf(apf.admit(requestOf(gc, { namespace: long }), patient)).release()
    }
    expect(metricOf(apf, 'dispatched_requests_total', { flow_schema: 'global-default' })).toBe(10_002)
    expect(metricOf(apf, 'dispatched_requests_total', { flow_schema: 'system-nodes' })).toBe(10_000)
    expect(metricOf(apf, 'dispatched_requests_total', { flow_schema: 'kube-system-service-accounts' })).toBe(2)
  })
})

function classifierOfOneRoute(): Classifier {
  const config = {
    name: 'level',
    uid: '',
    exempt: false,
    nominalShares: 1,
    lendablePercent: 0,
    borrowingLimitPercent: 0,
    queuing: undefined,
  }
  const clock = new FakeClock()
  const options = { clock, serverSeats: 1, waitLimitMs: 1, turn: new Turn(clock, undefined), onDrained: () => {} }
  const route = {
    schema: parseFlowSchema(schema),
    level: new PriorityLevel(config, options),
    stats: new FlowStats('level', 'to-level'),
  }
  return new Classifier({ routes: [route], fallback: route, salt: '' })
}

test('the classifier remembers a bounded number of kinds of requests', () => {
  const classifier = classifierOfOneRoute()
  const seen: number[] = []
  for (let i = 0; i < 2 * maxKinds + 10; i++) {
    classifier.flowOf(requestOf(`user-${i % 3}`, { namespace: `n-${i}` }))
    seen.push(classifier.remembered)
  }
  expect(Math.max(...seen)).toBe(maxKinds)
  expect(seen.at(-1)).toBeLessThan(100)
  const before = classifier.remembered
  const long = 'x'.repeat(600)
  for (const info of [nonResource(`/${long}`), { ...nonResource('/'), verb: long }]) {
    classifier.flowOf({ ...requestOf('user'), info })
  }
  expect(classifier.remembered).toBe(before)
})

test('attack: identities with 64 KB of groups, which an impersonator makes up, take little memory', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const classifier = classifierOfOneRoute()
  const group = 'g'.repeat(64 * 1024)
  const flowOfTurn = (n: number): unknown =>
    classifier.flowOf({ ...requestOf('alice'), user: { username: 'alice', groups: [`${n}${group}`] } })
  const first = flowOfTurn(0)
  collect()
  const before = process.memoryUsage().heapUsed
  for (let i = 1; i < 1000; i++) flowOfTurn(i)
  collect()
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(8 * 1024 * 1024)
  expect(flowOfTurn(0)).toBe(first)
})

describe('configuration', () => {
  test('is upstream’s mandatory one where nothing is stored', () => {
    const { apf } = worldOf({ seats: 600 })
    const seat = seatOf(apf.admit(requestOf('alice'), patient))
    expect(seat.headers).toEqual({ 'x-kubernetes-pf-flowschema-uid': '', 'x-kubernetes-pf-prioritylevel-uid': '' })
    expect(apf.dumpPriorityLevels().map((row) => row['PriorityLevelName'])).toEqual(['catch-all', 'exempt'])
    expect(metricOf(apf, 'nominal_limit_seats', { priority_level: 'catch-all' })).toBe(600)
  })

  test('divides the seats by shares anew, without losing what waits or runs', async () => {
    const { apf, clock } = worldOf({ levels: [level], schemas: [schema] })
    const seats = Array.from({ length: 10 }, () => seatOf(apf.admit(requestOf('alice'), patient)))
    const waiting = [1, 2, 3].map(() => outcomeOf(apf.admit(requestOf('alice'), patient)))
    apf.configure(
      [schema],
      [
        queuedLevel('level', { ...oneQueue, queues: 4, handSize: 2 }, { shares: 100 }),
        queuedLevel('other', oneQueue, { shares: 95 }),
      ],
    )
    expect(metricOf(apf, 'nominal_limit_seats', { priority_level: 'level' })).toBe(5)
    expect(metricOf(apf, 'current_executing_seats', { priority_level: 'level' })).toBe(10)
    expect(metricOf(apf, 'current_inqueue_requests', { priority_level: 'level' })).toBe(3)
    for (const seat of seats.slice(0, 5)) seat.release()
    await clock.advance(0)
    expect(waiting.map(({ value }) => value)).toEqual([undefined, undefined, undefined])
    for (const seat of seats.slice(5)) seat.release()
    await clock.advance(0)
    expect(waiting.map(({ value }) => value?.granted)).toEqual([true, true, true])
  })

  test('grants waiting requests at once what a larger limit leaves free', async () => {
    const { apf, clock } = worldOf({
      levels: [queuedLevel('level', oneQueue, { shares: 5 }), queuedLevel('other', oneQueue, { shares: 0 })],
      schemas: [schema],
    })
    for (let i = 0; i < 5; i++) seatOf(apf.admit(requestOf('alice'), patient))
    const waiting = outcomeOf(apf.admit(requestOf('alice'), patient))
    apf.configure([schema], [level])
    await clock.advance(0)
    expect(waiting.value?.granted).toBe(true)
  })

  test('lets a deleted level empty before it goes', async () => {
    const { apf, clock } = worldOf({ seats: 2, levels: [level], schemas: [schema] })
    const seats = [1, 2].map(() => seatOf(apf.admit(requestOf('alice'), patient)))
    const waiting = outcomeOf(apf.admit(requestOf('alice'), patient))
    const updates = apf.configure([schema], [])
    expect(updates).toMatchObject([{ name: 'to-level', condition: { status: 'True', reason: 'NotFound' } }])
    expect(apf.dumpPriorityLevels()).toContainEqual(
      expect.objectContaining({ PriorityLevelName: 'level', IsQuiescing: 'true', WaitingRequests: '1' }),
    )
    // New requests don't go there any more.
    const other = seatOf(apf.admit(requestOf('bob'), patient))
    expect(other.headers['x-kubernetes-pf-prioritylevel-uid']).toBe('')
    for (const seat of seats) seat.release()
    await clock.advance(0)
    expect(waiting.value?.granted).toBe(true)
    seatIn(waiting).release()
    expect(apf.dumpPriorityLevels().map((row) => row['PriorityLevelName'])).toEqual(['catch-all', 'exempt'])
  })

  test('takes a level back that was deleted and comes again before it was empty', () => {
    const { apf } = worldOf({ seats: 2, levels: [level], schemas: [schema] })
    const seat = seatOf(apf.admit(requestOf('alice'), patient))
    apf.configure([schema], [])
    apf.configure([schema], [level])
    expect(metricOf(apf, 'current_executing_seats', { priority_level: 'level' })).toBe(1)
    seat.release()
    expect(apf.dumpPriorityLevels()).toContainEqual(
      expect.objectContaining({ PriorityLevelName: 'level', IsQuiescing: 'false', IsIdle: 'true' }),
    )
  })

  test('takes queues away once they are empty', async () => {
    const wide = queuedLevel('level', { queues: 64, handSize: 1, queueLengthLimit: 9 })
    const { apf, clock } = worldOf({ seats: 1, levels: [wide], schemas: [schema] })
    const seat = seatOf(apf.admit(requestOf('user-0'), patient))
    const waiting = Array.from({ length: 20 }, (_, i) => outcomeOf(apf.admit(requestOf(`user-${i}`), patient)))
    expect(apf.dumpQueues().length).toBeGreaterThan(5)
    apf.configure([schema], [level])
    seat.release()
    // In an order of their own: each user's queue takes its turn.
    for (let rounds = 0; rounds < waiting.length; rounds++) {
      await clock.advance(0)
      for (const { value } of waiting) if (value?.granted) value.release()
    }
    expect(waiting.every(({ value }) => value?.granted)).toBe(true)
    seatOf(apf.admit(requestOf('alice'), patient)).release()
    expect(apf.dumpQueues().map((row) => row['Index'])).toEqual(['0'])
  })

  test.each<{ readonly name: string; readonly object: PriorityLevelObject }>([
    { name: 'Limited without limits', object: { metadata: { name: 'level' }, spec: { type: 'Limited' } } },
    {
      name: 'Exempt under another name',
      object: { metadata: { name: 'level' }, spec: { type: 'Exempt', exempt: {} } },
    },
    {
      name: 'Queue without queues',
      object: { metadata: { name: 'level' }, spec: { type: 'Limited', limited: { limitResponse: { type: 'Queue' } } } },
    },
    {
      name: 'hands larger than the deck',
      object: queuedLevel('level', { queues: 1, handSize: 2, queueLengthLimit: 1 }),
    },
    { name: 'without a spec', object: { metadata: { name: 'level' } } },
  ])('a level that contradicts itself ($name) is as if it were not there', ({ object }) => {
    const { apf } = worldOf({ seats: 600 })
    expect(apf.configure([schema], [object])).toMatchObject([{ condition: { status: 'True', reason: 'NotFound' } }])
    expect(apf.dumpPriorityLevels().map((row) => row['PriorityLevelName'])).toEqual(['catch-all', 'exempt'])
  })

  test('says in the status of a schema whether its level is there, and only when it changes', () => {
    const { apf, clock } = worldOf({})
    const condition = {
      type: 'Dangling',
      status: 'True',
      reason: 'NotFound',
      message:
        'This FlowSchema references the PriorityLevelConfiguration object named "level" but there is no such object',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    }
    expect(apf.configure([schema], [])).toEqual([{ name: 'to-level', condition }])
    const told = { ...schema, status: { conditions: [condition] } }
    expect(apf.configure([told], [])).toEqual([])
    expect(clock.now()).toBe(Date.UTC(2026, 0, 1))
    expect(apf.configure([told], [level])).toEqual([
      {
        name: 'to-level',
        condition: {
          type: 'Dangling',
          status: 'False',
          reason: 'Found',
          message: 'This FlowSchema references the PriorityLevelConfiguration object named "level" and it exists',
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      },
    ])
  })
})

describe('borrowing', () => {
  const lender = queuedLevel('lender', { ...oneQueue, queueLengthLimit: 100 }, { shares: 50, lendable: 80 })
  const borrower = queuedLevel('level', { ...oneQueue, queueLengthLimit: 100 }, { shares: 45, borrowing: 60 })
  const toLender: FlowSchemaObject = {
    ...allUsersTo('lender', 'to-lender', 10),
    spec: {
      ...allUsersTo('lender', 'to-lender', 10).spec,
      rules: [
        {
          subjects: [{ kind: 'User', user: { name: 'bob' } }],
          resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'] }],
        },
      ],
    },
  }

  test('moves seats every ten seconds to where they are needed, and back', async () => {
    const { apf, clock } = worldOf({ seats: 100, levels: [lender, borrower], schemas: [schema] })
    const limits = (): (number | undefined)[] =>
      ['lender', 'level', 'catch-all'].map((name) => metricOf(apf, 'current_limit_seats', { priority_level: name }))
    const before = metricOf(apf, 'current_limit_seats', { priority_level: 'level' }) ?? 0
    apf.start()
    const outcomes = Array.from({ length: before + 50 }, () =>
      outcomeOf(apf.admit(requestOf('alice', {}, clock.now() + 1e9), patient)),
    )
    await clock.advance(10_000)
    // Nominal: 50, 45 and 5. The borrower may have 27 more than its own; the lender keeps at least 10 and catch-all 5,
    // and these two share the 13 that are left in the same proportion.
    expect(limits()).toEqual([19, 72, 9])
    expect(metricOf(apf, 'current_executing_seats', { priority_level: 'level' })).toBe(72)
    const granted = outcomes.filter(({ value }) => value?.granted)
    expect(granted.length).toBe(72)
    // Now the lender needs its seats itself; the borrower still does, too.
    apf.configure([schema, toLender], [lender, borrower])
    for (let i = 0; i < 53; i++) void apf.admit(requestOf('bob', {}, clock.now() + 1e9), patient)
    for (const { value } of granted) if (value?.granted) value.release()
    await clock.advance(10_000)
    expect(limits()).toEqual([50, 45, 5])
    apf.stop()
    apf.stop()
    await clock.advance(3_600_000)
    expect(limits()).toEqual([50, 45, 5])
  })
})

function seatIn(outcome: { readonly value: Admission | undefined }): Seat {
  if (outcome.value === undefined) throw new Error('the request waits')
  return seatOf(outcome.value)
}
