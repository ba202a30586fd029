/**
 * `apiserver_flowcontrol_*`, by upstream's names, help texts and labels, as plain data: the room that serves metrics
 * registers them. One metric is ours: the charged time.
 * @see k8s.io/apiserver/pkg/util/flowcontrol/metrics/metrics.go v0.36
 */

import type { HistogramFamily, MetricFamily, MetricLabels, NumberFamily } from './flow-control.ts'
import type { FlowStats } from './flow-stats.ts'
import type { HistogramSnapshot } from './histogram.ts'
import type { PriorityLevel } from './level.ts'

export interface MetricSources {
  readonly levels: readonly PriorityLevel[]
  readonly stats: readonly FlowStats[]
  readonly fairFraction: number
  readonly nowMs: number
}

const prefix = 'apiserver_flowcontrol_'

export function metricFamilies({ levels, stats, fairFraction, nowMs }: MetricSources): MetricFamily[] {
  return [
    ...flowFamilies(stats),
    ...levelFamilies(levels),
    ...utilizationFamilies(levels, nowMs),
    {
      type: 'gauge',
      name: `${prefix}seat_fair_frac`,
      help: "Fair fraction of server's concurrency to allocate to each priority level that can use it",
      samples: [{ labels: {}, value: fairFraction }],
    },
  ]
}

const flowLabels = ({ priorityLevel, flowSchema }: FlowStats): MetricLabels => ({
  priority_level: priorityLevel,
  flow_schema: flowSchema,
})

function flowFamilies(stats: readonly FlowStats[]): MetricFamily[] {
  const numbers = (
    type: 'counter' | 'gauge',
    name: string,
    help: string,
    value: (of: FlowStats) => number,
  ): NumberFamily => ({
    type,
    name: `${prefix}${name}`,
    help,
    samples: stats.map((of) => ({ labels: flowLabels(of), value: value(of) })),
  })
  return [
    {
      type: 'counter',
      name: `${prefix}rejected_requests_total`,
      help: 'Number of requests rejected by API Priority and Fairness subsystem',
      samples: stats.flatMap((of) =>
        Object.entries(of.refused)
          .filter(([, value]) => value > 0)
          .map(([reason, value]) => ({ labels: { ...flowLabels(of), reason }, value })),
      ),
    },
    numbers(
      'counter',
      'dispatched_requests_total',
      'Number of requests executed by API Priority and Fairness subsystem',
      (of) => of.dispatched,
    ),
    numbers(
      'gauge',
      'current_inqueue_requests',
      'Number of requests currently pending in queues of the API Priority and Fairness subsystem',
      (of) => of.waiting,
    ),
    numbers(
      'gauge',
      'current_inqueue_seats',
      'Number of seats currently pending in queues of the API Priority and Fairness subsystem',
      (of) => of.seatsWaiting,
    ),
    numbers(
      'gauge',
      'current_executing_requests',
      'Number of requests in initial (for a WATCH) or any (for a non-WATCH) execution stage in the API ' +
        'Priority and Fairness subsystem',
      (of) => of.executing,
    ),
    numbers(
      'gauge',
      'current_executing_seats',
      'Concurrency (number of seats) occupied by the currently executing (initial stage for a WATCH, any ' +
        'stage otherwise) requests in the API Priority and Fairness subsystem',
      (of) => of.seatsExecuting,
    ),
    numbers(
      'counter',
      'request_dispatch_no_accommodation_total',
      'Number of times a dispatch attempt resulted in a non accommodation due to lack of available seats',
      (of) => of.notAccommodated,
    ),
    {
      ...numbers('counter', '', 'Time of the main thread that requests were charged with', (of) => of.chargedMs / 1000),
      name: 'borough_flowcontrol_charged_seconds_total',
    },
    ...flowHistograms(stats),
  ]
}

