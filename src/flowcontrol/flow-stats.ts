/** The counts of one FlowSchema at one priority level. They change with every request, so they are plain numbers. */
import type { RefusalReason } from './flow-control.ts'
import { Histogram } from './histogram.ts'

const secondsBuckets = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30]

export class FlowStats {
  readonly priorityLevel: string
  readonly flowSchema: string
  dispatched = 0
  readonly refused: Record<RefusalReason, number> = {
    'queue-full': 0,
    'concurrency-limit': 0,
    'time-out': 0,
    cancelled: 0,
  }
  waiting = 0
  seatsWaiting = 0
  executing = 0
  seatsExecuting = 0
  notAccommodated = 0
  /** Of the main thread. */
  chargedMs = 0
  readonly queueLength: Histogram = new Histogram([0, 10, 25, 50, 100, 250, 500, 1000])
  readonly waitSeconds: { readonly executed: Histogram; readonly refused: Histogram } = {
    executed: new Histogram(secondsBuckets),
    refused: new Histogram(secondsBuckets),
  }
  readonly executionSeconds: { readonly regular: Histogram; readonly watch: Histogram } = {
    regular: new Histogram(secondsBuckets),
    watch: new Histogram(secondsBuckets),
  }
  readonly estimatedSeats: Histogram = new Histogram([1, 2, 4, 8, 16, 32, 64, 100])

  constructor(priorityLevel: string, flowSchema: string) {
    this.priorityLevel = priorityLevel
    this.flowSchema = flowSchema
  }

  /** Nothing of it is under way. */
  get idle(): boolean {
    return this.waiting === 0 && this.executing === 0 && this.seatsExecuting === 0
  }
}
