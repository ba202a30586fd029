import { describe, expect, test } from 'vitest'
import {
  allUsersTo,
  infoOf,
  patient,
  queuedLevel,
  requestOf,
  seatOf,
  userNamed,
  worldOf,
} from '../../test/support/flow-control.ts'
import { Histogram, TimingRatioHistogram } from './histogram.ts'

const level = queuedLevel('level', { queues: 2, handSize: 1, queueLengthLimit: 3 })
const schema = allUsersTo('level')

async function busyWorld() {
  const world = worldOf({ seats: 2, levels: [level], schemas: [schema] })
  const { apf, clock } = world
  const watch = seatOf(apf.admit(requestOf('alice', { verb: 'watch' }), patient))
  seatOf(apf.admit(requestOf('alice'), patient))
  const client = new AbortController()
  const waiting = [apf.admit(requestOf('alice'), client), apf.admit(requestOf('alice', { name: 'x' }), patient)]
  await clock.advance(1500)
  client.abort()
  watch.release(20)
  await clock.advance(500)
  for (const answer of waiting) await answer
  return world
}

describe('the metrics', () => {
  test('say by upstream’s names what has happened', async () => {
    const { apf } = await busyWorld()
    const mine = (labels: Readonly<Record<string, string>>): boolean => labels['priority_level'] === 'level'
    const text = apf.metrics().flatMap((family) =>
      family.type === 'histogram'
        ? family.samples
            .filter(({ labels }) => mine(labels))
            .map(({ labels, value }) => {
              const { flow_schema, priority_level, ...own } = labels
              return `${family.name} ${JSON.stringify(own)} ${value.count} ${Number(value.sum.toPrecision(6))}`
            })
        : family.samples
            .filter(({ labels }) => mine(labels))
            .map(({ labels, value }) => {
              const { flow_schema, priority_level, ...own } = labels
              return `${family.name} ${JSON.stringify(own)} ${value}`
            }),
    )
    expect(text).toEqual([
      'apiserver_flowcontrol_rejected_requests_total {"reason":"cancelled"} 1',
      'apiserver_flowcontrol_dispatched_requests_total {} 3',
      'apiserver_flowcontrol_current_inqueue_requests {} 0',
      'apiserver_flowcontrol_current_inqueue_seats {} 0',
      'apiserver_flowcontrol_current_executing_requests {} 2',
      'apiserver_flowcontrol_current_executing_seats {} 2',
      'apiserver_flowcontrol_request_dispatch_no_accommodation_total {} 0',
      'borough_flowcontrol_charged_seconds_total {} 0.02',
      'apiserver_flowcontrol_request_queue_length_after_enqueue {} 4 5',
      'apiserver_flowcontrol_request_wait_duration_seconds {"execute":"true"} 3 1.5',
      'apiserver_flowcontrol_request_wait_duration_seconds {"execute":"false"} 1 1.5',
      'apiserver_flowcontrol_request_execution_seconds {"type":"regular"} 0 0',
      'apiserver_flowcontrol_request_execution_seconds {"type":"watch"} 1 1.5',
      'apiserver_flowcontrol_work_estimated_seats {} 4 4',
      'apiserver_flowcontrol_nominal_limit_seats {} 2',
      'apiserver_flowcontrol_lower_limit_seats {} 2',
      'apiserver_flowcontrol_upper_limit_seats {} 2',
      'apiserver_flowcontrol_current_limit_seats {} 2',
      'apiserver_flowcontrol_target_seats {} 2',
      'apiserver_flowcontrol_demand_seats_high_watermark {} 0',
      'apiserver_flowcontrol_demand_seats_average {} 0',
      'apiserver_flowcontrol_demand_seats_stdev {} 0',
      'apiserver_flowcontrol_demand_seats_smoothed {} 0',
      // Two seats for 1.5 s, and 20 ms of the thread, which is two seats wide; the second request is not accounted yet.
      'apiserver_flowcontrol_current_r {} 3.04',
      'apiserver_flowcontrol_dispatch_r {} 3.04',
      'apiserver_flowcontrol_latest_s {} 1.543',
      // In nanoseconds: for 1.5 s four seats were asked for, for half a second two, of two that there are.
      'apiserver_flowcontrol_demand_seats {} 2000000000 3500000000',
      'apiserver_flowcontrol_priority_level_seat_utilization {"phase":"executing"} 2000000000 2000000000',
      'apiserver_flowcontrol_priority_level_request_utilization {"phase":"waiting"} 2000000000 500000000',
      'apiserver_flowcontrol_priority_level_request_utilization {"phase":"executing"} 2000000000 2000000000',
    ])
  })

  test('keep what was counted when the configuration changes, and drop a schema that is gone', async () => {
    const { apf } = await busyWorld()
    const names = (): string[] =>
      apf
        .metrics()
        .filter(({ name }) => name === 'apiserver_flowcontrol_dispatched_requests_total')
        .flatMap(({ samples }) => samples.map(({ labels, value }) => `${labels['flow_schema']} ${String(value)}`))
    apf.configure([schema], [level])
    expect(names()).toContain('to-level 3')
    // Two of its requests are still under way.
    apf.configure([], [level])
    expect(names()).toContain('to-level 3')
  })
})

