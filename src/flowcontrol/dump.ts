/**
 * What `/debug/api_priority_and_fairness/dump_…` shows, as rows of columns in upstream's order. Columns of a line are
 * separated by `,` and a tab there.
 * @see k8s.io/apiserver/pkg/util/flowcontrol/apf_controller_debug.go v0.36
 */
import type { Clock } from '../base/clock.ts'
import { formatMicroTime } from '../kube/time.ts'
import type { DumpRow } from './flow-control.ts'
import type { PriorityLevel } from './level.ts'
import type { Queue, RequestSeat } from './queue.ts'

const row = (values: Record<string, string | number | boolean>): DumpRow =>
  Object.freeze(Object.fromEntries(Object.entries(values).map(([column, value]) => [column, String(value)])))

export function priorityLevelRows(levels: readonly PriorityLevel[]): DumpRow[] {
  return levels.map((level) => {
    const { queues, totals } = level
    return row({
      PriorityLevelName: level.name,
      ActiveQueues: queues.queues.filter(({ waiting }) => waiting.length > 0).length,
      IsIdle: queues.idle,
      IsQuiescing: level.undesired,
      WaitingRequests: queues.waiting,
      ExecutingRequests: queues.executing.length,
      DispatchedRequests: totals.dispatched,
      RejectedRequests: totals.rejected,
      TimedoutRequests: totals.timedOut,
      CancelledRequests: totals.cancelled,
    })
  })
}

/** Only the queues that have been dealt to a flow: the others have never held anything. */
export function queueRows(levels: readonly PriorityLevel[]): DumpRow[] {
  return levels.flatMap((level) =>
    level.queues.queues.map((queue) => {
      let initialSeats = 0
      let maxSeats = 0
      for (const { work, seats } of queue.waiting) {
        initialSeats += work.initialSeats
        maxSeats += seats
      }
      return row({
        PriorityLevelName: level.name,
        Index: queue.index,
        PendingRequests: queue.waiting.length,
        ExecutingRequests: queue.executing,
        SeatsInUse: queue.seatsInUse,
        NextDispatchR: seatSeconds(queue.nextStart),
        InitialSeatsSum: initialSeats,
        MaxSeatsSum: maxSeats,
        TotalWorkSum: seatSeconds(queue.workWaiting),
      })
    }),
  )
}

export function requestRows(levels: readonly PriorityLevel[], includeDetails: boolean, clock: Clock): DumpRow[] {
  const rows: DumpRow[] = []
  // Requests remember the monotonic clock.
  const offsetMs = clock.now() - clock.monotonic()
  for (const level of levels) {
    const add = (seat: RequestSeat, queue: Queue | undefined, place: number): void => {
      const { flow, work } = seat
      rows.push(
        row({
          PriorityLevelName: level.name,
          FlowSchemaName: flow.schemaName,
          QueueIndex: queue?.index ?? -1,
          RequestIndexInQueue: place,
          // Upstream's spelling.
          FlowDistingsher: flow.distinguisher,
          ArriveTime: formatMicroTime(seat.arrivedAtMs + offsetMs),
          InitialSeats: work.initialSeats,
          FinalSeats: work.finalSeats,
          AdditionalLatency: `${work.additionalLatencyMs}ms`,
          StartTime: seat.state === 'waiting' ? '0001-01-01T00:00:00Z' : formatMicroTime(seat.startedAtMs + offsetMs),
          ...(includeDetails ? detailsOf(seat) : {}),
        }),
      )
    }
    for (const queue of level.queues.queues) {
      let place = 0
      for (const seat of queue.waiting) add(seat, queue, place++)
    }
    for (const seat of level.queues.executing) add(seat, seat.queue, -1)
  }
  return rows
}

function detailsOf({ request: { user, info } }: RequestSeat): Record<string, string> {
  return {
    UserName: user.username,
    Verb: info.verb,
    APIPath: info.path,
    Namespace: info.namespace,
    Name: info.name,
    APIVersion: info.group === '' ? info.version : `${info.group}/${info.version}`,
    Resource: info.resource,
    SubResource: info.subresource,
  }
}

const seatSeconds = (seatMs: number): string => `${(seatMs / 1000).toFixed(8)}ss`