function flowHistograms(stats: readonly FlowStats[]): HistogramFamily[] {
  const family = (
    name: string,
    help: string,
    of: (stats: FlowStats) => readonly (readonly [MetricLabels, HistogramSnapshot])[],
  ): HistogramFamily => ({
    type: 'histogram',
    name: `${prefix}${name}`,
    help,
    samples: stats.flatMap((s) => of(s).map(([labels, value]) => ({ labels: { ...flowLabels(s), ...labels }, value }))),
  })
  return [
    family(
      'request_queue_length_after_enqueue',
      'Length of queue in the API Priority and Fairness subsystem, as seen by each request after it is enqueued',
      ({ queueLength }) => [[{}, queueLength.snapshot()]],
    ),
    family(
      'request_wait_duration_seconds',
      'Length of time a request spent waiting in its queue',
      ({ waitSeconds }) => [
        [{ execute: 'true' }, waitSeconds.executed.snapshot()],
        [{ execute: 'false' }, waitSeconds.refused.snapshot()],
      ],
    ),
    family(
      'request_execution_seconds',
      'Duration of initial stage (for a WATCH) or any (for a non-WATCH) stage of request execution in the ' +
        'API Priority and Fairness subsystem',
      ({ executionSeconds }) => [
        [{ type: 'regular' }, executionSeconds.regular.snapshot()],
        [{ type: 'watch' }, executionSeconds.watch.snapshot()],
      ],
    ),
    family(
      'work_estimated_seats',
      'Number of estimated seats (maximum of initial and final seats) associated with requests in API ' +
        'Priority and Fairness',
      ({ estimatedSeats }) => [[{}, estimatedSeats.snapshot()]],
    ),
  ]
}

function levelFamilies(levels: readonly PriorityLevel[]): NumberFamily[] {
  const gauge = (name: string, help: string, value: (level: PriorityLevel) => number): NumberFamily => ({
    type: 'gauge',
    name: `${prefix}${name}`,
    help,
    samples: levels.map((level) => ({ labels: { priority_level: level.name }, value: value(level) })),
  })
  const seconds = (seatMs: number): number => seatMs / 1000
  return [
    gauge(
      'nominal_limit_seats',
      'Nominal number of execution seats configured for each priority level',
      ({ limits }) => limits.nominal,
    ),
    gauge(
      'lower_limit_seats',
      'Configured lower bound on number of execution seats available to each priority level',
      ({ limits }) => limits.min,
    ),
    gauge(
      'upper_limit_seats',
      'Configured upper bound on number of execution seats available to each priority level',
      ({ limits }) => limits.max,
    ),
    gauge(
      'current_limit_seats',
      'current derived number of execution seats available to each priority level',
      ({ currentLimit }) => currentLimit,
    ),
    gauge('target_seats', 'Seat allocation targets', ({ target }) => target),
    gauge(
      'demand_seats_high_watermark',
      'High watermark, over last adjustment period, of demand_seats',
      ({ demand }) => demand.stats.highWatermark,
    ),
    gauge(
      'demand_seats_average',
      'Time-weighted average, over last adjustment period, of demand_seats',
      ({ demand }) => demand.stats.average,
    ),
    gauge(
      'demand_seats_stdev',
      'Time-weighted standard deviation, over last adjustment period, of demand_seats',
      ({ demand }) => demand.stats.deviation,
    ),
    gauge('demand_seats_smoothed', 'Smoothed seat demands', ({ demand }) => demand.stats.smoothed),
    gauge('current_r', 'R(time of last change)', ({ queues }) => seconds(queues.virtualTime)),
    gauge('dispatch_r', 'R(time of last dispatch)', ({ queues }) => seconds(queues.lastDispatch.at)),
    gauge('latest_s', 'S(most recently dispatched request)', ({ queues }) => seconds(queues.lastDispatch.start)),
  ]
}

function utilizationFamilies(levels: readonly PriorityLevel[], nowMs: number): HistogramFamily[] {
  const family = (
    name: string,
    help: string,
    of: (level: PriorityLevel) => readonly (readonly [MetricLabels, HistogramSnapshot])[],
  ): HistogramFamily => ({
    type: 'histogram',
    name: `${prefix}${name}`,
    help,
    samples: levels.flatMap((level) =>
      of(level).map(([labels, value]) => ({ labels: { ...labels, priority_level: level.name }, value })),
    ),
  })
  return [
    family(
      'demand_seats',
      'Observations, at the end of every nanosecond, of (the number of seats each priority level could use) ' +
        '/ (nominal number of seats for that level)',
      ({ utilization }) => [[{}, utilization.demand.snapshot(nowMs)]],
    ),
    family(
      'priority_level_seat_utilization',
      'Observations, at the end of every nanosecond, of utilization of seats for any stage of execution (but ' +
        'only initial stage for WATCHes)',
      ({ utilization }) => [[{ phase: 'executing' }, utilization.seats.snapshot(nowMs)]],
    ),
    family(
      'priority_level_request_utilization',
      'Observations, at the end of every nanosecond, of number of requests (as a fraction of the relevant ' +
        'limit) waiting or in any stage of execution (but only initial stage for WATCHes)',
      ({ utilization }) => [
        [{ phase: 'waiting' }, utilization.waiting.snapshot(nowMs)],
        [{ phase: 'executing' }, utilization.executing.snapshot(nowMs)],
      ],
    ),
  ]
}
