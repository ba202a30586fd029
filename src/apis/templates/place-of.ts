/** Where the objects of a pass go. */
import type { Client, ServedKind } from '../../client/client.ts'
import { findStatusError } from '../../kube/status-error.ts'
import { failureOf } from './object-failures.ts'
import type { ObjectResult } from './object-result.ts'
import type { Rendered } from './render.ts'
import { askKind } from './unanswered-kinds.ts'

/** An object and where the server keeps its kind. */
export interface Placed {
  readonly rendered: Rendered
  readonly kind: ServedKind
}

/** Where it goes, or why that is not known. One API that is down must not keep the objects of others waiting. */
export async function placeOf(
  { discovery }: Pick<Client, 'discovery'>,
  rendered: Rendered,
): Promise<Placed | ObjectResult> {
  const { apiVersion, kind } = rendered.object
  const nowhere = (message: string): ObjectResult => failureOf(rendered, 'UnknownKind', message, true)
  try {
    const { served, unanswered } = await askKind(discovery, apiVersion, kind)
    if (served?.namespaced) return { rendered, kind: served }
    if (served !== undefined) return nowhere(`${kind} does not live in namespaces`)
    return nowhere(unanswered ?? `no kind ${kind} in ${apiVersion} is served`)
  } catch (error) {
    const status = findStatusError(error)
    if (status === undefined) throw error
    return nowhere(status.message)
  }
}
