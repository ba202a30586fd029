/**
 * The requests that share a fate: one FlowSchema, and of it one user or one namespace where the schema distinguishes
 * them. Made when a request of it is first seen; forgotten when it has not been seen for long, or at a new configuration.
 */
import type { FlowSchema } from './flow-schema.ts'
import type { FlowStats } from './flow-stats.ts'
import type { FlowHeaders } from './flowcontrol.ts'
import type { PriorityLevel } from './level.ts'
import type { Queue } from './queue.ts'

export interface Flow {
  readonly schema: FlowSchema
  readonly level: PriorityLevel
  /** The user's or the namespace's name; '' where the schema does not distinguish. */
  readonly distinguisher: string
  /** The queues that were dealt to it; empty where the level has none. */
  readonly hand: readonly Queue[]
  readonly stats: FlowStats
  readonly headers: FlowHeaders
}
