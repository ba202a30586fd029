/**
 * What went wrong with one object of a template, and whether it is the template's doing: what only says that something
 * of the namespace's own is in the way is no reason to keep a change from other namespaces.
 */
import { nameOf } from '../../kube/metadata.ts'
import type { StatusError } from '../../kube/status-error.ts'
import type { ObjectResult } from './object-result.ts'
import { reasonOf } from './refusal-reason.ts'
import { type Rendered, titleOf } from './render.ts'

export const failureOf = (
  { template, object }: Rendered,
  reason: string,
  message: string,
  retriable: boolean,
): ObjectResult => ({
  template: nameOf(template.metadata),
  object: titleOf(object),
  failure: { reason, message, retriable },
})

export const refusedFor = (rendered: Rendered, status: StatusError): ObjectResult =>
  failureOf(rendered, reasonOf(status), status.message, true)

export const obstructed = ({ failure, ...result }: ObjectResult): ObjectResult =>
  failure === undefined ? result : { ...result, failure: { ...failure, isObstructed: true } }
