/** Classes of one kind, as admission sees them. */
import type { KubeObject } from '../../kube/types.ts'

export interface ClassLookup {
  /** Shared: never change it. */
  find(name: string): KubeObject | undefined
  /** By name. */
  all(): readonly KubeObject[]
  /** Sees everything acknowledged anywhere before the call. */
  refresh(): Promise<void>
}

/** That there is none is believed only from a cache that has caught up with the request. */
export async function findCaughtUp(classes: ClassLookup, name: string): Promise<KubeObject | undefined> {
  await classes.refresh()
  return classes.find(name)
}
