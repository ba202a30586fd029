/** The controllers of population, run against a cluster for as long as this process leads. */

import { EventRecorder } from '../apis/events/recorder.ts'
import { expiryOfCluster } from '../apis/expiry/cluster.ts'
import { ConfigMapRecords } from '../apis/templates/config-map-records.ts'
import { populationControllers } from '../apis/templates/reconcile.ts'
import { templateControllerName } from '../apis/templates/types.ts'
import type { Clock } from '../base/clock.ts'
import type { Ids } from '../base/ids.ts'
import type { Log } from '../base/log.ts'
import type { Client } from '../client/client.ts'
import { type ControllerRuntime, runController } from '../controller/run-controller.ts'
import type { PopulateMetrics } from './metrics.ts'

export interface PopulationOptions {
  readonly client: Client
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  /** Where its records are. */
  readonly namespace: string
}

export async function runPopulation(
  { client, clock, ids, log, namespace }: PopulationOptions,
  metrics: PopulateMetrics,
  signal: AbortSignal,
): Promise<void> {
  const onError = (error: unknown): void =>
    log.warn({ controller: templateControllerName, error }, 'could not follow the cluster, will try again')
  const events = new EventRecorder({ client, clock, ids, log, component: templateControllerName })
  const runtime: ControllerRuntime = {
    clock,
    log,
    observe: (controller, result, durationMs) => metrics.reconciled(controller, result, durationMs),
  }
  const records = new ConfigMapRecords({ client, clock, namespace, onError })
  const specs = [
    ...populationControllers({
      ...{ client, clock, events, onError, records },
      showTemplates: (matchers) => metrics.showTemplates(matchers),
    }),
    expiryOfCluster({ client, clock, events, onError }),
  ]
  try {
    await Promise.all(specs.map((spec) => runController(spec, runtime, signal)))
  } finally {
    // Another replica leads, and knows more.
    metrics.showTemplates(() => [])
  }
}