describe('the dumps', () => {
  test('show levels, queues and requests in upstream’s columns', async () => {
    const world = worldOf({ seats: 1, levels: [level], schemas: [schema] })
    const { apf, clock } = world
    seatOf(apf.admit(requestOf('alice'), patient))
    await clock.advance(2)
    void apf.admit(
      {
        ...requestOf(userNamed('bob')),
        info: infoOf({
          verb: 'patch',
          group: 'apps',
          version: 'v1',
          resource: 'deployments',
          subresource: 'scale',
          name: 'web',
          path: '/apis/apps/v1/x',
        }),
      },
      patient,
    )
    expect(apf.dumpPriorityLevels().find((row) => row['PriorityLevelName'] === 'level')).toEqual({
      PriorityLevelName: 'level',
      ActiveQueues: '1',
      IsIdle: 'false',
      IsQuiescing: 'false',
      WaitingRequests: '1',
      ExecutingRequests: '1',
      DispatchedRequests: '1',
      RejectedRequests: '0',
      TimedoutRequests: '0',
      CancelledRequests: '0',
    })
    const queues = apf.dumpQueues()
    expect(Object.keys(queues[0] ?? {})).toEqual([
      'PriorityLevelName',
      'Index',
      'PendingRequests',
      'ExecutingRequests',
      'SeatsInUse',
      'NextDispatchR',
      'InitialSeatsSum',
      'MaxSeatsSum',
      'TotalWorkSum',
    ])
    expect(queues.map((row) => row['PendingRequests'])).toContain('1')
    expect(queues.map((row) => row['TotalWorkSum'])).toContain('0.00300000ss')
    const [waiting, executing] = apf.dumpRequests(true)
    expect(waiting).toMatchObject({
      PriorityLevelName: 'level',
      FlowSchemaName: 'to-level',
      RequestIndexInQueue: '0',
      FlowDistingsher: 'bob',
      ArriveTime: '2026-01-01T00:00:00.002000Z',
      InitialSeats: '1',
      FinalSeats: '0',
      AdditionalLatency: '0ms',
      UserName: 'bob',
      Verb: 'patch',
      APIPath: '/apis/apps/v1/x',
      Namespace: 'team-a',
      Name: 'web',
      APIVersion: 'apps/v1',
      Resource: 'deployments',
      SubResource: 'scale',
    })
    expect(executing).toMatchObject({
      RequestIndexInQueue: '-1',
      FlowDistingsher: 'alice',
      StartTime: '2026-01-01T00:00:00.000000Z',
    })
    expect(Object.keys(apf.dumpRequests(false)[0] ?? {})).toEqual([
      'PriorityLevelName',
      'FlowSchemaName',
      'QueueIndex',
      'RequestIndexInQueue',
      'FlowDistingsher',
      'ArriveTime',
      'InitialSeats',
      'FinalSeats',
      'AdditionalLatency',
      'StartTime',
    ])
  })
})

describe('histograms', () => {
  test('count what is at most the bound of each bucket', () => {
    const histogram = new Histogram([0, 1, 5])
    for (const value of [0, 0.5, 1, 2, 9]) histogram.observe(value)
    expect(histogram.snapshot()).toEqual({
      buckets: [
        [0, 1],
        [1, 3],
        [5, 4],
      ],
      sum: 12.5,
      count: 5,
    })
  })

  test('of ratios weigh each value by the nanoseconds for which it stood', () => {
    const histogram = new TimingRatioHistogram([0, 0.5, 1], 0)
    histogram.setDenominator(4, 0)
    histogram.set(2, 1)
    histogram.set(4, 3)
    histogram.set(4, 4)
    histogram.setDenominator(8, 5)
    expect(histogram.snapshot(6)).toEqual({
      buckets: [
        [0, 1e6],
        [0.5, 4e6],
        [1, 6e6],
      ],
      sum: 3.5e6,
      count: 6e6,
    })
  })
})

test('seats that are taken and given back within a turn count for as long as the turn was', async () => {
  const ends: (() => void)[] = []
  const { apf, clock } = worldOf({ seats: 2, levels: [level], schemas: [schema], endOfTurn: (run) => ends.push(run) })
  const endTurn = (): void => {
    for (const end of ends.splice(0)) end()
  }
  endTurn()
  await clock.advance(10)
  const [first, second] = [requestOf('alice'), requestOf('bob')].map((r) => seatOf(apf.admit(r, patient)))
  first?.release()
  await clock.advance(5)
  second?.release()
  endTurn()
  await clock.advance(10)
  const family = apf.metrics().find(({ name }) => name.endsWith('_priority_level_seat_utilization'))
  const sample =
    family?.type === 'histogram' && family.samples.find(({ labels }) => labels['priority_level'] === 'level')
  // In nanoseconds: of 25 ms all seats were taken for 5.
  expect(sample && [sample.value.count, sample.value.sum]).toEqual([25e6, 5e6])
})
