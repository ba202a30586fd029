/**
 * Creates that are under way. A server holds them until the namespace is ready, longer than the form is shown that sent
 * them: what becomes of one is known to the page of the birth, and what was refused to the form that comes back.
 */
import { type Namespace, namespaceResource } from '../../../apis/namespaces/types.ts'
import type { Cluster } from '../cluster.ts'
import { type Draft, namespaceOf } from './draft.ts'
import { keepName } from './known-names.ts'

export interface RefusedDraft {
  readonly draft: Draft
  readonly error: unknown
}

interface Creations {
  readonly underWay: Map<string, Promise<Namespace>>
  refused?: RefusedDraft
}

const creations = new WeakMap<Cluster, Creations>()

function creationsOf(cluster: Cluster): Creations {
  const known = creations.get(cluster) ?? { underWay: new Map() }
  creations.set(cluster, known)
  return known
}

/** The draft of one that is refused is had from `takeRefused`. */
export function beginCreation(cluster: Cluster, draft: Draft): Promise<Namespace> {
  const ours = creationsOf(cluster)
  const created = cluster.client.create(namespaceResource, namespaceOf(draft)) as Promise<Namespace>
  ours.underWay.set(draft.name, created)
  const end = (): void => {
    if (ours.underWay.get(draft.name) === created) ours.underWay.delete(draft.name)
  }
  created.then(
    () => {
      end()
      keepName(cluster, draft.name)
    },
    (error: unknown) => {
      end()
      ours.refused = { draft, error }
    },
  )
  return created
}

/** Undefined where this tab does not wait for one: it was answered, or another tab or client sent it. */
export const creationOf = (cluster: Cluster, name: string): Promise<Namespace> | undefined =>
  creationsOf(cluster).underWay.get(name)

/** What was refused last, once. */
export function takeRefused(cluster: Cluster): RefusedDraft | undefined {
  const ours = creationsOf(cluster)
  const { refused } = ours
  delete ours.refused
  return refused
}
