/** What `borough populate` is told, and what it says of itself. */
import type { Clock } from '../base/clock.ts'
import type { Ids } from '../base/ids.ts'
import type { Log } from '../base/log.ts'
import type { Client } from '../client/client.ts'
import type { AdmissionBy } from './admission.ts'
import type { PopulateMetrics } from './metrics.ts'
import type { PolicyShare } from './webhook-configurations.ts'

export interface PopulateOptions {
  readonly client: Client
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly listen: { readonly host: string; readonly port: number }
  /** Which its client tells too; absent = its own, which know nothing of requests. */
  readonly metrics?: PopulateMetrics
  /** Where its Secret and its Lease are. */
  readonly namespace: string
  /** How API servers reach the webhooks. `listen`: at the address it listens on. */
  readonly reachedAt: 'listen' | 'service' | { readonly url: string }
  /** `auto` unless said */
  readonly admission?: AdmissionBy
  /** While no replica answers, namespaces are created without being asked about instead of not at all. */
  readonly failOpen?: boolean
  /** Ends a start that has not come to its end. */
  readonly signal?: AbortSignal
}

export interface Populate extends AsyncDisposable {
  /** `https://127.0.0.1:9443` */
  readonly url: string
  /** What the API server decides by itself. */
  readonly policies: PolicyShare
  /** What it was told: `ValidatingWebhookConfiguration/borough-population`. */
  readonly registered: readonly string[]
  /** True while this process runs the controllers. */
  readonly leading: boolean
}
