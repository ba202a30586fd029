/**
 * The condition `Dangling` of a FlowSchema: whether the priority level that it names is there. A schema whose level is
 * missing, or contradicts itself, matches no request.
 * @see k8s.io/apiserver/pkg/util/flowcontrol/apf_controller.go v0.36
 */
import { formatTime } from '../kube/time.ts'
import type { FlowSchemaStatusUpdate } from './flow-control.ts'
import type { FlowSchemaObject } from './types.ts'

const dangling = 'Dangling'

/** Undefined if the status says so already. `nowMs` by the wall clock. */
export function danglingUpdate(
  schema: FlowSchemaObject,
  found: boolean,
  nowMs: number,
): FlowSchemaStatusUpdate | undefined {
  const level = schema.spec?.priorityLevelConfiguration?.name ?? ''
  const reference = `This FlowSchema references the PriorityLevelConfiguration object named "${level}"`
  const wanted = found
    ? { status: 'False', reason: 'Found', message: `${reference} and it exists` }
    : { status: 'True', reason: 'NotFound', message: `${reference} but there is no such object` }
  const present = schema.status?.conditions?.find(({ type }) => type === dangling)
  if (present?.status === wanted.status && present.reason === wanted.reason && present.message === wanted.message) {
    return undefined
  }
  return {
    name: schema.metadata.name ?? '',
    condition: { type: dangling, ...wanted, lastTransitionTime: formatTime(nowMs) },
  }
}
