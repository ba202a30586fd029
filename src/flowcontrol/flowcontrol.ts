/**
 * What other folders see of priority and fairness: the contract, what makes one that works, and what the two kinds of
 * objects need elsewhere (their bootstrap and their validation).
 */
import type { KubeObject } from '../kube/types.ts'
import { type BootstrapWrite, planBootstrap } from './bootstrap.ts'
import {
  mandatoryFlowSchemas,
  mandatoryPriorityLevels,
  suggestedFlowSchemas,
  suggestedPriorityLevels,
} from './bootstrap-objects.ts'
import type { FlowControl } from './flow-control.ts'
import { PriorityAndFairness, type PriorityAndFairnessOptions } from './priority-and-fairness.ts'

export type { BootstrapWrite } from './bootstrap.ts'
export type {
  Admission,
  DumpRow,
  FlowControl,
  FlowHeaders,
  FlowRequest,
  FlowSchemaStatusUpdate,
  MetricFamily,
  RefusalReason,
  Refused,
  RequestAttributes,
  Seat,
  SeatLevel,
} from './flow-control.ts'
export { defaultServerSeats, waitLimitMsOf } from './priority-and-fairness.ts'
export {
  type FlowSchemaObject,
  flowSchemasResource,
  type PriorityLevelObject,
  priorityLevelConfigurationsResource,
} from './types.ts'
export { validateConditions, validateFlowSchema, validatePriorityLevel } from './validation.ts'
export { type CollectionStats, type WorkEstimatorOptions, workEstimator } from './work-estimate.ts'

/** With the mandatory objects in force, until it is told of others. */
export function createFlowControl(options: PriorityAndFairnessOptions): FlowControl {
  return new PriorityAndFairness(options)
}

/** What to write so that the bootstrap FlowSchemas are as they should be; `current`: all that are stored. */
export function planFlowSchemas(current: readonly KubeObject[]): BootstrapWrite[] {
  return planBootstrap(current, { mandatory: mandatoryFlowSchemas, suggested: suggestedFlowSchemas })
}

/** As `planFlowSchemas`, of PriorityLevelConfigurations. */
export function planPriorityLevels(current: readonly KubeObject[]): BootstrapWrite[] {
  return planBootstrap(current, { mandatory: mandatoryPriorityLevels, suggested: suggestedPriorityLevels })
}
