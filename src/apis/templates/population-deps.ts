/** What the population controller is given. */
import type { Clock } from '../../base/clock.ts'
import type { Turns } from '../../base/turns.ts'
import type { Client } from '../../client/client.ts'
import type { EventRecorder } from '../events/recorder.ts'
import type { AppliedRecords } from './applied-records.ts'
import type { PopulatedIndexDeps } from './populated-index.ts'
import type { PopulatedObjects } from './populated-objects.ts'
import type { ShownTemplates } from './template-metrics.ts'

export interface PopulationDeps {
  readonly client: Client
  readonly clock: Clock
  readonly events: EventRecorder
  readonly onError: (error: unknown) => void
  /** Of the process: what looks at all namespaces, or judges costly conditions, takes turns. Default: its own. */
  readonly turns?: Turns
  /** What templates made where. */
  readonly records: AppliedRecords
  /** For who tells figures of templates where no feature does: what is known of them, while these controllers run. */
  showTemplates?(templates: ShownTemplates): void
  /** What tells of the objects, where that is not watches. `watched`: those, for kinds of which it knows nothing. */
  readonly openIndex?: (told: PopulatedIndexDeps, watched: PopulatedObjects) => PopulatedObjects
}
