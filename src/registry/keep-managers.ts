/** Field ownership after mutating admission. */
import { readGiven, readStored } from '../kube/apply/managed-fields.ts'
import type { Unvalidated } from '../kube/types.ts'
import type { WriteScope } from './registry.ts'

const invalidManagers =
  '.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated ' +
  'mutating admission controller; please fix your requests'

/**
 * What admission changed has no owner. If it left managedFields that make no sense, they are as they were before,
 * and the client is told.
 * @see k8s.io/apiserver/pkg/endpoints/handlers/fieldmanager/admission.go v0.36
 */
export function keepManagers(
  scope: WriteScope,
  admitted: Unvalidated,
  before: Pick<Unvalidated, 'metadata'>,
): Unvalidated {
  const { managedFields: given } = admitted.metadata
  const { managedFields: known } = before.metadata
  if (given === known || readGiven(given ?? [], readStored(known)) !== undefined) return admitted
  scope.warn(invalidManagers)
  const { managedFields: _, ...metadata } = admitted.metadata
  return { ...admitted, metadata: known === undefined ? metadata : { ...metadata, managedFields: known } }
}
